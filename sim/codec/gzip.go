//go:build !page

package codec

import (
	"bytes"
	"compress/gzip"
	"sync"
)

// packers pools gzip.Writers, because each takes a megabyte and discovery compresses dozens of documents.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails only for an invalid level
	return z
}}

// Member returns t as a member of a gzip file (RFC 1952). A gzip file is a sequence of members: each can be decompressed before the
// next one arrives.
func Member(t Text) []byte {
	var out bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&out)
	_, _ = t.WriteTo(z) // writing to a bytes.Buffer never fails
	_ = z.Close()
	return out.Bytes()
}
