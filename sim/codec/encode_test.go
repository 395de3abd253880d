package codec

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// pieces returns a struct with fields of all print rules.
func pieces() *schema.Type {
	text := &schema.Type{Kind: schema.String, GoType: "string"}
	number := &schema.Type{Kind: schema.Int, Bits: 32, GoType: "int32"}
	list := &schema.Type{Kind: schema.List, GoType: "[]string", Elem: text}
	inner := schema.NewStruct("", "v1.Inner", []schema.Field{{Name: "n", Type: number}})
	moment := &schema.Type{Kind: schema.Time, GoType: "v1.Time"}
	field := func(name string, t *schema.Type) schema.Field { return schema.Field{Name: name, Type: t, Proto: 1} }
	fields := []schema.Field{
		field("always", text), field("empty", text), field("ptr", number), field("ptrEmpty", number),
		field("list", list), field("listEmpty", list), field("inner", inner), field("innerZero", inner),
		field("time", moment), field("timeZero", moment),
	}
	for i := range fields {
		switch f := &fields[i]; f.Name {
		case "empty", "listEmpty":
			f.OmitEmpty = true
		case "ptr":
			f.Pointer = true
		case "ptrEmpty":
			f.Pointer, f.OmitEmpty = true, true
		case "innerZero", "timeZero":
			f.OmitZero, f.OmitEmpty = true, true
		}
	}
	return schema.NewStruct("", "v1.Pieces", fields)
}

func TestPresence(t *testing.T) {
	for _, c := range []struct {
		name string
		in   object.Object
		want string
	}{
		{"nothing", object.Object{}, `{"always":"","ptr":null,"list":null,"inner":{"n":0},"time":null}`},
		{"zero values", object.Object{"always": "", "empty": "", "ptr": int64(0), "ptrEmpty": int64(0), "list": []any{}, "listEmpty": []any{},
			"inner": map[string]any{}, "innerZero": map[string]any{"n": int64(0)}},
			`{"always":"","ptr":0,"ptrEmpty":0,"list":null,"inner":{"n":0},"time":null}`},
		{"values", object.Object{"empty": "<", "listEmpty": []any{"a"}, "innerZero": map[string]any{"n": int64(2)}, "timeZero": "2026-01-01T00:00:00Z"},
			`{"always":"","empty":"\u003c","ptr":null,"list":null,"listEmpty":["a"],"inner":{"n":0},"innerZero":{"n":2},"time":null,"timeZero":"2026-01-01T00:00:00Z"}`},
		{"unknown fields are left out", object.Object{"other": "x", "inner": map[string]any{"m": "y"}},
			`{"always":"","ptr":null,"list":null,"inner":{"n":0},"time":null}`},
		{"null is absent", object.Object{"always": nil, "empty": nil, "inner": nil, "ptrEmpty": nil},
			`{"always":"","ptr":null,"list":null,"inner":{"n":0},"time":null}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			is := is.New(t)
			kind := pieces()
			is.Equal(string(Append([]byte("x"), c.in, kind)), "x"+c.want) // appended, in the order of the struct
			checkReread(t, c.in, kind)
		})
	}
}

func TestAppendDoesNotAllocate(t *testing.T) {
	is := is.New(t)
	pod := typeOf(t, "", "v1", "Pod")
	obj, _, err := DecodeJSON([]byte(podJSON), pod)
	is.NoErr(err)
	buf := make([]byte, 0, 4096)
	is.Equal(string(Append(buf, obj, pod)), podJSON)                                    // canonical text stays as it is
	is.Equal(testing.AllocsPerRun(20, func() { buf = Append(buf[:0], obj, pod) }), 0.0) // encoding does not allocate
}

func TestUnions(t *testing.T) {
	kind := typeOf(t, "apiextensions.k8s.io", "v1", "CustomResourceDefinition")
	props := kind.Field("spec").Type.Field("versions").Type.Elem.Field("schema").Type.Field("openAPIV3Schema").Type
	for _, c := range []struct{ in, want, err string }{
		{`{"items":{"type":"string","foo":1}}`, `{"items":{"type":"string"}}`, ""},
		{`{"items":[{"type":"string"}]}`, `{"items":[{"type":"string"}]}`, ""},
		{`{"additionalProperties":true}`, `{"additionalProperties":true}`, ""},
		{`{"additionalProperties":false}`, `{"additionalProperties":false}`, ""},
		{`{"additionalProperties":{"type":"string"}}`, `{"additionalProperties":{"type":"string"}}`, ""},
		{`{"additionalProperties":"x"}`, "", "boolean or JSON schema expected"},
		{`{"dependencies":{"a":["b"],"c":{"type":"object"}}}`, `{"dependencies":{"a":["b"],"c":{"type":"object"}}}`, ""},
		{`{"default":{"b":1,"a":null}}`, `{"default":{"a":null,"b":1}}`, ""},
		{`{"items":{"type":5}}`, "", "json: cannot unmarshal number into Go struct field JSONSchemaProps.items.type of type string"},
	} {
		is := is.New(t)
		obj, strict, err := DecodeJSON([]byte(c.in), props)
		if c.err != "" {
			is.True(err != nil)          // refused
			is.Equal(err.Error(), c.err) // the message of the type
			continue
		}
		is.NoErr(err)                                     // a schema or the other value of the union
		is.Equal(len(strict), 0)                          // unknown fields inside are not reported
		is.Equal(string(Append(nil, obj, props)), c.want) // printed as it came
	}
}
