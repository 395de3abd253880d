package codec

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestMember decompresses what Member returns. With -tags page it tests the blocks that are not compressed.
func TestMember(t *testing.T) {
	is := is.New(t)
	for _, length := range []int{0, 1, 65_535, 65_536, 200_000} {
		text := strings.Repeat("kubesim", length/7+1)[:length]
		z, err := gzip.NewReader(bytes.NewReader(Member(TextOf([]byte(text)))))
		is.NoErr(err)
		got, err := io.ReadAll(z) // checks the length and the checksum
		is.NoErr(err)
		is.Equal(string(got), text)
	}
}
