package codec

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/pack"
)

func TestText(t *testing.T) {
	checkText(t, TextOf([]byte("ab"), nil, []byte("cde"), []byte("f")), []byte("abcdef"))
}

// TestStoredPieces checks texts with pieces of stored objects, some of which the store has packed.
func TestStoredPieces(t *testing.T) {
	var packer pack.Packer
	var list Text
	var whole []byte
	for n := range 6 {
		object := fmt.Appendf(nil, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-%d"},"spec":{%s}}`, n, strings.Repeat(`"image":"nginx",`, 20))
		stored := pack.New(object)
		if n != 3 { // one object is not packed yet
			packer.Pack(stored)
		}
		list = append(list, Stored(stored).withoutTypeMeta(), PieceOf([]byte(",")))
		whole = append(append(whole, StripTypeMeta(object)...), ',')
	}
	checkText(t, list, whole)
}

func checkText(t *testing.T, text Text, whole []byte) {
	t.Helper()
	is := is.New(t)
	is.Equal(text.Len(), len(whole))
	is.Equal(text.Bytes(), whole)
	is.NoErr(iotest.TestReader(text.Reader(), whole)) // for any read size
	for n := range len(whole) + 1 {
		is.Equal(string(text.First(n).Bytes()), string(whole[:n]))
	}
	is.Equal(text.Bytes(), whole) // the text does not change
	var out bytes.Buffer
	n, err := text.WriteTo(&out)
	is.NoErr(err)
	is.Equal(n, int64(len(whole)))
	is.Equal(out.Bytes(), whole)
	p := make([]byte, len(whole)+1)
	n1, err := text.Reader().Read(p)
	is.NoErr(err)
	is.Equal(n1, len(whole)) // one read is sufficient for all pieces
	_, err = Text(nil).Reader().Read(p)
	is.Equal(err, io.EOF)
}
