package json

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// depthMax is the maximum nesting depth of objects and arrays, as in encoding/json.
const depthMax = 10000

// Scanner scans JSON text. It stops once Bad is set.
type Scanner struct {
	Text  string
	Pos   int  // of the next byte to read
	Bad   bool // the text is not valid JSON
	Own   bool // strings are copied, so that they do not keep Text in memory
	Spare int  // additional nesting depth that is allowed beyond depthMax

	// Value sets these; the caller resets them.
	Repeats bool   // an object has a key twice: see Repeated
	Huge    string // the first number that is too large for a float64

	depth int
}

// SyntaxError returns the error of encoding/json for text that is not valid JSON.
func SyntaxError(text string) error {
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return err
	}
	return errors.New("json: objects and arrays are nested too deep")
}

// Fail sets Bad and skips the rest of the text.
func (s *Scanner) Fail() {
	s.Bad = true
	s.Pos = len(s.Text)
}

// Next skips white space and returns the next byte without reading it, or 0 at the end of the text.
func (s *Scanner) Next() byte {
	if c := s.Peek(); c > ' ' {
		return c
	}
	s.Pos = space(s.Text, s.Pos)
	return s.Peek()
}

// Peek returns the byte at Pos, or 0 at the end of the text.
func (s *Scanner) Peek() byte {
	if s.Pos < len(s.Text) {
		return s.Text[s.Pos]
	}
	return 0
}

// End checks that only white space follows the value.
func (s *Scanner) End() {
	if s.Next(); s.Pos < len(s.Text) {
		s.Fail()
	}
}

// Enter reads an opening bracket and reports whether the object or array has any elements. If it is empty, Enter also reads the
// closing bracket.
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

// More reads what follows an element. It returns true for a comma, and false for the closing bracket.
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

// Key reads a key and the colon after it.
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

// String reads the string at Pos. The result may be a substring of the text.
func (s *Scanner) String() string {
	text, plain := s.quoted()
	if plain {
		return text
	}
	return unquote(text)
}

// ascii are the ASCII characters that a string may contain unescaped.
var ascii = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// quoted reads a string and returns the text between its quotes. If plain is true, that is its value, which has no escapes and only
// ASCII.
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

// escape reads an escape sequence and reports whether it is valid.
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

// Number reads a number and returns it as text. If it is invalid, Number sets Bad and returns "".
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

// digits reads decimal digits. It fails if there is none.
func (s *Scanner) digits() {
	start := s.Pos
	for s.Pos < len(s.Text) && s.Text[s.Pos] >= '0' && s.Text[s.Pos] <= '9' {
		s.Pos++
	}
	if s.Pos == start {
		s.Fail()
	}
}

// Literal reads word, which is true, false or null.
func (s *Scanner) Literal(word string) {
	if !strings.HasPrefix(s.Text[s.Pos:], word) {
		s.Fail()
		return
	}
	s.Pos += len(word)
}

// Skip reads a value of any type and returns it as text. If it is invalid, Skip sets Bad and returns "".
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

// Pass is a faster Skip for valid JSON.
func (s *Scanner) Pass() string {
	s.Next()
	start := s.Pos
	s.Pos = End(s.Text, start)
	return s.Text[start:s.Pos]
}

// unquote resolves escapes. Invalid UTF-8 and halves of surrogate pairs become U+FFFD, as in encoding/json.
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

// hex4 parses the first four characters of s as a hexadecimal number. It returns -1 if they are not hexadecimal digits.
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
