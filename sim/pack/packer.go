package pack

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// room is the size of a dictionary. Offsets in it fit into a uint16.
	room = 1 << 16
	// textMin and textMax limit the sizes of texts that are packed. Packing shorter ones saves nothing, and longer ones would
	// fill a dictionary.
	textMin, textMax = 128, room / 4
	// good is the required ratio between the sizes of a text and its packed form. If packing achieves less, the text becomes
	// part of the dictionary.
	good = 3
	// key is the number of bytes that are hashed to find a position in the dictionary, and step is the distance between indexed
	// positions. Any common string of at least key+step-1 bytes is found, regardless of its alignment.
	key, step = 8, 4
	// bitsOfHash is the number of bits of a hash. There is one hash value for every two indexed positions.
	bitsOfHash = 13
	// A text also becomes part of the dictionary if recurring or more of its literal bytes are in literals of at least key bytes
	// that at least often earlier texts had, too: later texts will probably have them. With a smaller number, each object that is
	// written a few times would fill the dictionary with its own names.
	recurring, often = 40, 8
	// bitsOfLiteral is the number of bits of the index of a literal in Packer.literals.
	bitsOfLiteral = 12
)

// dictionary holds the bytes that packed texts copy.
type dictionary [room]byte

// Packer packs texts. The zero Packer is ready for use. It is not safe for concurrent use.
type Packer struct {
	of       *dictionary
	used     int                          // number of bytes in the dictionary
	places   *[1 << bitsOfHash]uint16     // by hash of key bytes: their last position in the dictionary divided by step, plus one; 0 if there is none
	literals *[1 << bitsOfLiteral]literal // literals of earlier texts
	texts    uint32                       // number of texts so far
	repeated int                          // number of bytes of the last text that are in recurring literals
	buffer   []byte
}

// literal counts the texts that have a literal.
type literal struct{ hash, times, last uint32 } // last is the number of the last such text

// Pack packs a text. It does nothing if the text is already packed or would not become shorter.
func (p *Packer) Pack(t *Text) {
	if t == nil {
		return
	}
	f := t.form.Load()
	if f.of != nil || len(f.bytes) < textMin || len(f.bytes) > textMax || !t.taken.CompareAndSwap(false, true) {
		return
	}
	p.texts++
	if p.of == nil || !p.try(f.bytes) || p.repeated >= recurring {
		p.add(f.bytes)
		p.try(f.bytes)
	}
	t.pack(bytes.Clone(p.buffer), p.of)
}

// add appends a text to the dictionary and indexes it. If there is no room, it begins a new dictionary.
func (p *Packer) add(text []byte) {
	if p.of == nil || p.used+len(text) > room {
		*p = Packer{of: new(dictionary), places: new([1 << bitsOfHash]uint16), literals: p.literals, texts: p.texts, buffer: p.buffer}
		if p.literals == nil {
			p.literals = new([1 << bitsOfLiteral]literal)
		}
	}
	from := (p.used + step - 1) / step * step
	p.used += copy(p.of[p.used:], text)
	for ; from+key <= p.used; from += step {
		p.places[hash(p.of[from:])] = uint16(from/step) + 1
	}
}

// hash returns the index in Packer.places for the first key bytes of b.
func hash(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15 >> (64 - bitsOfHash)
}

// try writes the packed form of a text to the buffer. It reports whether the form is sufficiently small.
func (p *Packer) try(text []byte) bool {
	out := binary.AppendUvarint(p.buffer[:0], uint64(len(text)))
	p.repeated = 0
	copied, shift := 0, 0 // text[:copied] is encoded in out; shift is the offset of the last copy in the dictionary minus that in the text
	for at := 0; at+key <= len(text); {
		from, n := p.find(text[at:], at+shift)
		if n == 0 {
			at++
			continue
		}
		for at > copied && from > 0 && text[at-1] == p.of[from-1] {
			at, from, n = at-1, from-1, n+1
		}
		p.record(text[copied:at])
		out = append(binary.AppendUvarint(out, uint64(at-copied)), text[copied:at]...)
		out = binary.LittleEndian.AppendUint16(binary.AppendUvarint(out, uint64(n)), uint16(from))
		copied, shift = at+n, from-at
		at = copied
	}
	p.buffer = append(binary.AppendUvarint(out, uint64(len(text)-copied)), text[copied:]...)
	return len(p.buffer)*good <= len(text)
}

// record counts a literal of the current text, once for each text, and adds its bytes to p.repeated if it recurs. Two literals with the
// same hash count as equal, and the newer of two with the same place replaces the other.
func (p *Packer) record(text []byte) {
	if len(text) < key {
		return
	}
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for _, c := range text {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	known := &p.literals[h>>(64-bitsOfLiteral)]
	if known.hash != uint32(h) {
		*known = literal{hash: uint32(h)}
	}
	if known.last != p.texts {
		known.last = p.texts
		if known.times++; known.times > often {
			p.repeated += len(text)
		}
	}
}

// find returns the position of a string in the dictionary that matches the beginning of text, and the length of the match. It
// tries the position likely first. If there is no match, the length is 0.
func (p *Packer) find(text []byte, likely int) (from, n int) {
	if likely >= 0 && likely+key <= p.used {
		if n := common(text, p.of[likely:p.used]); n >= key {
			return likely, n
		}
	}
	place := p.places[hash(text)]
	if place == 0 {
		return 0, 0
	}
	from = int(place-1) * step
	if n = common(text, p.of[from:p.used]); n < key {
		return 0, 0
	}
	return from, n
}

// common returns the length of the common prefix of a and b.
func common(a, b []byte) int {
	n := 0
	for ; n+8 <= min(len(a), len(b)); n += 8 {
		if diff := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); diff != 0 {
			return n + bits.TrailingZeros64(diff)/8
		}
	}
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
