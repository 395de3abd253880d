package jsoniter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// depthMax is how deep JSON may be nested, as in the original.
const depthMax = 10_000

var errDepth = errors.New("exceeded max depth")

// Iterator reads JSON from a byte slice.
type Iterator struct {
	// Error is the first thing that went wrong; nothing is read after it. io.EOF: the data ended too early.
	Error error

	data  []byte
	at    int
	depth int
}

// NewIterator returns an Iterator without data.
func NewIterator(Config) *Iterator { return &Iterator{} }

// Parse returns an Iterator over everything r has. The size of the buffer is not used.
func Parse(_ Config, r io.Reader, _ int) *Iterator {
	data, err := io.ReadAll(r)
	return &Iterator{data: data, Error: err}
}

// IteratorPool lends Iterators.
type IteratorPool struct{}

// Pool returns a pool.
func (*Iterator) Pool() IteratorPool { return IteratorPool{} }

// BorrowIterator returns an Iterator over data.
func (IteratorPool) BorrowIterator(data []byte) *Iterator { return &Iterator{data: data} }

// ReturnIterator takes an Iterator back.
func (IteratorPool) ReturnIterator(*Iterator) {}

// ReportError stops the Iterator.
func (it *Iterator) ReportError(doing, message string) {
	if it.Error == nil || it.Error == io.EOF {
		it.Error = fmt.Errorf("%s: %s, error found in #%d byte", doing, message, it.at)
	}
}

// token returns the next byte that is not white space, 0 at the end.
func (it *Iterator) token() byte {
	if it.Error != nil {
		return 0
	}
	for ; it.at < len(it.data); it.at++ {
		switch c := it.data[it.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			it.at++
			return c
		}
	}
	it.Error = io.EOF
	return 0
}

// value returns the text of the next value and moves behind it.
func (it *Iterator) value() []byte {
	c := it.token()
	if it.Error != nil {
		return nil
	}
	begin := it.at - 1
	switch c {
	case '"':
		it.string()
	case '{', '[':
		it.nested()
	default:
		for it.at < len(it.data) && !ends(it.data[it.at]) {
			it.at++
		}
	}
	if it.Error != nil {
		return nil
	}
	return it.data[begin:it.at]
}

// ends reports whether a byte stands behind a number or a word.
func ends(c byte) bool {
	switch c {
	case ',', ':', '}', ']', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}

// string moves behind the quote that ends a string.
func (it *Iterator) string() {
	for ; it.at < len(it.data); it.at++ {
		switch it.data[it.at] {
		case '\\':
			it.at++
		case '"':
			it.at++
			return
		}
	}
	it.at = len(it.data)
	it.ReportError("ReadString", "unexpected end of input")
}

// nested moves behind the bracket that ends an object or array. Whether the brackets fit is seen when it is decoded.
func (it *Iterator) nested() {
	for depth := 1; depth > 0; {
		switch it.token() {
		case '"':
			it.string()
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if it.Error != nil {
			return
		}
	}
}

// Read returns the next value as encoding/json decodes it.
func (it *Iterator) Read() any {
	var v any
	it.decode(&v)
	return v
}

// Skip moves behind the next value.
func (it *Iterator) Skip() { it.Read() }

func (it *Iterator) decode(v any) {
	text := it.value()
	if it.Error != nil {
		return
	}
	if err := json.Unmarshal(text, v); err != nil {
		it.ReportError("Read", err.Error())
	}
}

// ReadObjectCB calls f for each field of an object; f reads the value. null is an object without fields.
func (it *Iterator) ReadObjectCB(f func(*Iterator, string) bool) bool { return it.ReadMapCB(f) }

// ReadMapCB is ReadObjectCB.
func (it *Iterator) ReadMapCB(f func(*Iterator, string) bool) bool {
	switch c := it.token(); {
	case it.Error != nil:
		return false
	case c == 'n':
		it.at--
		it.Skip()
		return it.Error == nil
	case c != '{':
		it.ReportError("ReadMapCB", "expect { or n, but found "+string(rune(c)))
		return false
	}
	if it.depth++; it.depth > depthMax {
		it.Error = errDepth
		return false
	}
	defer func() { it.depth-- }()
	for c := it.token(); c != '}'; {
		if c != '"' {
			it.ReportError("ReadMapCB", "expect \" or }, but found "+string(rune(c)))
			return false
		}
		it.at--
		var name string
		if it.decode(&name); it.token() != ':' {
			it.ReportError("ReadMapCB", "expect : after object field")
			return false
		}
		if !f(it, name) || it.Error != nil {
			return false
		}
		switch c = it.token(); c {
		case '}':
		case ',':
			if c = it.token(); c == '}' {
				c = 0
			}
		default:
			it.ReportError("ReadMapCB", "object not ended with }")
			return false
		}
	}
	return true
}
