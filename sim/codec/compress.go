package codec

import (
	"bytes"
	"compress/gzip"
	"strings"
)

// compressMin is the largest answer that is never compressed (API concepts, "Response compression").
const compressMin = 128 * 1024

// Compress returns t compressed, and true, if the client takes gzip and t is large enough to be worth it. Weights are
// not understood: "gzip;q=1" is not gzip. The caller adds Content-Encoding: gzip and Vary: Accept-Encoding.
func Compress(t Text, acceptEncoding string) (Text, bool) {
	if t.Len() <= compressMin || !takesGzip(acceptEncoding) {
		return t, false
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestSpeed)
	if err != nil {
		panic("codec: " + err.Error()) // only for levels that do not exist
	}
	_, _ = t.WriteTo(z) // a bytes.Buffer takes everything
	_ = z.Close()
	return Text{out.Bytes()}, true
}

func takesGzip(acceptEncoding string) bool {
	for token := range strings.SplitSeq(acceptEncoding, ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
