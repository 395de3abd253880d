package discovery

import (
	"bytes"
	"compress/gzip"
	"io"
	"sync"
)

// packers holds gzip.Writers: one takes a megabyte, and the index packs dozens of documents.
var packers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // fails for a bad level only
	return z
}}

func pack(b []byte) []byte {
	z := packers.Get().(*gzip.Writer)
	defer packers.Put(z)
	var out bytes.Buffer
	z.Reset(&out)
	z.Write(b) // a Buffer takes everything
	z.Close()
	return out.Bytes()
}

func unpack(b []byte) []byte {
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		panic("discovery: " + err.Error()) // what pack wrote can be read
	}
	out, err := io.ReadAll(z)
	if err != nil {
		panic("discovery: " + err.Error())
	}
	return out
}
