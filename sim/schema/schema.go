// Package schema provides the structure of the API's types as data, generated from the tags of the Go structs in
// k8s.io/api and their published OpenAPI.
//
//	Set (one Kubernetes minor) ── Kind(gvk) ──▶ *Type Deployment
//	                                             ├─ Field metadata ──▶ *Type ObjectMeta
//	                                             ├─ Field spec     ──▶ *Type DeploymentSpec
//	                                             │                      ├─ Field replicas ──▶ *Type int32, Pointer
//	                                             │                      └─ Field template ──▶ *Type PodTemplateSpec …
//	                                             └─ Field status   ──▶ *Type DeploymentStatus
//
// This graph determines decoding and its error texts, unknown fields, the order in which fields are encoded, zero values
// that are always present, protobuf, strategic merge patch, server-side apply and OpenAPI. Types are decoded from the
// embedded data when a kind is first used, and are shared by all Clusters of the process. A Type is immutable once it has
// been returned.
package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/object"
)

// Kind is the JSON form of a type's values. It determines how the Go type encodes and decodes them.
type Kind uint8

const (
	Struct       Kind = iota // an object with Fields
	Map                      // an object with string keys and Elem values
	List                     // an array of Elem
	String                   // a string; Type.GoType may be a named string ("v1.PodPhase")
	Bool                     // a boolean
	Int                      // an integer; Bits is 32 or 64 (or 8 for bytes of a plain uint8)
	Float                    // a floating point number (float64)
	Bytes                    // []byte: base64 (RFC 4648, padded) in JSON
	Time                     // metav1.Time: RFC 3339, seconds, UTC; null when zero
	MicroTime                // metav1.MicroTime: RFC 3339 with six fractional digits, UTC; null when zero
	Duration                 // metav1.Duration: a Go duration string
	Quantity                 // resource.Quantity: canonicalised string ("1000m" becomes "1"); numbers are accepted
	IntOrString              // intstr.IntOrString: an int32 or a string
	RawExtension             // runtime.RawExtension: any JSON value, kept unchanged
	Any                      // apiextensions JSON: any JSON value, kept unchanged
	FieldsV1                 // metav1.FieldsV1: a JSON object, kept unchanged
)

// Type is a structural type. It is shared and read-only.
type Type struct {
	Name   string // OpenAPI definition name, "io.k8s.api.core.v1.PodSpec"; "" for lists, maps and plain scalars
	GoType string // in the format of reflect: "v1.PodSpec", "[]v1.Container", "map[string]string", "int32"
	Kind   Kind
	Bits   int     // of Int
	Fields []Field // of Struct, in Go declaration order with inlined structs in place: the order of encoding

	// Elem is the type of the elements of a List or Map; for a list or map of pointers, the type pointed to. For an Any
	// it is nil, or the struct that the value may contain: a "v1.JSONSchemaPropsOrBool" that is an object is a
	// JSONSchemaProps, and so is each object in the array of a "v1.JSONSchemaPropsOrArray". Other values are kept
	// unchanged.
	Elem *Type

	// ListType and MapKeys of a List are x-kubernetes-list-type and x-kubernetes-list-map-keys in the schema of a custom resource, where
	// the elements of lists and maps have them too. In a built-in type, only a Field has them.
	ListType string
	MapKeys  []string

	ElemPointer bool // of List and Map: elements are Go pointers (a null element stays null)
	Message     bool // of List: in protobuf a message whose field 1 repeats the elements ("v1.ExtraValue", "v1.Verbs")

	Published bool   // a definition of the published OpenAPI
	MapType   string // x-kubernetes-map-type of the definition: "", atomic
	GVKs      []GVK  // x-kubernetes-group-version-kind of the definition, as published
	Unions    string // x-kubernetes-unions of the definition, as published JSON; "" if there are none

	index map[string]int // JSON name → position in Fields

	derived atomic.Value // see Derived
}

// Derived returns the result of derive for a type. The result is stored in the type. Later calls return the same value, which
// must not be modified. A Type stores only one such value: the codec's protobuf message. Derived panics if the value has a
// different Go type.
func Derived[T any](t *Type, derive func(*Type) T) T {
	if v := t.derived.Load(); v != nil {
		return v.(T)
	}
	t.derived.CompareAndSwap(nil, derive(t))
	return t.derived.Load().(T)
}

// Field is one JSON field of a Struct.
type Field struct {
	Name      string // JSON name
	Type      *Type
	Pointer   bool // the Go field is a pointer: missing is nil, and zero values are encoded
	OmitEmpty bool // encoding/json omitempty
	OmitZero  bool // encoding/json omitzero
	Proto     int  // protobuf field number; 0 means not in protobuf

	// Inline contains the field numbers of the messages around an inlined field, outermost first. A Go struct that is
	// inlined in JSON is a separate message in protobuf: hostPath of Volume is field 1 of volumeSource, which is field 2
	// of Volume, so Proto is 1 and Inline is [2]. Such a message is always encoded, even if it is empty. Inline is nil if
	// the field is in the struct's own message.
	Inline []int

	Required bool     // listed as required in the published OpenAPI
	Default  any      // default in the published OpenAPI (including the generator's {} and ""), nil if there is none
	Enum     []string // published values, sorted, of the field or of the elements of a list or map; not validated
	Format   string   // OpenAPI format
	PlainRef bool     // published only as a $ref (the Go field has no comment), not as an allOf with one

	ListType      string   // x-kubernetes-list-type: "", atomic, set, map
	MapKeys       []string // x-kubernetes-list-map-keys
	MapType       string   // x-kubernetes-map-type: "", granular, atomic
	PatchStrategy []string // patchStrategy tag: merge, replace, retainKeys
	PatchMergeKey string   // patchMergeKey tag

	printRule PrintRule // see PrintRule
}

// PrintRule is the condition under which a field is encoded.
type PrintRule uint8

const (
	Always   PrintRule = iota
	NotNil             // a pointer with omitempty
	NotEmpty           // omitempty: not null, false, 0, "", [] or {}
	NotZero            // omitzero of a struct
)

// PrintRule returns the condition under which encoding/json encodes the field. The field must belong to a completed type.
func (f *Field) PrintRule() PrintRule { return f.printRule }

// computePrintRule returns the PrintRule of a field whose type is set.
func (f *Field) computePrintRule() PrintRule {
	switch {
	case !f.OmitEmpty && !f.OmitZero:
		return Always
	case f.Pointer:
		return NotNil
	}
	switch f.Type.Kind {
	case String, Bool, Int, Float, Bytes, List, Map:
		return NotEmpty
	}
	if f.OmitZero {
		return NotZero
	}
	return Always // omitempty has no effect on a Go struct
}

// NewStruct returns a Struct with the given fields, whose types must be set. It creates types at run time, such as those of
// custom resources. NewStruct keeps the slice fields. If several fields have the same name, Field returns the first one.
func NewStruct(name, goType string, fields []Field) *Type {
	t := &Type{Name: name, GoType: goType, Kind: Struct, Fields: fields}
	t.complete()
	return t
}

// complete computes the index of the fields and their print rules.
func (t *Type) complete() {
	t.index = make(map[string]int, len(t.Fields))
	for i := range t.Fields {
		if _, ok := t.index[t.Fields[i].Name]; !ok {
			t.index[t.Fields[i].Name] = i
		}
	}
	for i := range t.Fields {
		t.Fields[i].printRule = t.Fields[i].computePrintRule()
	}
}

// Order converts a path such as spec.rules[2].name to a list of field and item numbers. Values are encoded in the order of
// these lists.
func (t *Type) Order(path string) []int {
	places, _ := t.follow(path)
	return places
}

// At returns the type of the value at a path such as spec.rules[2].name. If there is no such field, it returns nil.
func (t *Type) At(path string) *Type {
	_, t = t.follow(path)
	return t
}

func (t *Type) follow(path string) (places []int, at *Type) {
	for step := range strings.SplitSeq(path, ".") {
		name, index, inList := strings.Cut(step, "[")
		if t == nil || t.Kind != Struct {
			return places, nil
		}
		i, known := t.index[name]
		if !known {
			return places, nil
		}
		places, t = append(places, i), t.Fields[i].Type
		if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); inList && t != nil {
			if t = t.Elem; err == nil {
				places = append(places, n)
			}
		}
	}
	return places, t
}

// Field returns the field with the given JSON name, or nil. As in the API server, names are case-sensitive.
func (t *Type) Field(name string) *Field {
	if i, ok := t.index[name]; ok {
		return &t.Fields[i]
	}
	return nil
}

// GVK identifies a kind by group ("" is core), version and kind.
type GVK struct{ Group, Version, Kind string }

// GV returns the apiVersion of a kind: "v1", "apps/v1".
func (k GVK) GV() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Root returns the URL path of the group version's API: /api/v1, /apis/apps/v1.
func (k GVK) Root() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.GV()
}

// ParseGVK returns the GVK for the apiVersion and kind of an object.
func ParseGVK(apiVersion, kind string) GVK {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	return GVK{Group: group, Version: version, Kind: kind}
}

// Compare compares kinds by group, version and kind.
func (k GVK) Compare(o GVK) int {
	return cmp.Or(strings.Compare(k.Group, o.Group), strings.Compare(k.Version, o.Version), strings.Compare(k.Kind, o.Kind))
}

// String formats k as in the real server's errors: apps/v1, Kind=Deployment; /v1, Kind=Pod.
func (k GVK) String() string { return k.Group + "/" + k.Version + ", Kind=" + k.Kind }

// Resource describes a resource, as in discovery, that an API server of the minor version serves.
type Resource struct {
	GVK
	Resource   string // plural: "deployments"
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	Verbs      []string // sorted

	// Off reports whether servers serve the resource only if a flag enables it. Only a Set of LoadAll has such resources.
	Off bool
	// Deprecated is the warning that requests get if the version is deprecated, or "".
	Deprecated string

	// Storage is the kind in which objects are stored ("autoscaling/v2" for both HorizontalPodAutoscalers), or zero for
	// virtual kinds. It can be a version that is not served and for which a Set has no Type, such as v1beta1 of
	// CustomResourceDefinition and of MutatingAdmissionPolicy.
	Storage GVK

	Subresources []Subresource // sorted by name
}

// Group is an API group in discovery, with its versions in the server's order of preference.
type Group struct {
	Name     string
	Versions []string
}

// Subresource is an entry in discovery such as pods/eviction.
type Subresource struct {
	Name  string // "eviction"
	GVK          // of the body; equal to the parent's GVK for status
	Verbs []string
}

// Raw returns the positions of RawExtensions in objects of type t, or nil if there are none. It visits the whole type. If a
// type is recursive, Raw does not descend into it again.
func (t *Type) Raw() *object.Places { return t.raw(map[*Type]bool{}) }

// raw implements Raw for a type that is nested in the types in outer.
func (t *Type) raw(outer map[*Type]bool) *object.Places {
	if t == nil || outer[t] {
		return nil
	}
	outer[t] = true
	defer delete(outer, t)
	var at object.Places
	switch t.Kind {
	case RawExtension:
		at.Raw = true
	case Struct:
		for i := range t.Fields {
			f := &t.Fields[i]
			if in := f.Type.raw(outer); in != nil {
				if at.Fields == nil {
					at.Fields = map[string]*object.Places{}
				}
				at.Fields[f.Name] = in
			}
		}
	case List, Map:
		at.Elem = t.Elem.raw(outer)
	}
	if !at.Raw && at.Fields == nil && at.Elem == nil {
		return nil
	}
	return &at
}

// OpenAPI returns the type as an OpenAPI schema without references, with only types, formats, properties and items. A field
// that may have any type, or that is a Quantity, has no type in the schema. A struct that is nested in itself has no
// properties.
func (t *Type) OpenAPI() map[string]any { return t.openAPI(nil) }

func (t *Type) openAPI(within []*Type) map[string]any {
	switch t.Kind {
	case Struct:
		s := map[string]any{"type": "object"}
		if slices.Contains(within, t) {
			return s
		}
		properties := map[string]any{}
		for i := range t.Fields {
			f := &t.Fields[i]
			properties[f.Name] = f.Type.openAPI(append(within, t))
		}
		s["properties"] = properties
		return s
	case Map:
		return map[string]any{"type": "object", "additionalProperties": t.Elem.openAPI(within)}
	case List:
		return map[string]any{"type": "array", "items": t.Elem.openAPI(within)}
	case Bool:
		return map[string]any{"type": "boolean"}
	case Int:
		return map[string]any{"type": "integer"}
	case Float:
		return map[string]any{"type": "number"}
	case Bytes:
		return map[string]any{"type": "string", "format": "byte"}
	case Time, MicroTime:
		return map[string]any{"type": "string", "format": "date-time"}
	case String, Duration:
		return map[string]any{"type": "string"}
	case IntOrString:
		return map[string]any{"x-kubernetes-int-or-string": true}
	case RawExtension, FieldsV1:
		return map[string]any{"type": "object"}
	}
	return map[string]any{} // Quantity, Any
}
