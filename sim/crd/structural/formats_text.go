package structural

import (
	"strings"
	"unicode/utf8"
)

// text is what is left of a string that is read from the front. A step that does not fit spoils it.
type text struct {
	rest string
	bad  bool
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// run reads n characters of a kind and returns them.
func (t *text) run(n int, kind func(byte) bool) string {
	if t.bad || len(t.rest) < n {
		t.bad = true
		return ""
	}
	head := t.rest[:n]
	for i := range n {
		if !kind(head[i]) {
			t.bad = true
			return ""
		}
	}
	t.rest = t.rest[n:]
	return head
}

// skip reads one of the characters, if it is there.
func (t *text) skip(characters string) {
	if !t.bad && t.rest != "" && strings.IndexByte(characters, t.rest[0]) >= 0 {
		t.rest = t.rest[1:]
	}
}

// ends reports whether everything fitted and nothing is left.
func (t *text) ends() bool { return !t.bad && t.rest == "" }

func allHex(n int) func(string) bool {
	return func(s string) bool {
		t := text{rest: s}
		t.run(n, isHexDigit)
		return t.ends()
	}
}

// isUUID returns the check for UUIDs of a version, 0 for any: groups of 8, 4, 4, 4 and 12 digits, with or without
// hyphens. Those of the versions 4 and 5 say their variant, too.
func isUUID(version byte) func(string) bool {
	return func(s string) bool {
		t := text{rest: s}
		var groups [5]string
		for i, n := range []int{8, 4, 4, 4, 12} {
			if i > 0 {
				t.skip("-")
			}
			groups[i] = t.run(n, isHexDigit)
		}
		if !t.ends() {
			return false
		}
		variant := version < '4' || strings.IndexByte("89abAB", groups[3][0]) >= 0
		return version == 0 || groups[2][0] == version && variant
	}
}

func isSSN(s string) bool {
	t := text{rest: s}
	t.run(3, isDigit)
	t.skip("- ")
	t.run(2, isDigit)
	t.skip("- ")
	t.run(4, isDigit)
	return t.ends()
}

func isHexColor(s string) bool {
	s = strings.TrimPrefix(s, "#")
	return allHex(3)(s) || allHex(6)(s)
}

// isMAC checks an address of 6 or 8 bytes as pairs of digits, or of 6 or 8 bytes as fours with dots.
func isMAC(s string) bool {
	digits, between := 2, ":-"
	switch len(s) {
	case 17, 23:
	case 14, 19:
		digits, between = 4, "."
	default:
		return false
	}
	for i := range len(s) {
		if i%(digits+1) == digits {
			if strings.IndexByte(between, s[i]) < 0 {
				return false
			}
		} else if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

// issuers say how the numbers of cards begin, between two prefixes of one length, and how long they are.
var issuers = []struct {
	from, to string
	lengths  []int
}{
	{"4", "4", []int{13, 16}}, {"51", "55", []int{16}}, {"6011", "6011", []int{16}}, {"65", "65", []int{16}},
	{"34", "34", []int{15}}, {"37", "37", []int{15}}, {"300", "305", []int{14}}, {"36", "36", []int{14}}, {"38", "38", []int{14}},
	{"2131", "2131", []int{15}}, {"1800", "1800", []int{15}}, {"35", "35", []int{16}},
}

// isCardNumber reports whether digits are as many as the issuer that they begin with gives a card.
func isCardNumber(digits string) bool {
	for _, x := range issuers {
		if len(digits) < len(x.from) {
			continue
		}
		if head := digits[:len(x.from)]; x.from <= head && head <= x.to {
			for _, n := range x.lengths {
				if len(digits) == n {
					return true
				}
			}
		}
	}
	return false
}

// isRGBColor checks three numbers up to 255: rgb(1, 2, 3).
func isRGBColor(s string) bool {
	inside, ok := strings.CutPrefix(s, "rgb(")
	if !ok {
		return false
	}
	if inside, ok = strings.CutSuffix(inside, ")"); !ok {
		return false
	}
	parts := strings.Split(inside, ",")
	for _, part := range parts {
		part = strings.Trim(part, " ")
		t := text{rest: part}
		if t.run(len(part), isDigit); !t.ends() || part == "" || len(part) > 3 || len(part) == 3 && part > "255" {
			return false
		}
	}
	return len(parts) == 3
}

// isDateTime checks a date-time of RFC 3339, in any case of letters. Any character may stand before a fraction.
func isDateTime(s string) bool {
	date, rest, ok := strings.Cut(strings.ToLower(s), "t")
	if !ok || !isDate(date) {
		return false
	}
	t := text{rest: rest}
	for i, most := range []string{"23", "59", "59"} {
		if i > 0 {
			t.exactly(":")
		}
		if t.run(2, isDigit) > most {
			return false
		}
	}
	if t.bad {
		return false
	}
	if isZone(t.rest) {
		return true
	}
	point, n := utf8.DecodeRuneInString(t.rest)
	fraction := t.rest[n:]
	zone := strings.TrimLeft(fraction, "0123456789")
	return n > 0 && point != '\n' && zone != fraction && isZone(zone)
}

func (t *text) exactly(want string) {
	rest, ok := strings.CutPrefix(t.rest, want)
	t.rest, t.bad = rest, t.bad || !ok
}

// isZone checks a time zone in lower case: z, or +01:00.
func isZone(s string) bool {
	if s == "z" {
		return true
	}
	t := text{rest: s}
	t.run(1, func(c byte) bool { return c == '+' || c == '-' })
	t.run(2, isDigit)
	t.exactly(":")
	t.run(2, isDigit)
	return t.ends()
}

// units are how the units of Scala's durations begin: what follows is not looked at.
var units = []string{"ns", "nano", "us", "µs", "m", "s", "h", "d", "w"}

// hasDuration reports whether there is a number and a unit somewhere in a text, with a blank between them or none.
func hasDuration(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			continue
		}
		rest := strings.TrimPrefix(s[i+1:], " ")
		for _, unit := range units {
			if len(foldedPrefix(rest, unit)) > 0 {
				return true
			}
		}
	}
	return false
}

// foldedPrefix returns what s begins with that is a word in any case of letters, "" if it does not.
func foldedPrefix(s, word string) string {
	end := 0
	for range utf8.RuneCountInString(word) {
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
	}
	if strings.EqualFold(s[:end], word) {
		return s[:end]
	}
	return ""
}
