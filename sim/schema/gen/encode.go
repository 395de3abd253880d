package main

import (
	"bytes"
	"compress/gzip"
	"os"
)

// writePacked compresses raw and writes it. The gzip header holds no name and no time.
func writePacked(path string, raw []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}
