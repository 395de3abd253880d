package registry

import "encoding/hex"

const (
	// generateNameMax is the length to which a generateName is cut before the suffix.
	generateNameMax = 58
	suffixLen       = 5
	// suffixLetters are the characters of generated suffixes: no vowels, no digits that look like letters.
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"

	// generateNameAttempts is how many names are tried (KEP-4420, RetryGenerateName).
	generateNameAttempts = 8
)

// generateName returns base with a suffix of five characters from the Cluster's seed.
func (r *Registry) generateName(base string) string {
	if len(base) > generateNameMax {
		base = base[:generateNameMax]
	}
	name := []byte(base)
	for range suffixLen {
		name = append(name, suffixLetters[r.Backend.Random("names", len(suffixLetters))])
	}
	return string(name)
}

// newUID returns a random uid (RFC 9562, version 4) from the Cluster's seed.
func (r *Registry) newUID() string { return r.newID("uids") }

func (r *Registry) newID(purpose string) string {
	var b [16]byte
	for i := range b {
		b[i] = byte(r.Backend.Random(purpose, 256))
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	digits := make([]byte, 36)
	hex.Encode(digits, b[:4])
	digits[8] = '-'
	hex.Encode(digits[9:], b[4:6])
	digits[13] = '-'
	hex.Encode(digits[14:], b[6:8])
	digits[18] = '-'
	hex.Encode(digits[19:], b[8:10])
	digits[23] = '-'
	hex.Encode(digits[24:], b[10:])
	return string(digits)
}
