package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A JSON value is one of: nil, bool, string, Int, float64, *List, *Object. Integers and floating-point numbers are
// distinguished, because 1 and 1.0 differ on the wire. Members keep their order, because labels are numbered by first
// appearance.

// Int is an integer of any size, in canonical decimal form.
type Int string

// List is a JSON array.
type List struct{ Items []any }

// Object is a JSON object. Its members keep their order; if several members have the same name, the last value counts.
type Object struct {
	Keys    []string
	Members map[string]any
}

func newObject() *Object { return &Object{Members: map[string]any{}} }

// Get returns the value of a member, or nil.
func (o *Object) Get(key string) any { return o.Members[key] }

// Has reports whether the member exists.
func (o *Object) Has(key string) bool { _, ok := o.Members[key]; return ok }

// Set replaces the value of a member, or appends the member.
func (o *Object) Set(key string, v any) {
	if !o.Has(key) {
		o.Keys = append(o.Keys, key)
	}
	o.Members[key] = v
}

// Delete removes a member if it exists.
func (o *Object) Delete(key string) {
	if !o.Has(key) {
		return
	}
	delete(o.Members, key)
	o.Keys = slices.DeleteFunc(o.Keys, func(k string) bool { return k == key })
}

// Clone returns a deep copy of a value.
func Clone(v any) any {
	switch v := v.(type) {
	case *Object:
		out := newObject()
		for _, k := range v.Keys {
			out.Set(k, Clone(v.Members[k]))
		}
		return out
	case *List:
		return v.each(Clone)
	}
	return v
}

// each returns a new list with the result of f for each item.
func (l *List) each(f func(any) any) *List {
	out := &List{Items: make([]any, len(l.Items))}
	for i, x := range l.Items {
		out.Items[i] = f(x)
	}
	return out
}

var errNotJSON = errors.New("not one JSON value in UTF-8")

// Decode decodes exactly one JSON value.
func Decode(data []byte) (any, error) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, errNotJSON
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	return decodeValue(d)
}

func decodeValue(d *json.Decoder) (any, error) {
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok := tok.(type) {
	case json.Delim:
		if tok == '{' {
			return decodeObject(d)
		}
		return decodeList(d)
	case json.Number:
		return decodeNumber(string(tok))
	}
	return tok, nil
}

func decodeObject(d *json.Decoder) (any, error) {
	out := newObject()
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		out.Set(key.(string), v)
	}
	_, err := d.Token()
	return out, err
}

func decodeList(d *json.Decoder) (any, error) {
	out := &List{Items: []any{}}
	for d.More() {
		v, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		out.Items = append(out.Items, v)
	}
	_, err := d.Token()
	return out, err
}

func decodeNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrRange) {
			err = nil // the number overflows to infinity, as in other decoders to float64
		}
		return f, err
	}
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		return nil, fmt.Errorf("number %q", text)
	}
	return Int(n.String()), nil
}

// Encode encodes a value on one line, with a space after each colon and comma. If ascii is true, it escapes all
// non-ASCII characters.
func Encode(v any, ascii bool) string {
	var b strings.Builder
	encodeTo(&b, v, ascii)
	return b.String()
}

func encodeTo(b *strings.Builder, v any, ascii bool) {
	switch v := v.(type) {
	case nil:
		b.WriteString("null")
	case bool:
		b.WriteString(strconv.FormatBool(v))
	case Int:
		b.WriteString(string(v))
	case float64:
		b.WriteString(formatFloat(v))
	case string:
		encodeString(b, v, ascii)
	case *List:
		b.WriteByte('[')
		for i, x := range v.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			encodeTo(b, x, ascii)
		}
		b.WriteByte(']')
	case *Object:
		b.WriteByte('{')
		for i, k := range v.Keys {
			if i > 0 {
				b.WriteString(", ")
			}
			encodeString(b, k, ascii)
			b.WriteString(": ")
			encodeTo(b, v.Members[k], ascii)
		}
		b.WriteByte('}')
	default:
		panic(fmt.Sprintf("conformance: %T is not a JSON value", v))
	}
}

// formatFloat returns the shortest decimal representation of f. It adds .0 to an integral value, so that the result is
// not parsed as an integer.
func formatFloat(f float64) string {
	text := strconv.FormatFloat(f, 'e', -1, 64)
	mantissa, exponent, ok := strings.Cut(text, "e")
	if !ok {
		return text // an infinity has no decimal point
	}
	if n, _ := strconv.Atoi(exponent); n < -4 || n >= 16 {
		return mantissa + "e" + exponent
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

var escapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}

func encodeString(b *strings.Builder, s string, ascii bool) {
	b.WriteByte('"')
	for _, r := range s {
		short, known := escapes[r]
		switch {
		case known:
			b.WriteString(short)
		case r < ' ' || ascii && r > '~' && r <= 0xffff:
			fmt.Fprintf(b, `\u%04x`, r)
		case ascii && r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
}
