package codec

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

func TestPlainJSON(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj, ok := PlainJSON([]byte(`{"a":[1,-2,{"b":"x: #y","c":null}],"d":{"e":"\"\u003c\n"},"f":true}` + "\n"))
	is.True(ok)                                                                                               // as client-go sends it
	is.Equal(string(object.JSON(obj)), `{"a":[1,-2,{"b":"x: #y","c":null}],"d":{"e":"\"\u003c\n"},"f":true}`) // and as it means it
	for _, text := range []string{
		``, `[]`, `a: b`, `{"a":1,"a":2}`, `{"<<":{"a":1}}`, `{"a":1.5}`, `{"a":1e3}`, `{"a":1234567890123456789}`, `{"a":"\/"}`,
		`{"a":"\ud83d\ude00"}`, `{"a":"é"}`, "{\"a\":\n1}", "{\"a\":\t1}", "{\"a\":\"\x7f\"}", `{"a":1} x`, `{"a"}`, `{a:1}`,
		`{"` + strings.Repeat("k", 1100) + `":1}`,
	} {
		_, ok := PlainJSON([]byte(text))
		if ok {
			t.Errorf("%s is taken for plain", text)
		}
	}
}

// FuzzPlainJSON compares PlainJSON with the YAML library: plain JSON has the same value as YAML, and no repeated keys.
func FuzzPlainJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,-2,{"b":"x: #y","c":null}],"d":{"e":"\"\u003c\n"},"f":true}`, `{}`, `{"a":"\u0000\b"}`, `{ "a" : [ ] }`, `{"a":[[],{}]}`,
		`{"yes":"no","1":"0x1","a\nb":"--- #"}`, `{"a":"` + strings.Repeat("long ", 50) + `"}`, `{"":""}`, `{"a":0,"b":[0,1,-0]}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, ok := PlainJSON(data)
		if !ok {
			return
		}
		text, err := YAMLToJSON(data)
		if err != nil {
			t.Fatalf("%q: as YAML: %v", data, err)
		}
		want, err := object.Parse(text)
		if err != nil || !object.Equal(map[string]any(got), map[string]any(want)) {
			t.Fatalf("%q is %s, as YAML %s (%v)", data, object.JSON(got), text, err)
		}
		if repeated := repeatedKeys(data); repeated != nil {
			t.Fatalf("%q: as YAML: %v", data, repeated)
		}
	})
}
