//go:build page

package codec

import (
	"encoding/binary"
	"hash/crc32"
)

// blockMax is the maximum length of a stored block (RFC 1951).
const blockMax = 1<<16 - 1

// Member returns t as a member of a gzip file (RFC 1952) whose blocks are not compressed. A page sends nothing over a network, and
// the compressor would add eight kilobytes to what it loads.
func Member(t Text) []byte {
	data := t.Bytes()
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255}
	for rest := data; ; {
		n := min(len(rest), blockMax)
		last := byte(0)
		if n == len(rest) {
			last = 1
		}
		out = append(out, last, byte(n), byte(n>>8), ^byte(n), ^byte(n>>8))
		out = append(out, rest[:n]...)
		if rest = rest[n:]; last == 1 {
			break
		}
	}
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
	return binary.LittleEndian.AppendUint32(out, uint32(len(data)))
}
