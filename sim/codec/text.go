package codec

import (
	"io"
	"strings"

	"github.com/kubesim/kubesim/sim/pack"
)

// Text is an encoded response as a sequence of pieces, which are sent one after the other. The stored objects of a list are pieces:
// they are not copied, and a packed object is unpacked when it is sent. Pieces are immutable.
//
//	{"kind":"PodList",…,"items":[{ │ "metadata":{…},… of the first pod } │ ,{ │ … of the second } │ ]}
type Text []Piece

// Piece is a part of a Text: some bytes, or a stored object without its first bytes.
type Piece struct {
	bytes  []byte
	stored *pack.Text // if not nil, the piece is this object from the offset from on
	from   int
	length int
}

// Stored returns the piece that consists of a stored object.
func Stored(object *pack.Text) Piece { return Piece{stored: object, length: object.Len()} }

// PieceOf returns a piece that consists of b, which must not be changed afterwards.
func PieceOf(b []byte) Piece { return Piece{bytes: b, length: len(b)} }

// TextOf returns the text that consists of the given pieces, which must not be changed afterwards.
func TextOf(pieces ...[]byte) Text {
	t := make(Text, len(pieces))
	for i, b := range pieces {
		t[i] = PieceOf(b)
	}
	return t
}

// view returns the bytes of the piece. If they are packed, it unpacks them into *buffer, so they are valid until the buffer is used
// again.
func (p Piece) view(buffer *[]byte) []byte {
	if p.stored == nil {
		return p.bytes[:p.length]
	}
	return p.stored.View(buffer)[p.from : p.from+p.length]
}

// withoutTypeMeta is StripTypeMeta for a piece that is an object.
func (p Piece) withoutTypeMeta() Piece {
	if p.stored == nil {
		return PieceOf(StripTypeMeta(p.bytes))
	}
	var buffer [typeMetaMax]byte
	head := p.stored.Head(buffer[:])
	n := len(head) - len(StripTypeMeta(head))
	return Piece{stored: p.stored, from: n, length: p.length - n}
}

// typeMetaMax is more than the length of the kind and apiVersion at the beginning of any object.
const typeMetaMax = 512

// Len returns the length of the text in bytes.
func (t Text) Len() int {
	n := 0
	for _, piece := range t {
		n += piece.length
	}
	return n
}

// Bytes returns the text as one slice. It makes a copy unless the text is a single piece.
func (t Text) Bytes() []byte {
	var buffer []byte
	if len(t) == 1 {
		return t[0].view(&buffer)
	}
	all := make([]byte, 0, t.Len())
	for _, piece := range t {
		all = append(all, piece.view(&buffer)...)
	}
	return all
}

// First returns a text that consists of the first n bytes.
func (t Text) First(n int) Text {
	for i, piece := range t {
		if n <= piece.length {
			piece.length = n
			return append(t[:i:i], piece)
		}
		n -= piece.length
	}
	return t
}

// WriteTo implements io.WriterTo.
func (t Text) WriteTo(w io.Writer) (n int64, err error) {
	var buffer []byte
	for _, piece := range t {
		k, err := w.Write(piece.view(&buffer))
		if n += int64(k); err != nil {
			return n, err
		}
	}
	return n, nil
}

// Reader returns a reader of the text.
func (t Text) Reader() io.Reader { return &textReader{rest: t} }

// textReader fills the buffer of a Read from several pieces, so that reading a whole text takes no more calls than for a single
// piece.
type textReader struct {
	piece  []byte // the unread bytes of the current piece
	rest   Text   // the pieces after the current one
	buffer []byte // holds the unpacked bytes of the current piece if it is packed
}

// Read implements io.Reader.
func (r *textReader) Read(p []byte) (n int, err error) {
	for n < len(p) && (len(r.piece) > 0 || len(r.rest) > 0) {
		if len(r.piece) == 0 {
			r.piece, r.rest = r.rest[0].view(&r.buffer), r.rest[1:]
		}
		k := copy(p[n:], r.piece)
		n, r.piece = n+k, r.piece[k:]
	}
	if n == 0 && len(p) > 0 {
		err = io.EOF
	}
	return n, err
}

// composer builds a Text. New bytes are appended to own; add inserts existing ones.
type composer struct {
	text Text
	own  []byte // appended since the last piece
}

// add appends a piece after the bytes in own.
func (c *composer) add(piece Piece) {
	c.cut()
	c.text = append(c.text, piece)
}

// ownMin is the minimum spare capacity of own, and ownSize its initial capacity.
const ownMin, ownSize = 128, 1024

// cut appends the bytes in own as a piece and begins a new own.
func (c *composer) cut() {
	if n := len(c.own); n > 0 {
		c.text = append(c.text, PieceOf(c.own[:n:n]))
		c.own = c.own[n:]
	}
	if cap(c.own) < ownMin {
		c.own = make([]byte, 0, ownSize)
	}
}

// end appends the bytes in own as a piece and returns the text.
func (c *composer) end() Text {
	if len(c.own) > 0 {
		c.text = append(c.text, PieceOf(c.own))
	}
	return c.text
}

// compressMin is the size up to which responses are not compressed (API concepts, "Response compression").
const compressMin = 128 * 1024

// Compress returns t compressed with gzip, and true, if the client accepts gzip and t is larger than compressMin. Otherwise it
// returns t and false. If it returns true, the caller must set Content-Encoding: gzip and Vary: Accept-Encoding.
func Compress(t Text, acceptEncoding string) (Text, bool) {
	if t.Len() <= compressMin || !TakesGzip(acceptEncoding) {
		return t, false
	}
	return TextOf(Member(t)), true
}

// TakesGzip reports whether an Accept-Encoding header contains gzip. It does not support weights: "gzip;q=1" does not match.
func TakesGzip(acceptEncoding string) bool {
	for token := range strings.SplitSeq(acceptEncoding, ",") {
		if strings.TrimSpace(token) == "gzip" {
			return true
		}
	}
	return false
}
