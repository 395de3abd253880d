package json

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// pieces are the parts of the input of TestAgainstEncodingJSON: valid and almost valid values.
var pieces = strings.Fields(`{ } [ ] , : " "a" "b" "" "\u00e9" "\ud83d\ude00" "\ud800" "\n" "\x" "é" 0 -0 01 1 -12 1.5 1e3 1e999 99999999999999999999 .5 - true
	false null nul "a":1 "a":{} "b":[ [1,2] {"a":1,"a":[2]} \ /`)

// TestAgainstEncodingJSON compares the scanner with encoding/json for random input.
func TestAgainstEncodingJSON(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		var b strings.Builder
		for range 1 + draw.IntN(8) {
			b.WriteString(pieces[draw.IntN(len(pieces))])
			b.WriteString([]string{"", "", " ", "\n"}[draw.IntN(4)])
		}
		compare(t, b.String())
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2.5,1e3,"x\u00e9\n",null,true,false,{}]}`, `[]`, `01`, `-`, `1.`, `.5`, `1e999`, `"\ud800"`, "\"\x80\"",
		`{"a":1,"a":2}`, `{"a":1,}`, `[1 2]`, ` 1 `, `-0`, `99999999999999999999`, `"a`, `{"a"}`, `nul`, `"` + "\t" + `"`} {
		f.Add(s)
	}
	f.Fuzz(compare)
}

// compare scans a text as a value and in parts, and compares both results with encoding/json.
func compare(t *testing.T, text string) {
	s := Scanner{Text: text}
	v := s.Value()
	s.End()
	if valid := json.Valid([]byte(text)); s.Bad == valid {
		t.Fatalf("%q: bad is %v, encoding/json says that it is valid: %v", text, s.Bad, valid)
	}
	skip := Scanner{Text: text}
	skip.Skip()
	skip.End()
	if skip.Bad != s.Bad {
		t.Fatalf("%q: skipped as bad: %v, read as bad: %v", text, skip.Bad, s.Bad)
	}
	parts(text) // must not panic for any text
	if s.Bad {
		return
	}
	want := reference(text)
	if !reflect.DeepEqual(v, want) {
		t.Fatalf("%q: %#v, encoding/json gives %#v", text, v, want)
	}
	if again := parts(text); !reflect.DeepEqual(again, want) {
		t.Fatalf("%q: its parts are %#v, encoding/json gives %#v", text, again, want)
	}
	if s.Repeats != (len(Repeated(text, "")) > 0) {
		t.Fatalf("%q: repeats is %v, but repeated keys are %q", text, s.Repeats, Repeated(text, ""))
	}
}

// parts parses a value through Members.
func parts(text string) any {
	switch start := space(text, 0); {
	case start < len(text) && text[start] == '{':
		m := map[string]any{}
		for x := range Members(text) {
			if x.Key == "" || x.At < 0 {
				return nil
			}
			m[x.Name()] = parts(x.Value)
		}
		return m
	case start < len(text) && text[start] == '[':
		list := []any{}
		for x := range Members([]byte(text)) {
			list = append(list, parts(string(x.Value)))
		}
		return list
	}
	return (&Scanner{Text: text}).Value()
}

// reference parses valid JSON with encoding/json.
func reference(text string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		n, _ := Number(string(v))
		return n
	case map[string]any:
		for k := range v { // order does not matter
			v[k] = exact(v[k])
		}
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	}
	return v
}

func TestParts(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	const text = `{"kind":"Pod","metadata":{"x":{"name":"no"},"name":"a\"}","uid":"1"},"spec":[{"a":"]"},2]}`
	at := Find(text, "metadata", "name")
	is.Equal(text[at:End(text, at)], `"a\"}"`)                                          // a member of a member
	is.Equal(Find(text, "metadata", "labels"), -1)                                      // no such member
	is.Equal(Find(text, "kind", "name"), -1)                                            // no object on the way
	is.Equal(Find(text), 0)                                                             // the text itself
	is.Equal(Find([]byte(nil), "kind"), -1)                                             // no text
	is.Equal(Repeated(`{"a":[{"b":1,"b":2}],"a":0}`, "x"), []string{"x.a[0].b", "x.a"}) // in their order

	own := Scanner{Text: `["a"]`, Own: true}
	is.Equal(own.Value(), []any{"a"})
	deep := Scanner{Text: strings.Repeat("[", depthMax+2) + strings.Repeat("]", depthMax+2), Spare: 1}
	deep.Skip()
	is.True(deep.Bad)                       // one bracket too many
	is.True(SyntaxError(deep.Text) != nil)  // has an error
	is.True(SyntaxError(`{"a":1,}`) != nil) // the message of encoding/json
	_, ok := Number("1e999")
	is.True(!ok) // too large
}
