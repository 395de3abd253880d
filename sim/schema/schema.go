// Package schema holds the structure of the API's types as data: the tags of the Go structs of k8s.io/api, and the published
// OpenAPI of them.
//
//	Set (one Kubernetes minor) ── Kind(gvk) ──▶ *Type Deployment
//	                                             ├─ Field metadata ──▶ *Type ObjectMeta
//	                                             ├─ Field spec     ──▶ *Type DeploymentSpec
//	                                             │                      ├─ Field replicas ──▶ *Type int32, Pointer
//	                                             │                      └─ Field template ──▶ *Type PodTemplateSpec …
//	                                             └─ Field status   ──▶ *Type DeploymentStatus
//
// One such graph drives decoding and its error texts, unknown fields, the order in which fields are printed, zero values that are
// always present, protobuf, strategic merge patch, server-side apply and OpenAPI. Types are read from the embedded data only when a
// kind is first asked for, and are shared by every Cluster of the process: a Type is immutable after it was returned.
package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/kubesim/kubesim/sim/object"
)

// Kind is the JSON form of a Type's values and the way in which its Go type handles them.
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
	Quantity                 // resource.Quantity: canonicalised string ("1000m" is printed "1"); numbers are accepted
	IntOrString              // intstr.IntOrString: an int32 or a string
	RawExtension             // runtime.RawExtension: any JSON value, kept as it is
	Any                      // apiextensions JSON: any JSON value, kept as it is
	FieldsV1                 // metav1.FieldsV1: a JSON object, kept as it is
)

// Type is one structural type. Shared and read-only.
type Type struct {
	Name   string // OpenAPI definition name, "io.k8s.api.core.v1.PodSpec"; "" for lists, maps and plain scalars
	GoType string // as reflect prints it: "v1.PodSpec", "[]v1.Container", "map[string]string", "int32"
	Kind   Kind
	Bits   int     // of Int
	Fields []Field // of Struct, in Go declaration order with inlined structs in their place: the order of printing

	// Elem is the type of the elements of a List or Map; for a list or map of pointers the pointed-to type. For an Any it is nil,
	// or the struct that may stand in its place: a "v1.JSONSchemaPropsOrBool" that is an object is a JSONSchemaProps, and so is
	// each object in the array of a "v1.JSONSchemaPropsOrArray". Other values are kept unchanged.
	Elem *Type

	ElemPointer bool // of List and Map: elements are Go pointers (a null element stays null)
	Message     bool // of List: in protobuf a message whose field 1 repeats the elements ("v1.ExtraValue", "v1.Verbs")

	Published bool   // a definition of the published OpenAPI
	MapType   string // x-kubernetes-map-type of the definition: "", atomic
	GVKs      []GVK  // x-kubernetes-group-version-kind of the definition, as published
	Unions    string // x-kubernetes-unions of the definition, as published JSON; "" for none

	index map[string]int // JSON name → position in Fields

	derived atomic.Value // see Derived
}

// Derived returns the result of derive for a type. The result is stored with the type: later calls return the same value, which
// must not be changed. A Type stores one value, the codec's protobuf message. Derived panics if it is of another Go type.
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
	Pointer   bool // the Go field is a pointer: absent is nil, present is printed even when zero
	OmitEmpty bool // encoding/json omitempty
	OmitZero  bool // encoding/json omitzero
	Proto     int  // protobuf field number; 0 means not in protobuf

	// Inline holds the field numbers of the messages around an inlined field, outermost first. A Go struct that is inlined in JSON
	// is a message of its own in protobuf: hostPath of Volume is field 1 of volumeSource, which is field 2 of Volume, so Proto is 1
	// and Inline is [2]. Such a message is always on the wire, even when it is empty. Inline is nil if the field is in the struct's
	// own message.
	Inline []int

	Required bool     // listed as required in the published OpenAPI
	Default  any      // default in the published OpenAPI ({} and "" of the generator included), nil if there is none
	Enum     []string // published values, sorted, of the field or of the elements of a list or map; not validated
	Format   string   // OpenAPI format
	PlainRef bool     // published as a $ref and nothing else (the Go field has no comment), not as an allOf with one

	ListType      string   // x-kubernetes-list-type: "", atomic, set, map
	MapKeys       []string // x-kubernetes-list-map-keys
	MapType       string   // x-kubernetes-map-type: "", granular, atomic
	PatchStrategy []string // patchStrategy tag: merge, replace, retainKeys
	PatchMergeKey string   // patchMergeKey tag

	printRule PrintRule // see PrintRule
}

// PrintRule is the condition under which a field is printed.
type PrintRule uint8

const (
	Always   PrintRule = iota
	NotNil             // a pointer with omitempty
	NotEmpty           // omitempty: not null, false, 0, "", [] or {}
	NotZero            // omitzero of a struct
)

// PrintRule returns when encoding/json prints a field of a type that has been handed out.
func (f *Field) PrintRule() PrintRule { return f.printRule }

// computePrintRule computes the PrintRule.
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
	return Always // omitempty does nothing to a Go struct
}

// NewStruct returns a Struct with fields, which have their types, and makes them findable by name: the way to build types at run time, as
// those of a custom resource. It keeps fields; on a repeated name the first one is found.
func NewStruct(name, goType string, fields []Field) *Type {
	t := &Type{Name: name, GoType: goType, Kind: Struct, Fields: fields}
	t.complete()
	return t
}

// complete precomputes the index of fields and when they are printed.
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

// Order returns where a path such as spec.rules[2].name leads among all values of the type: positions of fields and items, which
// compare as the places do in an object that is printed.
func (t *Type) Order(path string) []int {
	places, _ := t.follow(path)
	return places
}

// At returns the type of the value that a path such as spec.rules[2].name leads to, nil if it leads nowhere.
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

// Field returns the field with the JSON name (case-sensitive, as the API server matches), or nil.
func (t *Type) Field(name string) *Field {
	if i, ok := t.index[name]; ok {
		return &t.Fields[i]
	}
	return nil
}

// GVK names a kind: group ("" is core), version and kind.
type GVK struct{ Group, Version, Kind string }

// GV returns the apiVersion of k: "v1", "apps/v1".
func (k GVK) GV() string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}

// Root returns the path below which the API of the group version is: /api/v1, /apis/apps/v1.
func (k GVK) Root() string {
	if k.Group == "" {
		return "/api/" + k.Version
	}
	return "/apis/" + k.GV()
}

// ParseGVK returns the kind that apiVersion and kind of an object name.
func ParseGVK(apiVersion, kind string) GVK {
	group, version, ok := strings.Cut(apiVersion, "/")
	if !ok {
		group, version = "", apiVersion
	}
	return GVK{Group: group, Version: version, Kind: kind}
}

// Compare orders kinds by group, version and kind.
func (k GVK) Compare(o GVK) int {
	return cmp.Or(strings.Compare(k.Group, o.Group), strings.Compare(k.Version, o.Version), strings.Compare(k.Kind, o.Kind))
}

// String prints k as the real server's errors do: apps/v1, Kind=Deployment; /v1, Kind=Pod.
func (k GVK) String() string { return k.Group + "/" + k.Version + ", Kind=" + k.Kind }

// Resource is one row of discovery: a resource that an API server of the minor serves by default.
type Resource struct {
	GVK
	Resource   string // plural: "deployments"
	Singular   string
	ShortNames []string
	Categories []string
	Namespaced bool
	Verbs      []string // sorted

	// Storage is the kind as it is stored ("autoscaling/v2" for both HorizontalPodAutoscalers), zero for virtual kinds.
	// It can be a version that is not served and that a Set has no Type of, as
	// v1beta1 of CustomResourceDefinition and of MutatingAdmissionPolicy.
	Storage GVK

	Subresources []Subresource // sorted by name
}

// Group is one API group of discovery: its versions in the order the server prefers them, the first one most.
type Group struct {
	Name     string
	Versions []string
}

// Subresource is a row of discovery such as pods/eviction.
type Subresource struct {
	Name  string // "eviction"
	GVK          // of the body; equal to the parent's GVK for status
	Verbs []string
}

// Raw returns where objects of type t have a RawExtension, nil if nowhere. It walks over the whole type. A type inside
// itself is taken to have none there.
func (t *Type) Raw() *object.Places { return t.raw(map[*Type]bool{}) }

// raw is Raw for a type inside others.
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

// OpenAPI returns the type as an OpenAPI schema without references. It has types, formats, properties and items only. A field of
// any type has no type, nor has a Quantity. A struct inside itself has no properties there.
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
