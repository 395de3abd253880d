package structural_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// TestIdempotent checks that pruning and defaulting are idempotent, and keep valid objects valid.
func TestIdempotent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := structural.Compile(map[string]any{"type": "object", "properties": map[string]any{"a": randomSchema(r, 3), "b": randomSchema(r, 2)}}, 36)
		v := map[string]any{"a": randomValue(r, 3), "b": randomValue(r, 2), "c": randomValue(r, 1)}
		s.Root().Prune(v)
		s.ApplyDefaults(v)
		once := string(object.JSON(v))
		if unknown := s.Root().Prune(v); len(unknown) > 0 {
			t.Fatalf("%s: pruning again found %v", once, unknown)
		}
		s.ApplyDefaults(v)
		if again := string(object.JSON(v)); again != once {
			t.Fatalf("once %s, again %s", once, again)
		}
		if errs := s.ValidateUpdate(object.Copy(v), v, field.Path{}); len(errs) > 0 && len(s.Validate(v, field.Path{})) == 0 {
			t.Fatalf("%s is valid, but not as an update of itself: %v", once, texts(errs))
		}
	}
}

func randomSchema(r *rand.Rand, depth int) map[string]any {
	kinds := []string{"string", "integer", "boolean", "object", "array"}
	if depth == 0 {
		kinds = kinds[:3]
	}
	m := map[string]any{"type": kinds[r.IntN(len(kinds))]}
	switch m["type"] {
	case "object":
		m["properties"] = map[string]any{"a": randomSchema(r, depth-1), "b": randomSchema(r, depth-1)}
		m["x-kubernetes-preserve-unknown-fields"] = r.IntN(4) == 0
	case "array":
		m["items"] = randomSchema(r, depth-1)
	}
	if r.IntN(3) == 0 {
		m["default"] = randomValue(r, depth)
	}
	m["nullable"] = r.IntN(4) == 0
	return m
}

func randomValue(r *rand.Rand, depth int) any {
	n := r.IntN(7)
	if depth == 0 {
		n = r.IntN(5)
	}
	switch n {
	case 0:
		return "x"
	case 1:
		return int64(r.IntN(3))
	case 2:
		return r.IntN(2) == 0
	case 3:
		return 1.5
	case 4:
		return nil
	case 5:
		m := map[string]any{}
		for _, name := range []string{"a", "b", "c"} {
			if r.IntN(2) == 0 {
				m[name] = randomValue(r, depth-1)
			}
		}
		return m
	}
	return []any{randomValue(r, depth-1), randomValue(r, depth-1)}
}

// TestHostile checks that adversarial schemas and values are not slow to process.
func TestHostile(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	enum := make([]any, 100_000)
	for i := range enum {
		enum[i] = int64(i)
	}
	is.True(len(structural.Parse(map[string]any{"type": "string", "enum": enum}, 36).Validate("x", field.Path{})) > 0) // a huge enum
	s := structural.Parse(map[string]any{"type": "string", "pattern": "^(a+)+$"}, 36)
	is.True(len(s.Validate(strings.Repeat("a", 100_000)+"b", field.Path{})) > 0) // a pattern that is exponential elsewhere
	deep := map[string]any{"type": "string"}
	var v any = int64(1)
	for range 300 {
		deep = map[string]any{"type": "object", "properties": map[string]any{"a": deep}}
		v = map[string]any{"a": v}
	}
	is.True(len(structural.Parse(deep, 36).Validate(v, field.Path{})) > 0) // deep nesting
	many := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	list := make([]any, 20_000)
	for i := range list {
		list[i] = int64(i)
	}
	is.Equal(len(structural.Parse(many, 36).Validate(list, field.Path{})), len(list)) // many errors
}

func FuzzStructural(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string","default":"x","maxLength":1}}}`, `{"a":null,"b":[1,{}]}`)
	f.Add(`{"type":"integer","format":"int32","multipleOf":0}`, `"a"`)
	f.Add(`{"x-kubernetes-list-type":"map","type":"array","items":{"anyOf":[{"not":{}}]}}`, `[{},null,1]`)
	f.Add(`{"additionalProperties":true,"x-kubernetes-embedded-resource":true,"pattern":"("}`, `{"metadata":1,"k":{"a":1}}`)
	f.Fuzz(func(t *testing.T, schemaText, text string) {
		m, err := object.Parse([]byte(schemaText))
		v, err2 := object.ParseValue([]byte(text))
		if err != nil || err2 != nil {
			return // the parsers have their own fuzz targets
		}
		s := structural.Compile(m, 36)
		s.Validate(v, field.Path{})
		s.ValidateUpdate(v, object.Copy(v), field.Root("v"))
		s.CheckLists(v, field.Path{})
		s.CheckEmbedded(v, field.Path{}, meta, 36)
		_, _ = s.Coerce(object.Copy(v), field.Path{}, meta, false)
		s.Root().Prune(v)
		s.ApplyDefaults(v)
		s.TypeOf(nil)
	})
}
