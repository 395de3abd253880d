package codec

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"sync"
)

// Text is a printed answer in pieces, which are sent one after the other. The bytes of stored objects are not copied: they are
// pieces. Pieces are immutable.
//
//	{"kind":"PodList",…,"items":[{ │ "metadata":{…},… of the first pod } │ ,{ │ … of the second } │ ]}
type Text [][]byte

// Len returns how many bytes the text has.
func (t Text) Len() int {
	n := 0
	for _, piece := range t {
		n += len(piece)
	}
	return n
}

// Bytes returns the text in one piece: a copy, unless it is one.
func (t Text) Bytes() []byte {
	if len(t) == 1 {
		return t[0]
	}
	return slices.Concat(t...)
}

// First returns the first n bytes of the text.
func (t Text) First(n int) Text {
	for i, piece := range t {
		if n <= len(piece) {
			return append(t[:i:i], piece[:n])
		}
		n -= len(piece)
	}
	return t
}

// WriteTo implements io.WriterTo.
func (t Text) WriteTo(w io.Writer) (n int64, err error) {
	for _, piece := range t {
		k, err := w.Write(piece)
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Reader returns a reader of the text.
func (t Text) Reader() io.Reader { return &textReader{rest: t} }

// textReader fills the buffer of a Read from several pieces, so that a client which reads a whole text needs as few calls as for
// one piece.
type textReader struct {
	rest Text
	at   int // position in the first piece
}

// Read implements io.Reader.
func (r *textReader) Read(p []byte) (n int, err error) {
	for n < len(p) && len(r.rest) > 0 {
		k := copy(p[n:], r.rest[0][r.at:])
		n, r.at = n+k, r.at+k
		if r.at == len(r.rest[0]) {
			r.rest, r.at = r.rest[1:], 0
		}
	}
	if n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// composer builds a Text: new bytes are printed to own, and add inserts existing ones.
type composer struct {
	text Text
	own  []byte // printed since the last piece
}

// add appends a piece after the printed bytes.
func (c *composer) add(piece []byte) {
	c.cut()
	c.text = append(c.text, piece)
}

// ownMin is how much room there is at least to print to, and ownSize how much is made at once.
const ownMin, ownSize = 128, 1024

// cut turns the printed bytes into a piece.
func (c *composer) cut() {
	if n := len(c.own); n > 0 {
		c.text = append(c.text, c.own[:n:n])
		c.own = c.own[n:]
	}
	if cap(c.own) < ownMin {
		c.own = make([]byte, 0, ownSize)
	}
}

// end returns the text.
func (c *composer) end() Text {
	if len(c.own) > 0 {
		c.text = append(c.text, c.own)
	}
	return c.text
}

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
