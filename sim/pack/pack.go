// Package pack stores many similar byte strings in little memory.
//
// A Text is an immutable byte string. Initially it is stored whole. A Packer replaces the bytes by a packed form: instructions
// that copy parts of a dictionary, alternating with the literal bytes between these parts:
//
//	dictionary  {"name":"web-1","uid":"47aa","phase":"Running"}
//	             ╰── 12 ──╯     ╰─ 9 ──╯    ╰────── 20 ───────╯
//	Text        {"name":"web-2","uid":"c0de","phase":"Running"}    whole
//	            copy 12, 2, copy 9, c0de, copy 20                  packed
//
// The dictionary consists of texts that could not be packed well, and of texts with literals that many earlier texts had, too. For example,
// the first pods of a Deployment become part of it, and the other pods are packed. When its dictionary is full, a Packer begins a new
// one. Texts that were packed with the old dictionary keep it.
//
// Reading a packed text unpacks a copy, which takes about as long as copying the bytes.
package pack

import (
	"encoding/binary"
	"slices"
	"sync/atomic"
)

// Text is an immutable byte string. Goroutines may read it while a Packer packs it, or while several do. A nil Text is empty.
type Text struct {
	form   atomic.Pointer[form]
	taken  atomic.Bool // a Packer packs the text, or has packed it
	packed form        // the packed form is a part of the Text, because a store has many of them
}

// form is the stored form of a Text.
type form struct {
	bytes []byte      // the text itself, or its instructions if it is packed
	of    *dictionary // the dictionary of a packed text; nil if the text is whole
}

// New returns a Text with the given bytes, which must not change afterwards.
func New(b []byte) *Text {
	t := &Text{}
	t.Set(b)
	return t
}

// Set sets the bytes of a new Text, which must not change afterwards. It is for a Text that is a field of another struct.
func (t *Text) Set(b []byte) { t.form.Store(&form{bytes: b}) }

// pack sets the packed form of a text.
func (t *Text) pack(instructions []byte, of *dictionary) {
	t.packed = form{instructions, of}
	t.form.Store(&t.packed)
}

// Bytes returns the bytes of the text. The caller must not change them.
func (t *Text) Bytes() []byte {
	if t == nil {
		return nil
	}
	var buffer []byte
	return t.View(&buffer)
}

// View returns the bytes of the text. If the text is packed, it unpacks them into *buffer, which it grows if necessary: they are
// valid until the buffer is used again.
func (t *Text) View(buffer *[]byte) []byte {
	f := t.form.Load()
	if f.of == nil {
		return f.bytes[:len(f.bytes):len(f.bytes)]
	}
	size, _ := next(f.bytes)
	*buffer = f.appendTo(slices.Grow((*buffer)[:0], size), size)
	return *buffer
}

// Head copies the first bytes of the text to buffer, as many as fit, and returns them.
func (t *Text) Head(buffer []byte) []byte {
	f := t.form.Load()
	if f.of == nil {
		return buffer[:copy(buffer, f.bytes)]
	}
	return f.appendTo(buffer[:0], len(buffer))
}

// Len returns the number of bytes of the text.
func (t *Text) Len() int {
	if t == nil {
		return 0
	}
	f := t.form.Load()
	if f.of == nil {
		return len(f.bytes)
	}
	size, _ := next(f.bytes)
	return size
}

// appendTo appends the first n bytes of a packed text to dst, which must be empty.
func (f *form) appendTo(dst []byte, n int) []byte {
	_, rest := next(f.bytes)
	for len(rest) > 0 && len(dst) < n {
		var size, from int
		size, rest = next(rest)
		dst, rest = append(dst, rest[:min(size, n-len(dst))]...), rest[size:]
		if len(rest) > 0 {
			size, rest = next(rest)
			from, rest = int(binary.LittleEndian.Uint16(rest)), rest[2:]
			dst = append(dst, f.of[from:from+min(size, n-len(dst))]...)
		}
	}
	return dst
}

// next decodes the number at the beginning of b. It returns the number and the remaining bytes.
func next(b []byte) (int, []byte) {
	n, size := binary.Uvarint(b)
	return int(n), b[size:]
}
