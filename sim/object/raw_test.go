package object

import (
	"math"
	"testing"

	"github.com/matryer/is"
)

// A text that JSON would print is parsed as the value itself. Any other text becomes a Raw, which is a different value.
func TestRaw(t *testing.T) {
	for _, c := range []struct {
		text    string
		raw     bool
		compact string
		plain   any
	}{
		{`{"a":1,"b":[true,null]}`, false, `{"a":1,"b":[true,null]}`, map[string]any{"a": int64(1), "b": []any{true, nil}}},
		{`{ "a":1 }`, true, `{"a":1}`, map[string]any{"a": int64(1)}},
		{`{"b":1,"a":2}`, true, `{"b":1,"a":2}`, map[string]any{"a": int64(2), "b": int64(1)}},
		{`{"a":1,"a":2}`, true, `{"a":1,"a":2}`, map[string]any{"a": int64(2)}},
		{`[1.0,-0,1e999]`, true, `[1.0,-0,1e999]`, []any{1.0, int64(0), math.MaxFloat64}},
		{`"<"`, true, `"\u003c"`, "<"},
		{`"\u003c"`, false, `"\u003c"`, "<"},
		{`null`, false, `null`, nil},
	} {
		is := is.New(t)
		at := &Places{Fields: map[string]*Places{"r": {Elem: &Places{Raw: true}}}}
		obj, err := ParseRaw([]byte(`{"o":{"r":[0.50]},"r":[`+c.text+` ,2]}`), at)
		is.NoErr(err)
		is.Equal(obj.Map("o"), map[string]any{"r": []any{0.5}}) // no place of a raw value
		v := obj.List("r")[0]
		_, raw := v.(Raw)
		is.Equal(raw, c.raw)                 // c.text
		is.Equal(string(JSON(v)), c.compact) // as it is shown
		is.Equal(Plain(v), c.plain)          // its value
		is.Equal(Equal(v, c.plain), !raw)    // texts count
		is.True(Equal(v, AsWritten(c.text, c.plain)))
		is.True(Equal(v, Copy(v)))
	}
	_, err := ParseRaw([]byte(`{"r":{"a":1e999}}`), &Places{})
	is.New(t).True(err != nil) // only raw values may have numbers that are too large
}
