package object

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// depthMax is how deep values may be nested: as in encoding/json, which bounds what clients send, and a little deeper, as
// the managedFields of such an object are.
const depthMax = 10000 + 16

// ParseValue reads one JSON value (RFC 8259) with exact integers: a number without fraction and exponent that fits
// int64 is an int64, every other number a float64. The last of repeated keys wins. A number too large for a float64 is
// an error, as is anything that follows the value.
//
// It reads what the store holds on every update, so it is written for speed; bodies of requests are read by sim/codec,
// whose errors are those of the real server.
func ParseValue(data []byte) (any, error) { return parse(string(data), nil) }

// parse is ParseValue for a value with raw values at some places.
func parse(text string, at *Places) (any, error) {
	p := parser{text: text}
	p.space()
	v, err := p.value(0, at)
	if err != nil {
		return nil, err
	}
	if p.space(); p.at < len(p.text) {
		return nil, p.fail("something follows the value")
	}
	return v, nil
}

// parser is a text and a place in it. Strings without escapes share its memory.
type parser struct {
	text    string
	at      int
	lenient bool // inside raw values: a number that is too large is the largest one
}

func (p *parser) fail(problem string) error {
	return fmt.Errorf("object: %s at byte %d", problem, p.at)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\n', '\t', '\r':
			p.at++
		default:
			return
		}
	}
}

// take moves past c if it is next.
func (p *parser) take(c byte) bool {
	p.space()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// value reads a value that has raw values at some places.
func (p *parser) value(depth int, at *Places) (any, error) {
	if depth > depthMax {
		return nil, p.fail("values nested too deep")
	}
	if p.at >= len(p.text) {
		return nil, p.fail("the text ends")
	}
	if at != nil && at.Raw {
		return p.raw(depth)
	}
	switch c := p.text[p.at]; {
	case c == '{':
		return p.object(depth, at)
	case c == '[':
		return p.array(depth, at)
	case c == '"':
		return p.str()
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	}
	for _, w := range words {
		if strings.HasPrefix(p.text[p.at:], w.text) {
			p.at += len(w.text)
			return w.value, nil
		}
	}
	return nil, p.fail("no value")
}

// raw reads a raw value; null is null.
func (p *parser) raw(depth int) (any, error) {
	start := p.at
	p.lenient = true
	v, err := p.value(depth, nil)
	p.lenient = false
	if err != nil {
		return nil, err
	}
	return AsWritten(p.text[start:p.at], v), nil
}

var words = []struct {
	text  string
	value any
}{{"null", nil}, {"true", true}, {"false", false}}

func (p *parser) object(depth int, at *Places) (any, error) {
	p.at++
	m := map[string]any{}
	if p.take('}') {
		return m, nil
	}
	for {
		p.space()
		if p.at >= len(p.text) || p.text[p.at] != '"' {
			return nil, p.fail("no key")
		}
		key, err := p.str()
		if err != nil {
			return nil, err
		}
		if !p.take(':') {
			return nil, p.fail("no colon")
		}
		p.space()
		if m[key], err = p.value(depth+1, at.field(key)); err != nil {
			return nil, err
		}
		if p.take('}') {
			return m, nil
		}
		if !p.take(',') {
			return nil, p.fail("neither comma nor closing brace")
		}
	}
}

func (p *parser) array(depth int, at *Places) (any, error) {
	p.at++
	list := []any{}
	if p.take(']') {
		return list, nil
	}
	var elem *Places
	if at != nil {
		elem = at.Elem
	}
	for {
		p.space()
		v, err := p.value(depth+1, elem)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
		if p.take(']') {
			return list, nil
		}
		if !p.take(',') {
			return nil, p.fail("neither comma nor closing bracket")
		}
	}
}

// str reads a string; one with escapes, or with bytes that need a closer look, is left to encoding/json.
func (p *parser) str() (string, error) {
	start := p.at
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.at = i + 1
			return p.text[start+1 : i], nil
		case c == '\\' || c < ' ' || c >= 0x80:
			return p.unquote(start, i)
		}
	}
	return "", p.fail("the text ends inside a string")
}

func (p *parser) unquote(start, i int) (string, error) {
	for ; i < len(p.text); i++ {
		switch p.text[i] {
		case '\\':
			i++
		case '"':
			var s string
			if err := json.Unmarshal([]byte(p.text[start:i+1]), &s); err != nil {
				return "", errors.Join(p.fail("a bad string"), err)
			}
			p.at = i + 1
			return s, nil
		}
	}
	return "", p.fail("the text ends inside a string")
}

func (p *parser) number() (any, error) {
	start, whole := p.at, true
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c >= '0' && c <= '9', c == '-' && p.at == start:
		case c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-':
			whole = false
		default:
			return p.numeral(p.text[start:p.at], whole)
		}
	}
	return p.numeral(p.text[start:p.at], whole)
}

func (p *parser) numeral(text string, whole bool) (any, error) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' || !json.Valid([]byte(text)) && !whole || digits == "" {
		return nil, p.fail("a bad number")
	}
	if whole {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && p.lenient {
		return math.Copysign(math.MaxFloat64, f), nil
	}
	if err != nil {
		return nil, p.fail("a number that is too large")
	}
	return f, nil
}
