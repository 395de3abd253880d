package jsoniter

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"testing"
)

// fields reads JSON as structured-merge-diff reads a set of fields: object in object, names in order.
func fields(it *Iterator, names *[]string, depth int) {
	it.ReadMapCB(func(it *Iterator, name string) bool {
		*names = append(*names, name)
		if depth == 0 {
			it.Skip()
			return it.Error == nil
		}
		fields(it, names, depth-1)
		return true
	})
}

// FuzzIterator: what is JSON is read as encoding/json reads it, and nothing makes the Iterator panic.
func FuzzIterator(f *testing.F) {
	for _, text := range []string{`{"f:a":{".":{},"k:{\"b\":1}":{}}}`, `null`, `{"a":null,"b":[1,"x"]}`, `[1,2.5e3,"\u00e9"]`, `{"a"`, `{"a":1,}`, `"`, `{,}`, `}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want any
		valid := json.Unmarshal(data, &want) == nil
		it := IteratorPool{}.BorrowIterator(data)
		got := it.Read()
		if valid && (it.Error != nil || !reflect.DeepEqual(got, want)) {
			t.Fatalf("%s: got %v and %v, want %v", data, got, it.Error, want)
		}
		var names []string
		fields(Parse(ConfigCompatibleWithStandardLibrary, bytes.NewReader(data), 0), &names, 3)

		it = IteratorPool{}.BorrowIterator(data)
		seen := map[string]any{}
		it.ReadObjectCB(func(it *Iterator, name string) bool {
			seen[name] = it.Read()
			return true
		})
		if m, ok := want.(map[string]any); ok && valid && (it.Error != nil || !reflect.DeepEqual(seen, m)) {
			t.Fatalf("%s: the fields are %v, and %v; want %v", data, seen, it.Error, m)
		}
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s := NewStream(ConfigCompatibleWithStandardLibrary, nil, 0).Pool().BorrowStream(&out)
	s.WriteObjectStart()
	s.WriteObjectField("k:{\"a\":\"<\n\x01\"}")
	s.WriteVal(map[string]any{"b": "<", "a": 1.0})
	s.WriteMore()
	s.WriteObjectField("i")
	s.WriteInt(-3)
	s.WriteObjectEnd()
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	const want = `{"k:{\"a\":\"<\n\u0001\"}":{"a":1,"b":"\u003c"},"i":-3}`
	if out.String() != want {
		t.Errorf("got %s, want %s", out.String(), want)
	}
	if s.WriteVal(func() {}); s.Flush() == nil {
		t.Error("what is no JSON is not an error")
	}
	it := IteratorPool{}.BorrowIterator(nil)
	if it.Read(); it.Error != io.EOF {
		t.Errorf("the end is %v, want io.EOF", it.Error)
	}
}
