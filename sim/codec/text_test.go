package codec

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"
)

func TestText(t *testing.T) {
	is := is.New(t)
	text, whole := Text{[]byte("ab"), nil, []byte("cde"), []byte("f")}, []byte("abcdef")
	is.Equal(text.Len(), len(whole))
	is.Equal(text.Bytes(), whole)
	is.NoErr(iotest.TestReader(text.Reader(), whole)) // however much is read at once
	for n := range len(whole) + 1 {
		is.Equal(string(text.First(n).Bytes()), string(whole[:n]))
	}
	is.Equal(text.Bytes(), whole) // which stays as it is
	var out bytes.Buffer
	n, err := text.WriteTo(&out)
	is.NoErr(err)
	is.Equal(n, int64(len(whole)))
	is.Equal(out.Bytes(), whole)
	p := make([]byte, len(whole)+1)
	n1, err := text.Reader().Read(p)
	is.NoErr(err)
	is.Equal(n1, len(whole)) // one reading is enough for all pieces
	_, err = Text(nil).Reader().Read(p)
	is.Equal(err, io.EOF)
}
