package schema

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/matryer/is"
)

// definitions returns the published OpenAPI from which the data was generated.
func definitions(t *testing.T) map[string]any {
	t.Helper()
	f, err := os.Open("gen/openapi/1.36.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Schemas map[string]any }
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Schemas
}

// TestPublishedStructure reconstructs each definition of the published OpenAPI from its Type, and checks that nothing is
// lost.
func TestPublishedStructure(t *testing.T) {
	is := is.New(t)
	s := load(t)
	want := definitions(t)
	is.Equal(len(s.Names()), len(want)) // Names are the published definitions
	for _, name := range s.Names() {
		typ := s.Named(name)
		if typ.Kind != Struct {
			continue // written by hand in every implementation
		}
		if got := roundTrip(t, definitionOf(typ)); !reflect.DeepEqual(got, want[name]) {
			t.Errorf("%s\n got %v\nwant %v", name, got, want[name])
		}
	}
}

func roundTrip(t *testing.T, v any) any {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

type document = map[string]any

// definitionOf returns a struct as a component schema.
func definitionOf(t *Type) document {
	out := document{"type": "object"}
	props, required := document{}, []string{}
	for _, f := range t.Fields {
		props[f.Name] = propertyOf(f)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	if len(props) > 0 {
		out["properties"] = props
	}
	if len(required) > 0 {
		out["required"] = required
	}
	if t.MapType != "" {
		out["x-kubernetes-map-type"] = t.MapType
	}
	if t.Unions != "" {
		out["x-kubernetes-unions"] = json.RawMessage(t.Unions)
	}
	var kinds []document
	for _, k := range t.GVKs {
		kinds = append(kinds, document{"group": k.Group, "version": k.Version, "kind": k.Kind})
	}
	if kinds != nil {
		out["x-kubernetes-group-version-kind"] = kinds
	}
	return out
}

func propertyOf(f Field) document {
	out := shapeOf(f.Type)
	if ref := out["$ref"]; ref != nil && !f.PlainRef {
		out = document{"allOf": []any{document{"$ref": ref}}}
	}
	set := func(key, value string) {
		if value != "" {
			out[key] = value
		}
	}
	set("format", f.Format)
	set("x-kubernetes-list-type", f.ListType)
	set("x-kubernetes-map-type", f.MapType)
	set("x-kubernetes-patch-merge-key", f.PatchMergeKey)
	if len(f.PatchStrategy) > 0 {
		text := f.PatchStrategy[0]
		for _, s := range f.PatchStrategy[1:] {
			text += "," + s
		}
		set("x-kubernetes-patch-strategy", text)
	}
	if f.MapKeys != nil {
		out["x-kubernetes-list-map-keys"] = f.MapKeys
	}
	if f.Default != nil {
		out["default"] = f.Default
	}
	return out
}

// shapeOf returns the schema of a property with the type.
func shapeOf(t *Type) document {
	if t.Name != "" {
		return document{"$ref": "#/components/schemas/" + t.Name}
	}
	switch t.Kind {
	case List:
		return document{"type": "array", "items": elementOf(t.Elem)}
	case Map:
		return document{"type": "object", "additionalProperties": elementOf(t.Elem)}
	case Bool:
		return document{"type": "boolean"}
	case Int:
		return document{"type": "integer", "format": map[int]string{32: "int32", 64: "int64"}[t.Bits]}
	case Float:
		return document{"type": "number", "format": "double"}
	case Bytes:
		return document{"type": "string", "format": "byte"}
	default:
		return document{"type": "string"}
	}
}

// elementOf returns the schema of an element. Its default is the zero value of its Go type, unless that type has custom
// JSON encoding.
func elementOf(t *Type) document {
	out := shapeOf(t)
	switch t.Kind {
	case Struct:
		return document{"allOf": []any{out}, "default": document{}}
	case String:
		out["default"] = ""
	case Bool:
		out["default"] = false
	case Int, Float:
		out["default"] = 0
	}
	return out
}
