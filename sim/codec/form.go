package codec

import (
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// recorder compares an object with the result of decoding its JSON, while a printer encodes it, and records the places of the parts that
// resource.Parsed has. If the two are equal, as they are for most objects, the JSON is not decoded:
//
//	write:  object ── encode ─▶ JSON ─▶ store
//	           ╰── the same object, with the places of its parts in the JSON ─▶ Item.Shared
//
// Where it is not certain that the two are equal, they count as different. loses and entry may be called on nil.
type recorder struct {
	object object.Object
	start  int // where the JSON begins in the buffer
	parts  []place
	room   [4]place // of parts: most objects have a spec, a status and one or two sets
	differ bool     // decoding the JSON may give another object

	once   sync.Once // a watch may read the object while the write is committed
	parsed *resource.Parsed
}

// place is the place of a part in the JSON.
type place struct {
	name     string         // of a top-level field; "" for the fieldsV1 of an entry of managedFields
	from, to int            // first in the buffer, then as distances from the end, because a new resourceVersion moves all parts
	value    map[string]any // of the part, or the entry of an encoded set
	encoded  bool           // the part is a set that is not decoded yet
}

func newRecorder(obj object.Object, start int) *recorder {
	r := &recorder{object: obj, start: start}
	r.parts = r.room[:0]
	return r
}

// form returns the Form of the object whose JSON is the end of buffer, or nil if decoding may give another object.
func (r *recorder) form(buffer []byte) resource.Form {
	if r.differ {
		return nil
	}
	for i := range r.parts {
		p := &r.parts[i]
		p.from, p.to = len(buffer)-p.from, len(buffer)-p.to
	}
	return r
}

// Parsed implements resource.Form.
func (r *recorder) Parsed(text string) *resource.Parsed {
	r.once.Do(func() { r.parsed = r.read(text) })
	return r.parsed
}

// read cuts the parts out of text. It decodes the sets of a new object, which the field manager encodes (fieldmanager.Manager.Update).
func (r *recorder) read(text string) *resource.Parsed {
	p := &resource.Parsed{Object: r.object}
	for _, at := range r.parts {
		part := resource.Part{Name: at.name, Text: text[len(text)-at.from : len(text)-at.to], Value: at.value}
		if at.encoded {
			d := newDecoder(part.Text, nil)
			part.Value, _ = d.fieldSet().(map[string]any)
			at.value["fieldsV1"] = part.Value
		}
		if at.name == "" {
			p.Sets = append(p.Sets, part)
		} else {
			p.Fields = append(p.Fields, part)
		}
	}
	return p
}

// loses records whether encoding an object loses something, so that decoding gives another object.
func (r *recorder) loses(something bool) {
	if r != nil && something {
		r.differ = true
	}
}

// span is the place of a field's value in the buffer, and the place where its struct begins.
type span struct{ from, to, owner int }

// record records a field of m that was encoded, and its value, which is not nil. p must have a recorder.
func (p *printer) record(m map[string]any, f *schema.Field, v any, at span) {
	r := p.recorder
	switch {
	case r.differ:
	case f.Type.Kind == schema.FieldsV1:
		set, _ := v.(map[string]any)
		part := place{from: at.from, to: at.to, value: set}
		if _, part.encoded = v.(object.Raw); part.encoded {
			part.value = m
		} else if _, known := p.reuse(set); !known && !isSet(v) {
			r.differ = true
		}
		r.parts = append(r.parts, part)
	case !isDecoded(v, f.Type) || f.Type.Kind == schema.Struct && !f.Pointer && object.Blank(v):
		r.differ = true
	case at.owner == r.start && f.Name != "metadata":
		if part, ok := v.(map[string]any); ok {
			r.parts = append(r.parts, place{name: f.Name, from: at.from, to: at.to, value: part})
		}
	}
}

// entry records an element of a list, or an entry of a map with its key.
func (r *recorder) entry(key string, v any, t *schema.Type) {
	if r != nil && !r.differ {
		r.differ = !utf8.ValidString(key) || !isDecoded(v, t)
	}
}

// isSet reports whether v is a field set as decoding gives it.
func isSet(v any) bool {
	m, ok := v.(map[string]any)
	for key, below := range m { // order does not matter
		if !utf8.ValidString(key) || !isSet(below) {
			return false
		}
	}
	return ok && m != nil
}

// hasZero reports whether a missing field of type t is encoded with a value that decoding keeps. Missing lists, maps, bytes and times are
// null; the fields of a missing struct are checked one by one.
func hasZero(t *schema.Type) bool {
	switch t.Kind {
	case schema.List, schema.Map, schema.Bytes, schema.Time, schema.MicroTime, schema.Struct:
		return false
	}
	return Zero(t) != nil
}

// isDecoded reports whether decoding the JSON of v as type t certainly gives v. It does not look into lists and maps.
func isDecoded(v any, t *schema.Type) bool {
	switch v := v.(type) {
	case string:
		return isDecodedString(v, t.Kind)
	case bool:
		return t.Kind == schema.Bool
	case int64:
		return t.Kind == schema.Int && fits(v, t.Bits) || t.Kind == schema.IntOrString && fits(v, int32Type.Bits)
	case float64:
		return t.Kind == schema.Float
	case []any:
		return t.Kind == schema.List && v != nil
	case map[string]any:
		return (t.Kind == schema.Struct || t.Kind == schema.Map) && v != nil
	}
	return false
}

func isDecodedString(s string, kind schema.Kind) bool {
	switch kind {
	case schema.String, schema.IntOrString:
		return utf8.ValidString(s)
	case schema.Quantity:
		canonical, err := quantity.Canonical(s)
		return err == nil && canonical == s
	case schema.Time:
		return len(s) == len("2006-01-02T15:04:05Z") && isDecodedTime(s, time.RFC3339)
	case schema.MicroTime:
		return len(s) == len("2006-01-02T15:04:05.000000Z") && s[19] == '.' && isDecodedTime(s, microLayout)
	}
	return false
}

// isDecodedTime reports whether a time is in UTC and not zero. It is in canonical form if it also has the length of that form.
func isDecodedTime(s, layout string) bool {
	t, err := time.Parse(layout, s)
	return err == nil && !t.IsZero() && s[len(s)-1] == 'Z'
}
