package json

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// depthMax is how deep objects and arrays may be nested, as in encoding/json.
const depthMax = 10000

// Scanner walks over a JSON text. Once Bad is set, nothing more is read.
type Scanner struct {
	Text  string
	Pos   int  // of the next byte to read
	Bad   bool // the text is not JSON
	Own   bool // the strings of values are copies, which do not keep Text in memory
	Spare int  // how much deeper than depthMax objects and arrays may be nested

	// Findings of Value; the caller clears them.
	Repeats bool   // an object had a key twice: see Repeated
	Huge    string // the first number that is too large for a float64

	depth int
}

// SyntaxError returns the error that encoding/json has for a text that is not JSON.
func SyntaxError(text string) error {
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return err
	}
	return errors.New("json: objects and arrays are nested too deep")
}

// Fail sets Bad.
func (s *Scanner) Fail() {
	s.Bad = true
	s.Pos = len(s.Text)
}

// Next moves to the next byte that is not white space and returns it, or 0 at the end of the text.
func (s *Scanner) Next() byte {
	if c := s.Peek(); c > ' ' {
		return c
	}
	s.Pos = space(s.Text, s.Pos)
	return s.Peek()
}

// Peek returns the next byte, or 0 at the end of the text.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Text) {
		return s.Text[s.Pos]
	}
	return 0
}

// End checks that nothing follows the value.
func (s *Scanner) End() {
	if s.Next(); s.Pos < len(s.Text) {
		s.Fail()
	}
}

// Enter reads the opening bracket and reports whether there is something before the closing one.
func (s *Scanner) Enter(closing byte) bool {
	s.Pos++
	if s.depth++; s.depth > depthMax+s.Spare {
		s.Fail()
		return false
	}
	if s.Next() == closing {
		s.leave()
		return false
	}
	return !s.Bad
}

// More reads the text after an element: a comma (true) or the closing bracket (false).
func (s *Scanner) More(closing byte) bool {
	switch s.Next() {
	case ',':
		s.Pos++
		return true
	case closing:
		s.leave()
	default:
		s.Fail()
	}
	return false
}

func (s *Scanner) leave() {
	s.Pos++
	s.depth--
}

// Key reads the key of a member and the colon.
func (s *Scanner) Key() string {
	key, plain := s.quotedKey()
	if plain {
		return key
	}
	return unquote(key)
}

func (s *Scanner) quotedKey() (key string, plain bool) {
	if s.Next() != '"' {
		s.Fail()
		return "", true
	}
	key, plain = s.quoted()
	if s.Next() != ':' {
		s.Fail()
		return "", true
	}
	s.Pos++
	return key, plain
}

// String reads a string, which begins at Pos. The result may be a part of the text.
func (s *Scanner) String() string {
	text, plain := s.quoted()
	if plain {
		return text
	}
	return unquote(text)
}

// ascii are the characters that a string may have as they are.
var ascii = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// quoted reads a string and returns the text between the quotes. If plain, this is the string: it has no escapes, and only ASCII.
func (s *Scanner) quoted() (between string, plain bool) {
	text, start := s.Text, s.Pos+1
	plain = true
	for i := start; ; plain = false {
		for i < len(text) && ascii[text[i]] {
			i++
		}
		if s.Pos = i; i >= len(text) {
			break
		}
		switch c := text[i]; {
		case c == '"':
			s.Pos++
			return text[start:i], plain
		case c == '\\' && s.escape():
			i = s.Pos
		case c >= utf8.RuneSelf:
			i++
		default:
			s.Fail()
			return "", true
		}
	}
	s.Fail()
	return "", true
}

// escape reads an escape sequence.
func (s *Scanner) escape() bool {
	rest := s.Text[s.Pos+1:]
	if rest == "" {
		return false
	}
	if rest[0] == 'u' {
		s.Pos += 6
		return hex4(rest[1:]) >= 0
	}
	s.Pos += 2
	return strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0
}

// Number reads a number and returns its text.
func (s *Scanner) Number() string {
	start := s.Pos
	if s.Peek() == '-' {
		s.Pos++
	}
	if s.Peek() == '0' {
		s.Pos++
	} else {
		s.digits()
	}
	if s.Peek() == '.' {
		s.Pos++
		s.digits()
	}
	if c := s.Peek(); c == 'e' || c == 'E' {
		s.Pos++
		if c = s.Peek(); c == '+' || c == '-' {
			s.Pos++
		}
		s.digits()
	}
	if s.Bad {
		return ""
	}
	return s.Text[start:s.Pos]
}

// digits reads at least one digit.
func (s *Scanner) digits() {
	start := s.Pos
	for s.Pos < len(s.Text) && s.Text[s.Pos] >= '0' && s.Text[s.Pos] <= '9' {
		s.Pos++
	}
	if s.Pos == start {
		s.Fail()
	}
}

// Literal reads true, false or null.
func (s *Scanner) Literal(word string) {
	if !strings.HasPrefix(s.Text[s.Pos:], word) {
		s.Fail()
		return
	}
	s.Pos += len(word)
}

// Skip reads a value and returns its text.
func (s *Scanner) Skip() string {
	c := s.Next()
	start := s.Pos
	switch c {
	case '{':
		for more := s.Enter('}'); more; more = s.More('}') {
			s.quotedKey()
			s.Skip()
		}
	case '[':
		for more := s.Enter(']'); more; more = s.More(']') {
			s.Skip()
		}
	case '"':
		s.quoted()
	case 't':
		s.Literal("true")
	case 'f':
		s.Literal("false")
	case 'n':
		s.Literal("null")
	default:
		s.Number()
	}
	if s.Bad {
		return ""
	}
	return s.Text[start:s.Pos]
}

// Pass is a faster Skip for a text without mistakes.
func (s *Scanner) Pass() string {
	s.Next()
	start := s.Pos
	s.Pos = End(s.Text, start)
	return s.Text[start:s.Pos]
}

// unquote resolves escapes; invalid UTF-8 and halves of surrogate pairs become U+FFFD, as in encoding/json.
func unquote(s string) string {
	if strings.IndexByte(s, '\\') < 0 && utf8.ValidString(s) {
		return s
	}
	b := make([]byte, 0, len(s)+utf8.UTFMax)
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			r, size := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += size
			continue
		}
		if s[i+1] != 'u' {
			b = append(b, unescape(s[i+1]))
			i += 2
			continue
		}
		r := hex4(s[i+2:])
		i += 6
		if utf16.IsSurrogate(r) {
			low := rune(-1)
			if strings.HasPrefix(s[i:], `\u`) {
				low = hex4(s[i+2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 6
			}
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

func unescape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// hex4 reads four hexadecimal digits, and returns -1 if there are none.
func hex4(s string) rune {
	if len(s) < 4 {
		return -1
	}
	var r rune
	for i := range 4 {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
