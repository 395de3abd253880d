package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/schema"
)

// walk converts Go types to schema types. It converts each type only once.
type walk struct {
	pub     *published
	src     *source
	types   map[reflect.Type]*schema.Type
	named   map[string]*schema.Type
	goTypes map[string]reflect.Type // Go types of named
	kinds   map[schema.GVK]*schema.Type
	order   []*schema.Type // in order of discovery, which is the order in the file
	errs    []string
}

// leaf is a Go type with custom JSON encoding.
type leaf struct {
	kind schema.Kind
	elem string // definition name of the struct in a schema.Any
}

const jsonSchemaProps = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"

// leaves are the types with custom JSON encoding, by definition name. gen returns an error if such a type is missing here.
var leaves = map[string]leaf{
	"io.k8s.apimachinery.pkg.apis.meta.v1.Time":                     {kind: schema.Time},
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime":                {kind: schema.MicroTime},
	"io.k8s.apimachinery.pkg.apis.meta.v1.Duration":                 {kind: schema.Duration},
	"io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1":                 {kind: schema.FieldsV1},
	"io.k8s.apimachinery.pkg.api.resource.Quantity":                 {kind: schema.Quantity},
	"io.k8s.apimachinery.pkg.runtime.RawExtension":                  {kind: schema.RawExtension},
	"io.k8s.apimachinery.pkg.util.intstr.IntOrString":               {kind: schema.IntOrString},
	"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": {kind: schema.Any},
	jsonSchemaProps + "OrArray":                                     {kind: schema.Any, elem: jsonSchemaProps},
	jsonSchemaProps + "OrBool":                                      {kind: schema.Any, elem: jsonSchemaProps},
	jsonSchemaProps + "OrStringArray":                               {kind: schema.Any, elem: jsonSchemaProps},
}

func newWalk(pub *published, src *source) *walk {
	return &walk{
		pub:     pub,
		src:     src,
		types:   map[reflect.Type]*schema.Type{},
		named:   map[string]*schema.Type{},
		goTypes: map[string]reflect.Type{},
		kinds:   map[schema.GVK]*schema.Type{},
	}
}

// all converts every kind. It returns an error if a published definition has no type.
func (w *walk) all(registrations []registration) error {
	kinds, err := kindTypes(registrations)
	if err != nil {
		return err
	}
	for _, gvk := range slices.SortedFunc(maps.Keys(kinds), schema.GVK.Compare) {
		w.kinds[gvk] = w.typ(kinds[gvk])
	}
	for _, t := range extraTypes {
		w.typ(t)
	}
	for name := range w.pub.Schemas {
		if w.named[name] == nil {
			w.errorf("no Go type for the published %s", name)
		}
	}
	if len(w.errs) > 0 {
		sort.Strings(w.errs)
		return fmt.Errorf("%s", strings.Join(w.errs, "\n"))
	}
	return nil
}

func (w *walk) errorf(format string, args ...any) {
	w.errs = append(w.errs, fmt.Sprintf(format, args...))
}

// definitionName returns the OpenAPI definition name of a Go type. It consists of the import path, with the host reversed, and the
// type name.
func definitionName(t reflect.Type) string {
	path := t.PkgPath()
	host, rest, ok := strings.Cut(path, "/")
	if !ok {
		return ""
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	return strings.Join(labels, ".") + "." + strings.ReplaceAll(rest, "/", ".") + "." + t.Name()
}

// typ returns the schema type of a Go type that is not a pointer.
func (w *walk) typ(t reflect.Type) *schema.Type {
	if have := w.types[t]; have != nil {
		return have
	}
	s := &schema.Type{GoType: t.String()}
	w.types[t] = s
	w.order = append(w.order, s)
	name := definitionName(t)
	if l, ok := leaves[name]; ok {
		w.name(s, t, name)
		s.Kind = l.kind
		if l.elem != "" {
			s.Elem = w.named[l.elem]
			if s.Elem == nil {
				w.errorf("%s is met before %s", name, l.elem)
			}
		}
		return s
	}
	if writesOwnJSON(t) {
		w.errorf("%s writes its own JSON and is not a leaf", name)
	}
	if t.Kind() == reflect.Struct {
		w.name(s, t, name)
		s.Kind = schema.Struct
		w.fields(s, t, w.pub.Schemas[name], nil, true)
		return s
	}
	w.unnamed(s, t)
	return s
}

// name sets the definition name of s, and the properties with which the definition is published.
func (w *walk) name(s *schema.Type, t reflect.Type, name string) {
	if w.named[name] != nil {
		w.errorf("two Go types are called %s", name)
	}
	def, ok := w.pub.Schemas[name]
	s.Name, s.Published, s.MapType, s.GVKs = name, ok, def.MapType, def.GVKs
	s.Unions = compact(def.Unions)
	w.named[name], w.goTypes[name] = s, t
}

// unnamed sets the properties of a list, a map or a scalar.
func (w *walk) unnamed(s *schema.Type, t reflect.Type) {
	switch t.Kind() {
	case reflect.String:
		s.Kind = schema.String
	case reflect.Bool:
		s.Kind = schema.Bool
	case reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Int:
		s.Kind, s.Bits = schema.Int, t.Bits()
	case reflect.Float64:
		s.Kind = schema.Float
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			s.Kind = schema.Bytes
			return
		}
		s.Kind, s.Message = schema.List, isMessage(t)
		s.Elem, s.ElemPointer = w.elem(t)
	case reflect.Map:
		if t.Key().Kind() != reflect.String || isMessage(t) {
			w.errorf("%s: a map that the format cannot say", t)
		}
		s.Kind = schema.Map
		s.Elem, s.ElemPointer = w.elem(t)
	case reflect.Interface: // a cell of a Table
		s.Kind = schema.Any
	default:
		w.errorf("%s: a Go type that the format cannot say", t)
	}
}

func (w *walk) elem(t reflect.Type) (*schema.Type, bool) {
	e, pointer := deref(t.Elem())
	return w.typ(e), pointer
}

func deref(t reflect.Type) (reflect.Type, bool) {
	if t.Kind() == reflect.Pointer {
		return t.Elem(), true
	}
	return t, false
}

// fields appends the JSON fields of the Go struct t to s. If t itself is inlined in s, inline and inProto describe how.
func (w *walk) fields(s *schema.Type, t reflect.Type, def definition, inline []int, inProto bool) {
	for i := range t.NumField() {
		g := t.Field(i)
		name, options, _ := strings.Cut(g.Tag.Get("json"), ",")
		opts := strings.Split(options, ",")
		switch {
		case name == "-" || !g.IsExported():
			continue
		case name == "" && (g.Anonymous || slices.Contains(opts, "inline")):
			if !g.Anonymous || g.Type.Kind() != reflect.Struct {
				w.errorf("%s.%s: inlined, but not an embedded struct", t, g.Name)
				continue
			}
			n := protoNumber(g.Tag)
			w.fields(s, g.Type, def, append(slices.Clone(inline), n), inProto && n != 0)
			continue
		case name == "":
			w.errorf("%s.%s has no JSON name", t, g.Name)
			continue
		}
		f := w.field(g, name, opts, def)
		if !inProto {
			f.Proto = 0
		}
		if f.Proto != 0 {
			f.Inline = inline
		}
		if slices.ContainsFunc(s.Fields, func(o schema.Field) bool { return o.Name == name }) {
			w.errorf("%s has %s twice", s.GoType, name)
		}
		s.Fields = append(s.Fields, f)
	}
}

// field converts a Go field. It adds the properties that are published for the field.
func (w *walk) field(g reflect.StructField, name string, opts []string, def definition) schema.Field {
	t, pointer := deref(g.Type)
	prop := def.Properties[name]
	f := schema.Field{
		Name:          name,
		Type:          w.typ(t),
		Pointer:       pointer,
		OmitEmpty:     slices.Contains(opts, "omitempty"),
		OmitZero:      slices.Contains(opts, "omitzero"),
		Proto:         protoNumber(g.Tag),
		Required:      slices.Contains(def.Required, name),
		Enum:          w.enum(t),
		Format:        prop.Format,
		ListType:      prop.ListType,
		MapKeys:       prop.MapKeys,
		MapType:       prop.MapType,
		PlainRef:      prop.Ref != "",
		PatchMergeKey: g.Tag.Get("patchMergeKey"),
	}
	if s := g.Tag.Get("patchStrategy"); s != "" {
		f.PatchStrategy = strings.Split(s, ",")
	}
	if d := compact(prop.Default); d != "" {
		f.Default = json.RawMessage(d)
	}
	return f
}

// protoNumber returns the field number in a tag such as `protobuf:"bytes,2,rep,name=containers"`, or 0 if there is none.
func protoNumber(tag reflect.StructTag) int {
	parts := strings.Split(tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		panic("protobuf tag " + strconv.Quote(string(tag)))
	}
	return n
}

func writesOwnJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[json.Unmarshaler]())
}

// isMessage reports whether a named slice or map is a separate protobuf message (+protobuf.nullable).
func isMessage(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[interface{ Unmarshal([]byte) error }]())
}
