package engine

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/schema"
)

func mustSchema(t testing.TB) *schema.Set {
	set, err := schema.Load(schema.Default)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func mustWire(t testing.TB, gvk schema.GVK, text string) []byte {
	obj, _, err := codec.DecodeJSON([]byte(text), mustSchema(t).Kind(gvk))
	if err != nil {
		t.Fatal(err)
	}
	return codec.AppendEnvelope(nil, gvk, codec.AppendProto(nil, obj, mustSchema(t).Kind(gvk)))
}

// find returns the first field with the name, at any depth.
func find(fields []wireField, name string) *wireField {
	for i := range fields {
		if fields[i].Name == name {
			return &fields[i]
		}
		if f := find(fields[i].Children, name); f != nil {
			return f
		}
	}
	return nil
}

func TestOpenWire(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	gvk := schema.GVK{Version: "v1", Kind: "Pod"}
	body := mustWire(t, gvk, `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","labels":{"app":"x"},"creationTimestamp":"2026-01-01T00:00:00Z"},
		"spec":{"volumes":[{"name":"v","hostPath":{"path":"/tmp"}}],"containers":[{"name":"c","resources":{"limits":{"cpu":"1500m"}},
		"livenessProbe":{"httpGet":{"path":"/","port":"http"}}}],"hostNetwork":true}}`)
	fields, ok := openWire(body, mustSchema(t).Kind)
	is.True(ok) // the envelope opens
	is.Equal(find(fields, "kind").Value, `"Pod"`)
	is.Equal(find(fields, "raw").Type, "Pod")
	for name, want := range map[string]string{ // order does not matter: each is looked up
		"seconds": "1767225600", "key": `"app"`, "path": `"/tmp"`, "string": `"1500m"`, "strVal": `"http"`, "hostNetwork": "true",
	} {
		f := find(fields, name)
		is.True(f != nil)       // the field is found by its name in JSON
		is.Equal(f.Value, want) // and shown as a value
		is.True(f.Offset > 3)   // after the magic
		is.True(len(body) >= f.Offset+f.Length)
	}
	_, ok = openWire([]byte(`{"kind":"Pod"}`), mustSchema(t).Kind)
	is.True(!ok) // JSON is no such body
}

// FuzzOpenWire checks that arbitrary bytes are decoded without a panic, that fields follow each other without a gap,
// and that the bytes of a nested field are part of the outer field.
func FuzzOpenWire(f *testing.F) {
	f.Add(mustWire(f, schema.GVK{Version: "v1", Kind: "ConfigMap"}, `{"metadata":{"name":"a"},"data":{"k":"v"}}`))
	f.Add([]byte(wireMagic + "\x0a\xff\xff"))
	set := mustSchema(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, ok := openWire(body, set.Kind)
		if !ok {
			return
		}
		end := len(wireMagic)
		for _, x := range fields {
			if x.Offset != end {
				t.Errorf("field %d begins at %d, want %d", x.Field, x.Offset, end)
			}
			end = x.Offset + x.Length
			within(t, x)
		}
		if end != len(body) {
			t.Errorf("fields end at %d of %d", end, len(body))
		}
	})
}

func within(t *testing.T, f wireField) {
	for _, c := range f.Children {
		if c.Offset < f.Offset || c.Offset+c.Length > f.Offset+f.Length {
			t.Errorf("field %d at %d+%d is outside of %d+%d", c.Field, c.Offset, c.Length, f.Offset, f.Length)
		}
		within(t, c)
	}
}
