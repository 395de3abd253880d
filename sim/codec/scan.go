package codec

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how deep objects and arrays may be nested, as in encoding/json.
const maxDepth = 10000

// scanner walks over a JSON text. It finds every error of syntax but does not describe it: once bad is set, nothing
// more is read, and syntaxError asks encoding/json for the words.
type scanner struct {
	text  string
	pos   int
	depth int
	bad   bool
}

// syntaxError returns the error encoding/json has for a text that is not JSON.
func syntaxError(text string) error {
	var raw json.RawMessage
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return err
	}
	return errors.New("codec: JSON text refused")
}

func (p *scanner) fail() {
	p.bad = true
	p.pos = len(p.text)
}

// next moves to the next byte that is not white space and returns it; 0 at the end.
func (p *scanner) next() byte {
	if c := p.peek(); c > ' ' {
		return c
	}
	return p.space()
}

// space moves over white space and returns what is behind it.
func (p *scanner) space() byte {
	for p.pos < len(p.text) {
		switch c := p.text[p.pos]; c {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return c
		}
	}
	return 0
}

// end checks that nothing follows the value.
func (p *scanner) end() {
	if p.next(); p.pos < len(p.text) {
		p.fail()
	}
}

// enter reads the opening bracket and reports whether there is something before the closing one.
func (p *scanner) enter(closing byte) bool {
	p.pos++
	if p.depth++; p.depth > maxDepth {
		p.fail()
		return false
	}
	if p.next() == closing {
		p.leave()
		return false
	}
	return !p.bad
}

// more reads what follows an element: a comma (true) or the closing bracket (false).
func (p *scanner) more(closing byte) bool {
	switch p.next() {
	case ',':
		p.pos++
		return true
	case closing:
		p.leave()
	default:
		p.fail()
	}
	return false
}

func (p *scanner) leave() {
	p.pos++
	p.depth--
}

// key reads the key of a member and the colon.
func (p *scanner) key() string {
	key, plain := p.quotedKey()
	if plain {
		return key
	}
	return unquote(key)
}

func (p *scanner) quotedKey() (key string, plain bool) {
	if p.next() != '"' {
		p.fail()
		return "", true
	}
	key, plain = p.quoted()
	if p.next() != ':' {
		p.fail()
		return "", true
	}
	p.pos++
	return key, plain
}

// str reads a string. The result may be a part of the text.
func (p *scanner) str() string {
	s, plain := p.quoted()
	if plain {
		return s
	}
	return unquote(s)
}

// ascii are the characters that a string may have as they are.
var ascii = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

// quoted reads a string and returns what is between the quotes. plain says that this is the string: it has no escapes,
// and only ASCII.
func (p *scanner) quoted() (s string, plain bool) {
	text, start := p.text, p.pos+1
	plain = true
	for i := start; ; plain = false {
		for i < len(text) && ascii[text[i]] {
			i++
		}
		if p.pos = i; i >= len(text) {
			break
		}
		switch c := text[i]; {
		case c == '"':
			p.pos++
			return text[start:i], plain
		case c == '\\' && p.escape():
			i = p.pos
		case c >= utf8.RuneSelf:
			i++
		default:
			p.fail()
			return "", true
		}
	}
	p.fail()
	return "", true
}

// escape reads a backslash and what belongs to it.
func (p *scanner) escape() bool {
	rest := p.text[p.pos+1:]
	if rest == "" {
		return false
	}
	if rest[0] == 'u' {
		p.pos += 6
		return hex4(rest[1:]) >= 0
	}
	p.pos += 2
	return strings.IndexByte(`"\/bfnrt`, rest[0]) >= 0
}

// hex4 reads four hexadecimal digits; -1 if there are none.
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

// number reads a number and returns its text.
func (p *scanner) number() string {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	if p.peek() == '0' {
		p.pos++
	} else {
		p.digits()
	}
	if p.peek() == '.' {
		p.pos++
		p.digits()
	}
	if c := p.peek(); c == 'e' || c == 'E' {
		p.pos++
		if c = p.peek(); c == '+' || c == '-' {
			p.pos++
		}
		p.digits()
	}
	if p.bad {
		return ""
	}
	return p.text[start:p.pos]
}

func (p *scanner) peek() byte {
	if p.pos < len(p.text) {
		return p.text[p.pos]
	}
	return 0
}

// digits reads at least one digit.
func (p *scanner) digits() {
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] >= '0' && p.text[p.pos] <= '9' {
		p.pos++
	}
	if p.pos == start {
		p.fail()
	}
}

// literal reads true, false or null.
func (p *scanner) literal(word string) {
	if !strings.HasPrefix(p.text[p.pos:], word) {
		p.fail()
		return
	}
	p.pos += len(word)
}

// skip reads a value and returns its text.
func (p *scanner) skip() string {
	c := p.next()
	start := p.pos
	switch c {
	case '{':
		for more := p.enter('}'); more; more = p.more('}') {
			p.quotedKey()
			p.skip()
		}
	case '[':
		for more := p.enter(']'); more; more = p.more(']') {
			p.skip()
		}
	case '"':
		p.quoted()
	case 't':
		p.literal("true")
	case 'f':
		p.literal("false")
	case 'n':
		p.literal("null")
	default:
		p.number()
	}
	if p.bad {
		return ""
	}
	return p.text[start:p.pos]
}
