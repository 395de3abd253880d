package fieldmanager

import (
	"fmt"

	"sigs.k8s.io/structured-merge-diff/v4/schema"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The types of values without a schema. The first name is predefined in structured-merge-diff.
var (
	freeName = "__untyped_deduced_"
	rawName  = "__untyped_atomic_"
)

// parser returns the kind's type for structured-merge-diff. The first call builds it.
func (m *model) parser() *typed.ParseableType {
	m.once.Do(func() {
		b := &smdBuilder{names: map[*shape]string{}, used: map[string]int{}}
		b.types = []schema.TypeDef{
			{Name: freeName, Atom: b.untyped(freeName, schema.Separable)},
			{Name: rawName, Atom: b.untyped(rawName, schema.Atomic)},
		}
		root := b.ref(m.root)
		m.smd, m.gaps = &typed.ParseableType{Schema: &schema.Schema{Types: b.types}, TypeRef: root}, b.gaps
	})
	return m.smd
}

// smdBuilder converts shapes to a schema of structured-merge-diff. Structures become named types, which may form cycles. All other
// types are inlined.
type smdBuilder struct {
	types []schema.TypeDef
	names map[*shape]string
	used  map[string]int // number of types with each name
	gaps  bool
}

func (b *smdBuilder) untyped(element string, objects schema.ElementRelationship) schema.Atom {
	untyped := schema.Untyped
	return schema.Atom{
		Scalar: &untyped,
		List:   &schema.List{ElementType: schema.TypeRef{NamedType: &rawName}, ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: schema.TypeRef{NamedType: &element}, ElementRelationship: objects},
	}
}

// ref returns a reference to the type of a shape.
func (b *smdBuilder) ref(s *shape) schema.TypeRef {
	switch s.kind {
	case structure:
		return schema.TypeRef{NamedType: b.named(s)}
	case deduced:
		if s.atomic {
			return schema.TypeRef{NamedType: &rawName}
		}
		return schema.TypeRef{NamedType: &freeName}
	case dictionary:
		return schema.TypeRef{Inlined: schema.Atom{Map: &schema.Map{
			ElementType: b.ref(s.elem), ElementRelationship: relationship(s.atomic, schema.Separable)}}}
	case list, set, listMap:
		return schema.TypeRef{Inlined: schema.Atom{List: &schema.List{
			ElementType: b.ref(s.elem), Keys: s.given, ElementRelationship: relationship(s.kind == list, schema.Associative)}}}
	}
	return schema.TypeRef{Inlined: b.scalar(s.accept)}
}

func relationship(atomic bool, otherwise schema.ElementRelationship) schema.ElementRelationship {
	if atomic {
		return schema.Atomic
	}
	return otherwise
}

func (b *smdBuilder) scalar(a accept) schema.Atom {
	kind := schema.Untyped
	switch a {
	case anything:
		return b.untyped(freeName, schema.Separable)
	case numeric:
		kind = schema.Numeric
	case text:
		kind = schema.String
	case boolean:
		kind = schema.Boolean
	}
	return schema.Atom{Scalar: &kind}
}

// named adds the type of a structure, unless it has been added already, and returns its name.
func (b *smdBuilder) named(s *shape) *string {
	name, ok := b.names[s]
	if ok {
		return &name
	}
	name = s.name
	if n := b.used[s.name]; n > 0 || name == "" {
		name = fmt.Sprintf("%s#%d", s.name, n)
	}
	b.used[s.name]++
	b.names[s] = name // before its fields: a type may contain itself
	m := &schema.Map{ElementRelationship: relationship(s.atomic, schema.Separable)}
	for i := range s.fields {
		f := &s.fields[i]
		def := f.def
		if f.optional {
			def, b.gaps = absent, true
		}
		m.Fields = append(m.Fields, schema.StructField{Name: f.name, Type: b.ref(f.shape), Default: def})
	}
	if s.elem != nil {
		m.ElementType = b.ref(s.elem)
	}
	b.types = append(b.types, schema.TypeDef{Name: name, Atom: schema.Atom{Map: m}})
	return &name
}

// whole returns an object on the server with the zero values of its Go struct.
func (m *model) whole(d *resource.Definition, obj object.Object) map[string]any {
	whole, _ := m.root.complete(plain(d, obj)).(map[string]any)
	return whole
}

// complete returns a value with the zero values that are always encoded. It does not change v.
func (s *shape) complete(v any) any {
	if !s.typed {
		return v
	}
	switch s.kind {
	case structure:
		if m, ok := v.(map[string]any); ok {
			return s.completeFields(m)
		}
	case dictionary:
		if m, ok := v.(map[string]any); ok && s.elem.kind != scalar {
			out := make(map[string]any, len(m))
			for name, x := range m { // order does not matter
				out[name] = s.elem.complete(x)
			}
			return out
		}
	case list, set, listMap:
		if l, ok := v.([]any); ok && s.elem.kind != scalar {
			out := make([]any, len(l))
			for i, x := range l {
				out[i] = s.elem.complete(x)
			}
			return out
		}
	}
	return v
}

func (s *shape) completeFields(m map[string]any) map[string]any {
	out := make(map[string]any, len(m)+2)
	for i := range s.fields {
		f := &s.fields[i]
		if v, ok := f.in(m, true); ok {
			out[f.name] = f.shape.complete(v)
		}
	}
	return out
}

// plain returns an object with its raw values parsed, which is the form in which it is merged. If the merge changes nothing, the
// raw values are kept as they were written.
func plain(d *resource.Definition, obj object.Object) map[string]any {
	if d.Places() == nil {
		return obj
	}
	return object.Plain(map[string]any(obj)).(map[string]any)
}
