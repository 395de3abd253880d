package structural_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return obj
}

// value parses {"v": …} and returns v, so that a case can be any value.
func value(t testing.TB, text string) any { return parse(t, `{"v":`+text+`}`)["v"] }

func TestPrune(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, schema, in, out, unknown string }{
		{"declared", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, `{"a":"x"}`, ``},
		{"unknown", `{"type":"object","properties":{"a":{"type":"object"}}}`, `{"b":1,"a":{"c":2}}`, `{"a":{}}`, `a.c b`},
		{"lists", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string"}}}}}}`,
			`{"l":[{"a":"x","b":1},{"c":{}}]}`, `{"l":[{"a":"x"},{}]}`, `l[0].b l[1].c`},
		{"preserved", `{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"object"}}}`,
			`{"a":{"x":1},"b":{"y":2}}`, `{"a":{},"b":{"y":2}}`, `a.x`},
		{"any key", `{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			`{"k":{"a":"x","b":1}}`, `{"k":{"a":"x"}}`, `k.b`},
		{"envelope of the root", `{"type":"object"}`, `{"kind":"K","apiVersion":"v","metadata":{"name":"n"},"x":1}`,
			`{"apiVersion":"v","kind":"K","metadata":{"name":"n"}}`, `x`},
		{"embedded", `{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true}}}`,
			`{"e":{"kind":"K","metadata":{"x":1},"spec":{}}}`, `{"e":{"kind":"K","metadata":{"x":1}}}`, `e.spec`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			v := parse(t, x.in)
			unknown := structural.Compile(parse(t, x.schema), 36).Root().Prune(v)
			is.Equal(string(object.JSON(v)), x.out)
			is.Equal(strings.Join(unknown, " "), x.unknown) // sorted paths
		})
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	const nested = `{"type":"object","properties":{"n":{"type":"integer","default":1},"o":{"type":"object","default":{"a":"x"},
		"properties":{"a":{"type":"string"},"b":{"type":"string","default":"y"}}}}}`
	for _, x := range []struct{ name, schema, in, out string }{
		{"nothing there", nested, `{}`, `{"n":1,"o":{"a":"x","b":"y"}}`},
		{"something there", nested, `{"n":0,"o":{}}`, `{"n":0,"o":{"b":"y"}}`},
		{"null has the default", nested, `{"n":null,"o":null}`, `{"n":1,"o":{"a":"x","b":"y"}}`},
		{"null goes without one", `{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":null}`, `{}`},
		{"nullable stays null", `{"type":"object","properties":{"a":{"type":"string","nullable":true,"default":"x"}}}`, `{"a":null}`, `{"a":null}`},
		{"in lists", `{"type":"object","properties":{"l":{"type":"array","items":{"type":"object","properties":{"a":{"type":"string","default":"x"}}}}}}`,
			`{"l":[{},{"a":"y"}]}`, `{"l":[{"a":"x"},{"a":"y"}]}`},
		{"of any key", `{"type":"object","additionalProperties":{"type":"string","default":"x"}}`, `{"k":null}`, `{"k":"x"}`},
		{"pruned", `{"type":"object","properties":{"o":{"type":"object","default":{"z":1}}}}`, `{}`, `{"o":{}}`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			v := parse(t, x.in)
			structural.Compile(parse(t, x.schema), 36).ApplyDefaults(v)
			is.Equal(string(object.JSON(v)), x.out)
		})
	}
}

// TestMetadataDefaults checks that the defaults for the metadata of an embedded resource have the fields that an ObjectMeta has, whether
// or not the schema declares them.
func TestMetadataDefaults(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	onlyName := func(metadata any) (map[string]any, []string, error) {
		out := map[string]any{}
		if m, _ := metadata.(map[string]any); m["name"] != nil {
			out["name"] = m["name"]
		}
		return out, nil, nil
	}
	s := structural.Compile(parse(t, `{"type":"object","properties":{
		"whole":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","default":{"name":"a","other":"b"}}}},
		"fields":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{
			"name":{"type":"string","default":"a"},"other":{"type":"string","default":"b"}}}}},
		"plain":{"type":"object","properties":{"metadata":{"type":"object","properties":{"other":{"type":"string","default":"b"}}}}}}}`), 36)
	s.PruneMetadata(onlyName)
	v := parse(t, `{"whole":{},"fields":{"metadata":{}},"plain":{"metadata":{}}}`)
	s.ApplyDefaults(v)
	is.Equal(string(object.JSON(v)), `{"fields":{"metadata":{"name":"a"}},"plain":{"metadata":{"other":"b"}},"whole":{"metadata":{"name":"a"}}}`)
}

// TestWhole checks that a value is whole if and only if decoding would not change it.
func TestWhole(t *testing.T) {
	const schema = `{"type":"object","properties":{"spec":{"type":"object","properties":{
		"a":{"type":"string","default":"x"},"b":{"type":"string"},"n":{"type":"string","nullable":true},
		"l":{"type":"array","items":{"type":"object","properties":{"c":{"type":"integer","default":1}}}},
		"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}}`
	for _, x := range []struct {
		object string
		want   bool
	}{
		{`{"kind":"K","metadata":{"name":"m"},"spec":{"a":"y","b":"z","n":null,"l":[{"c":1}],"free":{"q":{"r":1}}}}`, true},
		{`{"kind":"K"}`, true},
		{`{"spec":{"b":"z"}}`, false},
		{`{"spec":{"a":"y","b":null}}`, false},
		{`{"spec":{"a":"y","l":[{}]}}`, false},
		{`{"spec":{"a":"y","other":1}}`, false},
		{`{"spec":{"a":"y"},"other":1}`, false},
	} {
		t.Run(x.object, func(t *testing.T) {
			is := is.New(t)
			s := structural.Compile(parse(t, schema), 36)
			v, before := parse(t, x.object), parse(t, x.object)
			is.Equal(s.Root().Whole(v), x.want)
			is.Equal(v, before) // nothing is changed
			s.Root().Prune(v)
			s.ApplyDefaults(v)
			is.Equal(object.Equal(v, before), x.want) // nor by decoding
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, schema, in, want string }{
		{"type", `{"type":"integer"}`, `"a"`, `v: Invalid value: "string": v in body must be of type integer: "string"`},
		{"whole float", `{"type":"integer"}`, `1.0`, ``},
		{"fraction", `{"type":"integer"}`, `1.5`,
			`v: Invalid value: "number": v in body must be of type integer: "number"; <nil>: Invalid value: "": Checked value must be of type integer (default format) in v`},
		{"null", `{"type":"string"}`, `null`, `v: Invalid value: "null": v in body must be of type string: "null"`},
		{"nullable", `{"type":"string","nullable":true}`, `null`, ``},
		{"int or string", `{"x-kubernetes-int-or-string":true}`, `[]`, `v: Invalid value: "array": v in body must be of type integer,string: "array"`},
		{"enum", `{"type":"string","enum":["a","b"]}`, `"c"`, `v: Unsupported value: "c": supported values: "a", "b"`},
		{"enum of numbers", `{"type":"number","enum":[1,2.5]}`, `2`, `v: Unsupported value: 2: supported values: "1", "2.5"`},
		{"maximum", `{"type":"integer","maximum":3}`, `4`, `v: Invalid value: 4: v in body should be less than or equal to 3`},
		{"exclusive", `{"type":"number","minimum":0.5,"exclusiveMinimum":true}`, `0.5`, `v: Invalid value: 0.5: v in body should be greater than 0.5`},
		{"multiple", `{"type":"integer","multipleOf":3}`, `4`, `v: Invalid value: 4: v in body should be a multiple of 3`},
		{"int32", `{"type":"integer","format":"int32"}`, `4294967296`, `<nil>: Invalid value: "": Checked value must be of type integer with format int32 in v`},
		{"format without a rule for strings", `{"type":"integer","format":"int32"}`, `"a"`, `v: Invalid value: "string": v in body must be of type integer: "string"`},
		{"length", `{"type":"string","maxLength":1}`, `"äö"`, `v: Too long: may not be more than 1 byte`},
		{"short", `{"type":"string","minLength":2}`, `"ä"`, `v: Invalid value: "ä": v in body should be at least 2 chars long`},
		{"pattern", `{"type":"string","pattern":"^a"}`, `"b"`, `v: Invalid value: "b": v in body should match '^a'`},
		{"date-time", `{"type":"string","format":"date-time"}`, `"now"`, `v: Invalid value: "now": v in body must be of type date-time: "now"`},
		{"items", `{"type":"array","items":{"type":"string"},"minItems":3}`, `["a",1]`,
			`v[1]: Invalid value: "integer": v[1] in body must be of type string: "integer"; v: Invalid value: 2: v in body should have at least 3 items`},
		{"many items", `{"type":"array","items":{"type":"string"},"maxItems":1}`, `["a","b"]`, `v: Too many: 2: must have at most 1 item`},
		{"properties", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"],"minProperties":3}`, `{"a":1}`,
			`v: Invalid value: 1: v in body should have at least 3 properties; v.a: Invalid value: "integer": v.a in body must be of type string: "integer"; v.b: Required value`},
		{"closed", `{"type":"object","additionalProperties":false}`, `{"a":1}`, `v: Invalid value: "a": v.a in body is a forbidden property`},
		{"anyOf", `{"type":"object","anyOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`,
			`<nil>: Invalid value: "": "v" must validate at least one schema (anyOf); v.a: Required value`},
		{"oneOf", `{"type":"object","oneOf":[{"maxProperties":1},{"maxProperties":2}]}`, `{}`,
			`<nil>: Invalid value: "": "v" must validate one and only one schema (oneOf). Found 2 valid alternatives`},
		{"allOf", `{"type":"string","allOf":[{"minLength":2},{"pattern":"b"}]}`, `"a"`,
			`v: Invalid value: "a": v in body should be at least 2 chars long; v: Invalid value: "a": v in body should match 'b'; <nil>: Invalid value: "": "v" must validate all the schemas (allOf). None validated`},
		{"not", `{"type":"string","not":{"minLength":1}}`, `"a"`, `<nil>: Invalid value: "": "v" must not validate the schema (not)`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			s := structural.Parse(parse(t, `{"type":"object","properties":{"v":`+x.schema+`}}`), 36)
			is.Equal(texts(s.Validate(map[string]any{"v": value(t, x.in)}, field.Path{})), x.want) // same wording as the real server
		})
	}
}

func texts(errs field.ErrorList) string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return strings.Join(out, "; ")
}

func TestValidateUpdate(t *testing.T) {
	t.Parallel()
	s := structural.Parse(parse(t, `{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"},
		"m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"string","pattern":"^v"}}}},
		"l":{"type":"array","items":{"type":"string","pattern":"^v"}}}}`), 36)
	for _, x := range []struct{ name, old, now, want string }{
		{"unchanged stays", `{"a":"bad","n":1}`, `{"a":"bad","n":2}`, ``},
		{"changed does not", `{"a":"bad"}`, `{"a":"worse"}`, `a: Unsupported value: "worse": supported values: "x"`},
		{"items of a map by key", `{"m":[{"k":"a","v":"bad"},{"k":"b","v":"v"}]}`, `{"m":[{"k":"b","v":"v"},{"k":"a","v":"bad"}]}`, ``},
		{"a new item", `{"m":[{"k":"a","v":"bad"}]}`, `{"m":[{"k":"a","v":"bad"},{"k":"c","v":"no"}]}`, `m[1].v: Invalid value: "no": m[1].v in body should match '^v'`},
		{"lists only as a whole", `{"l":["bad"]}`, `{"l":["bad","v"]}`, `l[0]: Invalid value: "bad": l[0] in body should match '^v'`},
		{"lists as a whole", `{"l":["bad"],"n":1}`, `{"l":["bad"],"n":2}`, ``},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(texts(s.ValidateUpdate(parse(t, x.now), parse(t, x.old), field.Path{})), x.want)
		})
	}
}

func TestCheckLists(t *testing.T) {
	t.Parallel()
	const set = `{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}`
	const one = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object"}}`
	const two = `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b"],"items":{"type":"object"}}`
	for _, x := range []struct{ name, schema, in, want string }{
		{"set", set, `["a","b","a","a"]`, `v[2]: Duplicate value: "a"`},
		{"integer and float", set, `[1,1.0]`, ``},
		{"map", one, `[{"a":1},{"a":2},{"a":1,"c":3}]`, `v[2]: Duplicate value: {"a":1}`},
		{"without the key", one, `[{},{"c":1}]`, `v[1]: Duplicate value: {}`},
		{"two keys", two, `[{"a":1,"b":2},{"a":1},{"a":1,"b":2}]`, `v[2]: Duplicate value: {"a":1,"b":2}`},
		{"no object", one, `[{"a":1},2]`, `v[1]: Invalid value: 2: must be an object for an array of list-type map`},
	} {
		t.Run(x.name, func(t *testing.T) {
			is := is.New(t)
			is.Equal(texts(structural.Parse(parse(t, x.schema), 36).CheckLists(value(t, x.in), field.Root("v"))), x.want)
		})
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	for format, cases := range map[string][2][]string{ // valid and invalid values
		"date":           {{"2024-02-29"}, {"2023-02-29", "2024-2-1", ""}},
		"date-time":      {{"2024-01-01T00:00:00Z", "2024-01-01t00:00:00.5+01:00"}, {"2024-01-01", "2024-13-01T00:00:00Z", "2024-01-01T24:00:00Z"}},
		"duration":       {{"1h30m", "22 seconds"}, {"soon", ""}},
		"ipv4":           {{"10.0.0.1", "010.0.0.1"}, {"10.0.0", "::1"}},
		"ipv6":           {{"::1"}, {"10.0.0.1", "fe80::1%eth0"}},
		"cidr":           {{"10.0.0.0/8", "10.1.2.3/8", "::/0"}, {"10.0.0.0", "10.0.0.0/40"}},
		"mac":            {{"00:00:5e:00:53:01"}, {"00:00:5e:00:53"}},
		"uuid":           {{"f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "F81D4FAE7DEC11D0A76500A0C91E6BF6"}, {"f81d4fae"}},
		"uuid4":          {{"f81d4fae-7dec-41d0-a765-00a0c91e6bf6"}, {"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"}},
		"email":          {{"a@example.com"}, {"a"}},
		"hostname":       {{"a.example.com", "localhost"}, {"a..b", "-a.com", "a.b-"}},
		"uri":            {{"https://a/b", "/a"}, {"a b", ""}},
		"byte":           {{"aGk="}, {"aGk", "%"}},
		"hexcolor":       {{"#fff", "00ff00"}, {"#ffff"}},
		"rgbcolor":       {{"rgb(1, 2,255)"}, {"rgb(1,2,256)", "rgb(1,2)"}},
		"isbn":           {{"0321751043", "978-0321751041"}, {"0321751044", "978"}},
		"creditcard":     {{"4111 1111 1111 1111"}, {"4111 1111 1111 1112"}},
		"ssn":            {{"111-22-3333"}, {"111-22-33333"}},
		"bsonobjectid":   {{"507f1f77bcf86cd799439011"}, {"507f"}},
		"password":       {{"", "x"}, nil},
		"k8s-short-name": {{"a-b"}, {"A", "a.b"}},
		"k8s-long-name":  {{"a.b-c"}, {"A", "a..b"}},
		"made-up":        {{"anything"}, nil},
	} {
		s := structural.Parse(map[string]any{"type": "string", "format": format}, 36)
		for i, list := range cases {
			for _, text := range list {
				if valid := len(s.Validate(text, field.Path{})) == 0; valid != (i == 0) {
					t.Errorf("%s %q: valid is %v", format, text, valid)
				}
			}
		}
	}
}

// meta implements Meta with the name as the only known field.
func meta(v any) (map[string]any, []string, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil, errors.New("no metadata")
	}
	out := map[string]any{}
	var unknown []string
	for _, name := range object.SortedKeys(m) {
		if name == "name" {
			out[name] = m[name]
		} else {
			unknown = append(unknown, name)
		}
	}
	return out, unknown, nil
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := structural.Parse(parse(t, `{"type":"object","properties":{"e":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}}`), 36)
	v := parse(t, `{"e":{"kind":"Wid get","apiVersion":"a/b/c","metadata":{"name":"x","nope":1}}}`)
	unknown, bad := s.Coerce(v, field.Path{}, meta, false)
	is.True(bad == nil)
	is.Equal(unknown, []string{"e.metadata.nope"}) // reported like pruned fields
	errs := texts(s.CheckEmbedded(v, field.Path{}, meta, 36))
	is.True(strings.Contains(errs, "e.apiVersion: Invalid value: \"a/b/c\": unexpected GroupVersion string: a/b/c"))
	is.True(strings.Contains(errs, "e.kind: Invalid value: \"Wid get\": may have mixed case, but should otherwise match: a DNS-1035 label"))
	is.Equal(texts(s.CheckEmbedded(parse(t, `{"e":{}}`), field.Path{}, meta, 36)), "e.apiVersion: Required value; e.kind: Required value")
	v = parse(t, `{"e":{"kind":1,"metadata":"x"}}`)
	_, bad = s.Coerce(v, field.Path{}, meta, false)
	is.Equal(bad.Error(), "e.kind: Invalid value: 1: must be a string")
	_, bad = s.Coerce(v, field.Path{}, meta, true)
	is.True(bad == nil)
	is.Equal(string(object.JSON(v)), `{"e":{}}`) // invalid values in stored objects are dropped
}

func TestTypeOf(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	typ := structural.Parse(parse(t, `{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"object","additionalProperties":{"type":"string"}},
		"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string","default":"d"}}}},
		"p":{"type":"object","x-kubernetes-preserve-unknown-fields":true},"x":{"x-kubernetes-int-or-string":true}}}`), 36).TypeOf(&schema.Type{Kind: schema.Struct})
	is.Equal(typ.Field("n").Type.Kind, schema.Int)
	is.Equal(typ.Field("m").Type.Kind, schema.Map)
	is.Equal(typ.Field("l").Type.ListType, "map")
	is.Equal(typ.Field("l").Type.MapKeys, []string{"k"})
	is.Equal(typ.Field("l").Type.Elem.Field("k").Default, "d")
	is.True(typ.Field("p").Type.Elem != nil) // undeclared fields are kept
	is.Equal(typ.Field("x").Type.Kind, schema.IntOrString)
	is.True(typ.Field("metadata") != nil) // without a declaration
	var none *structural.Schema
	is.True(none.TypeOf(nil) == nil)
}
