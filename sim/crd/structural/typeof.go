package structural

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// TypeOf returns the type of a resource with the schema, for server-side apply: its fields, which of them are atomic, and
// the keys of list items. meta is the type of metadata. If s is nil, TypeOf returns nil.
func (s *Schema) TypeOf(meta *schema.Type) *schema.Type {
	if s == nil {
		return nil
	}
	t := typer{meta: meta}
	root := *s
	root.Type, root.Embedded = "object", true
	return t.of(&root)
}

// typer converts schemas to types.
type typer struct {
	meta *schema.Type
	open bool // undeclared fields are allowed: the schema, or one above it, has x-kubernetes-preserve-unknown-fields
}

var (
	anyType    = &schema.Type{Kind: schema.Any, GoType: "interface {}"}
	stringType = &schema.Type{Kind: schema.String, GoType: "string"}
	scalars    = map[string]*schema.Type{
		"string":  stringType,
		"integer": {Kind: schema.Int, Bits: 64, GoType: "int64"},
		"number":  {Kind: schema.Float, GoType: "float64"},
		"boolean": {Kind: schema.Bool, GoType: "bool"},
	}
	// formattedType is the type of a string with a format other than byte. As in kube-openapi's schemaconv, server-side apply accepts any
	// scalar there, like in a quantity.
	formattedType   = &schema.Type{Kind: schema.Quantity, GoType: "string"}
	intOrStringType = &schema.Type{Kind: schema.IntOrString, GoType: "intstr.IntOrString"}
)

func (t typer) of(s *Schema) *schema.Type {
	t.open = t.open || s.Preserve
	switch {
	case s.IntOrString:
		return intOrStringType
	case s.Type == "array":
		elem := anyType
		if s.Items != nil {
			elem = t.of(s.Items)
		}
		return &schema.Type{Kind: schema.List, Elem: elem, ListType: s.ListType, MapKeys: s.ListKeys}
	case s.Type == "object" && len(s.Properties) == 0 && !s.Embedded && (s.Additional != nil || s.Free):
		elem := anyType
		if s.Additional != nil {
			elem = t.of(s.Additional)
		}
		return &schema.Type{Kind: schema.Map, Elem: elem, MapType: s.MapType}
	case s.Type == "object":
		return t.structure(s)
	}
	if s.Type == "string" && s.Format != "" && s.Format != "byte" {
		return formattedType
	}
	if scalar := scalars[s.Type]; scalar != nil {
		return scalar
	}
	return anyType
}

func (t typer) structure(s *Schema) *schema.Type {
	var fields []schema.Field
	declared := map[string]bool{}
	if s.Embedded {
		fields = []schema.Field{
			{Name: "apiVersion", Type: stringType, OmitEmpty: true},
			{Name: "kind", Type: stringType, OmitEmpty: true},
		}
		if t.meta != nil {
			fields = append(fields, schema.Field{Name: "metadata", Type: t.meta, OmitEmpty: true})
		}
		declared["apiVersion"], declared["kind"], declared["metadata"] = true, true, t.meta != nil
	}
	for _, name := range s.names {
		p := s.Properties[name]
		if declared[name] {
			continue
		}
		fields = append(fields, schema.Field{Name: name, Type: t.of(p), OmitEmpty: true, Default: object.Copy(p.Default),
			MapType: p.MapType})
	}
	out := schema.NewStruct("", "", fields)
	out.MapType = s.MapType
	if t.open {
		out.Elem = anyType
	}
	return out
}
