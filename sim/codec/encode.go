package codec

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Append encodes an object of type t like json.Encoder encodes the Go struct, but without the newline: fields are in the order of
// the struct, zero values are included if the struct always has them, and map keys are sorted. Fields that t does not have are
// omitted. If t is nil, everything is encoded with sorted keys, as for custom resources.
func Append(dst []byte, obj object.Object, t *schema.Type) []byte {
	if t == nil {
		return object.AppendJSON(dst, map[string]any(obj))
	}
	return (&printer{json: StoredAsJSON(t)}).appendStruct(dst, obj, t)
}

// AppendForm is Append for an object to be stored. before is its previous parsed state, or nil. The JSON of fields and of managedFields
// sets that both states share is copied from there. AppendForm also returns the Form with which the JSON need not be parsed, or nil if
// parsing it may give another object than obj. As long as the form is used, obj must not be changed, except for its resourceVersion.
func AppendForm(dst []byte, obj object.Object, t *schema.Type, before *resource.Parsed) ([]byte, resource.Form) {
	if t == nil {
		return Append(dst, obj, nil), nil
	}
	p := printer{before: before, json: StoredAsJSON(t), recorder: newRecorder(obj, len(dst))}
	dst = p.appendStruct(dst, obj, t)
	return dst, p.form(dst)
}

// AppendSent encodes an object that was never stored, like Append, but keeps the empty lists and maps that the client sent.
func AppendSent(dst []byte, obj object.Object, t *schema.Type) []byte {
	if t == nil {
		return Append(dst, obj, nil)
	}
	return (&printer{origin: sent}).appendStruct(dst, obj, t)
}

// AppendStored encodes an object for the store, like Append, but with raw values as they were written.
func AppendStored(dst []byte, obj object.Object, t *schema.Type) []byte {
	return (&printer{origin: stored, json: StoredAsJSON(t)}).appendStruct(dst, obj, t)
}

// origin is the source and destination of an object that is encoded. It determines the form of empty lists and raw values.
type origin uint8

const (
	store  origin = iota // an object from the store: protobuf for built-in kinds, which cannot represent empty lists
	sent                 // an object as the client sent it
	stored               // like store, but encoded for the store itself
)

// printer encodes one object.
type printer struct {
	*recorder // or nil

	origin origin
	before *resource.Parsed // the parsed previous state of the object, or nil
	json   bool             // the real server stores the object as JSON
}

// appendStruct encodes a Go struct.
func (p *printer) appendStruct(dst []byte, m map[string]any, t *schema.Type) []byte {
	start := len(dst)
	fields, left := t.Fields, len(m) // number of members of m that are not encoded yet
	for i := range fields {
		f := &fields[i]
		var v any
		member := false
		if left > 0 {
			if v, member = m[f.Name]; member {
				left--
			}
		}
		if f.PrintRule() == schema.Always {
			v = p.given(f, v)
		} else if v == nil || !isPrinted(f, v) {
			p.loses(member)
			continue
		}
		dst = append(append(append(dst, ',', '"'), f.Name...), '"', ':')
		at := len(dst)
		dst = p.appendValue(dst, v, f.Type, f.Pointer)
		if v == nil {
			p.loses(member || !f.Pointer && hasZero(f.Type))
		} else if p.recorder != nil {
			p.record(m, f, v, span{at, len(dst), start})
		}
	}
	p.loses(left > 0)
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{' // replaces the first comma
	return append(dst, '}')
}

// isPrinted reports whether a field that may be omitted is encoded if its value is v.
func isPrinted(f *schema.Field, v any) bool {
	switch f.PrintRule() {
	case schema.NotEmpty:
		return !object.Blank(v)
	case schema.NotZero:
		return !isZero(v, f.Type)
	}
	return v != nil
}

// jsonPackages are the packages whose kinds the real server stores as JSON: those of its embedded servers.
var jsonPackages = []string{"io.k8s.apiextensions-apiserver.", "io.k8s.kube-aggregator."}

// StoredAsJSON reports whether the real server stores objects of a type as JSON, which can represent empty lists.
func StoredAsJSON(t *schema.Type) bool {
	return slices.ContainsFunc(jsonPackages, func(p string) bool { return strings.HasPrefix(t.Name, p) })
}

// given returns v in the form in which the store returns it: an empty list becomes nil, because most built-in kinds are stored as
// protobuf, which cannot represent it.
func (p *printer) given(f *schema.Field, v any) any {
	if p.origin != sent && !p.json && !f.Pointer && (f.Type.Kind == schema.List || f.Type.Kind == schema.Map) && object.Blank(v) {
		return nil
	}
	return v
}

// isZero reports whether v is the zero value of a Go struct type.
func isZero(v any, t *schema.Type) bool {
	switch t.Kind {
	case schema.Struct:
		m, _ := v.(map[string]any)
		for i := range t.Fields {
			f := &t.Fields[i]
			if x := m[f.Name]; x != nil && (f.Pointer || !isZero(x, f.Type)) {
				return false
			}
		}
		return true
	case schema.Quantity:
		return v == nil || v == "0"
	case schema.Duration:
		return v == nil || v == "0s"
	}
	return object.Blank(v)
}

func (p *printer) appendValue(dst []byte, v any, t *schema.Type, pointer bool) []byte {
	switch v := v.(type) {
	case nil:
		if pointer {
			return append(dst, "null"...)
		}
		return p.appendZero(dst, t)
	case string:
		return object.AppendString(dst, v)
	case object.Raw:
		if p.origin == stored || t.Kind == schema.FieldsV1 {
			return append(dst, v...)
		}
	case object.Object:
		return p.appendValue(dst, map[string]any(v), t, pointer)
	case map[string]any:
		if text, ok := p.reuse(v); ok {
			return append(dst, text...)
		}
		switch {
		case t.Kind == schema.Struct:
			return p.appendStruct(dst, v, t)
		case t.Kind == schema.Map:
			return p.appendMap(dst, v, t)
		case t.Kind == schema.FieldsV1:
			return appendFieldSet(dst, v)
		case t.Kind == schema.Any && t.Elem != nil:
			return p.appendStruct(dst, v, t.Elem)
		}
	case []any:
		switch {
		case t.Kind == schema.List:
			return p.appendList(dst, v, t.Elem, t.ElemPointer)
		case t.Kind == schema.Any && t.Elem != nil:
			return p.appendList(dst, v, t.Elem, false)
		}
	}
	return object.AppendJSON(dst, v)
}

// reuse returns the JSON of a value that obj shares with its previous state. It returns false if they do not share the value.
func (p *printer) reuse(v map[string]any) (text string, ok bool) {
	if p.before == nil {
		return "", false
	}
	for _, parts := range [][]resource.Part{p.before.Fields, p.before.Sets} {
		for _, part := range parts {
			if object.Same(part.Value, v) {
				return part.Text, true
			}
		}
	}
	return "", false
}

func (p *printer) appendMap(dst []byte, m map[string]any, t *schema.Type) []byte {
	dst = append(dst, '{')
	for i, k := range object.SortedKeys(m) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(object.AppendString(dst, k), ':')
		if m[k] == nil && t.Elem.Kind == schema.Bytes && p.origin == store {
			dst = append(dst, `""`...) // a protobuf map has a value for each key
			p.loses(true)
			continue
		}
		dst = p.appendValue(dst, m[k], t.Elem, t.ElemPointer)
		p.entry(k, m[k], t.Elem)
	}
	return append(dst, '}')
}

func (p *printer) appendList(dst []byte, list []any, elem *schema.Type, pointer bool) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.appendValue(dst, v, elem, pointer)
		p.entry("", v, elem)
	}
	return append(dst, ']')
}

// appendZero encodes the zero value of t.
func (p *printer) appendZero(dst []byte, t *schema.Type) []byte {
	if t.Kind == schema.Struct {
		return p.appendStruct(dst, nil, t)
	}
	return object.AppendJSON(dst, Zero(t))
}

// Zero returns the zero value of t in decoded form. For a struct, it is an empty object: Append adds the fields that are always
// encoded.
func Zero(t *schema.Type) any {
	switch t.Kind {
	case schema.Struct:
		return map[string]any{}
	case schema.String:
		return ""
	case schema.Bool:
		return false
	case schema.Int, schema.IntOrString:
		return int64(0)
	case schema.Float:
		return float64(0)
	case schema.Quantity:
		return "0"
	case schema.Duration:
		return "0s"
	case schema.Any:
		if t.GoType == schemaOrBool {
			return false
		}
	}
	return nil
}
