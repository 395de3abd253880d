package crd

import (
	"errors"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Metadata that a client sends for a custom resource has only the fields of ObjectMeta. The patch of a webhook may add other
// fields, or values of other types. They are stored. When the object is read from the store, they are dropped. If a value
// has the wrong type, the conversion of the object fails.

// readable reports whether the metadata of an object has only fields of ObjectMeta, with values of the right types.
func (s *Server) readable(obj object.Object) bool {
	meta, ok := obj["metadata"]
	return !ok || fits(meta, s.Schema.Named(ObjectMeta))
}

// fits reports whether a value can be decoded as a type without loss.
func fits(v any, t *schema.Type) bool {
	ok := true
	switch t.Kind {
	case schema.Struct:
		m, isMap := v.(map[string]any)
		for name, x := range m { // order does not matter: one mismatch suffices
			f := t.Field(name)
			if f == nil || x != nil && !fits(x, f.Type) {
				return false
			}
		}
		return isMap
	case schema.Map:
		m, isMap := v.(map[string]any)
		for _, x := range m { // order does not matter
			if x != nil && !fits(x, t.Elem) {
				return false
			}
		}
		return isMap
	case schema.List:
		l, isList := v.([]any)
		for _, x := range l {
			if x != nil && !fits(x, t.Elem) {
				return false
			}
		}
		return isList
	case schema.String:
		_, ok = v.(string)
	case schema.Bool:
		_, ok = v.(bool)
	case schema.Int:
		_, ok = v.(int64)
	case schema.Time:
		text, isText := v.(string)
		_, err := time.Parse(time.RFC3339, text)
		return isText && err == nil
	}
	return ok
}

// dropUnreadable removes unknown and invalid fields from the metadata of a stored object.
func (s *Server) dropUnreadable(obj object.Object) {
	if s.readable(obj) {
		return
	}
	fields, _ := obj["metadata"].(map[string]any)
	obj["metadata"] = structural.Meta(s.Meta).Readable(fields)
}

// readMeta normalizes the metadata of a converted object. It drops unknown fields. If a value has the wrong type, it returns an
// error.
func (s *Server) readMeta(obj object.Object) error {
	if s.readable(obj) {
		return nil
	}
	meta, _, err := s.Meta(obj["metadata"])
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "metadata: "))
	}
	obj["metadata"] = meta
	return nil
}
