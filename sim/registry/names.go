package registry

const (
	// generateNameMax is the length to which a generateName is truncated before the suffix is added.
	generateNameMax = 58
	suffixLen       = 5
	// suffixLetters are the characters of generated suffixes: no vowels, and no digits that look like letters.
	suffixLetters = "bcdfghjklmnpqrstvwxz2456789"
	hexDigits     = "0123456789abcdef"

	// generateNameAttempts is the number of names that are tried (KEP-4420, RetryGenerateName).
	generateNameAttempts = 8
)

// generateName returns base with a random suffix of five characters.
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

// newUID returns a random uid (RFC 9562, version 4).
func (r *Registry) newUID() string { return r.newID("uids") }

func (r *Registry) newID(purpose string) string {
	b := r.Backend.RandomID(purpose)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	digits := make([]byte, 0, 36)
	for i, x := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			digits = append(digits, '-')
		}
		digits = append(digits, hexDigits[x>>4], hexDigits[x&0xf])
	}
	return string(digits)
}
