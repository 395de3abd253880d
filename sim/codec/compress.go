package codec

import (
	"bytes"
	"compress/gzip"
	"strings"
	"sync"
)

// compressMin is the largest answer that is never compressed (API concepts, "Response compression").
const compressMin = 128 * 1024

// Compress returns t compressed, and true, if the client takes gzip and t is large enough to be worth it.
// The caller adds Content-Encoding: gzip and Vary: Accept-Encoding.
func Compress(t Text, acceptEncoding string) (Text, bool) {
	if t.Len() <= compressMin || !TakesGzip(acceptEncoding) {
		return t, false
	}
	return Text{Member(t)}, true
}

// packers holds gzip.Writers: one takes a megabyte, and discovery packs dozens of documents.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails for a bad level only
	return z
}}

// Member returns t as a member of a gzip file (RFC 1952), which is a sequence of members: each can be decompressed before the next
// one arrives.
func Member(t Text) []byte {
	var out bytes.Buffer
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	z.Reset(&out)
	_, _ = t.WriteTo(z) // a bytes.Buffer takes everything
	_ = z.Close()
	return out.Bytes()
}

// TakesGzip reports whether an Accept-Encoding header names gzip. Weights are not understood: "gzip;q=1" is not gzip.
func TakesGzip(acceptEncoding string) bool {
	for token := range strings.SplitSeq(acceptEncoding, ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
