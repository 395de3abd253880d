package codec

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// PlainJSON reads an object from a text that means the same as JSON and as YAML: what clients send as an applied
// configuration, which is YAML to the server. ok is false for every text about which there could be a doubt, and for
// one with repeated keys: YAMLToJSON and DecodeYAML read those, in some twenty times the time.
//
// Plain is an object on one line, of ASCII, with integers that fit int64, without the escapes that YAML does not have.
func PlainJSON(data []byte) (obj object.Object, ok bool) {
	if len(data) == 0 || data[0] != '{' || bytes.ContainsAny(bytes.TrimSuffix(data, []byte("\n")), "\t\r\n\x7f") {
		return nil, false
	}
	p := &plainReader{scanner{text: string(data)}}
	v := p.value()
	if p.end(); p.bad {
		return nil, false
	}
	return object.Object(v.(map[string]any)), true
}

// plainReader reads values; what is not plain is bad.
type plainReader struct{ scanner }

func (p *plainReader) value() any {
	switch p.next() {
	case '{':
		return p.object()
	case '[':
		list := []any{}
		for more := p.enter(']'); more; more = p.more(']') {
			list = append(list, p.value())
		}
		return list
	case '"':
		return p.string()
	case 't':
		p.literal("true")
		return true
	case 'f':
		p.literal("false")
		return false
	case 'n':
		p.literal("null")
		return nil
	}
	return p.integer()
}

// keyMax is less than the length beyond which YAML does not see a key (1024 bytes of text).
const keyMax = 500

func (p *plainReader) object() map[string]any {
	m := map[string]any{}
	for more := p.enter('}'); more; more = p.more('}') {
		if p.next() != '"' {
			p.fail()
			return m
		}
		start := p.pos
		key := p.string()
		_, twice := m[key]
		if twice || p.pos-start > keyMax || key == "<<" || p.next() != ':' { // << merges objects
			p.fail()
			return m
		}
		p.pos++
		m[key] = p.value()
	}
	return m
}

func (p *plainReader) string() string {
	s, plain := p.quoted()
	if plain || p.bad {
		return s
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			p.fail()
			return ""
		}
		if s[i] != '\\' {
			continue
		}
		i++ // a pair of escapes is one character to JSON and two to YAML
		if s[i] == '/' || s[i] == 'u' && strings.IndexByte("dD", s[i+1]) >= 0 {
			p.fail()
			return ""
		}
	}
	return unquote(s)
}

// integer reads a number of at most 18 digits.
func (p *plainReader) integer() any {
	text := p.number()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || len(text) > 18 || text == "-0" {
		p.fail()
	}
	return n
}
