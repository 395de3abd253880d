package crd

import (
	"errors"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// Metadata of a custom resource has the fields of ObjectMeta when a client has sent it. The patch of a webhook may add others, or
// values of another type. They stay until the object is read from the store again, or converted: a reader drops them, and a
// conversion that is given a value of another type fails.

// readable reports whether the metadata of an object has only fields of ObjectMeta, with values of their types.
func (s *Server) readable(obj object.Object) bool {
	meta, ok := obj["metadata"]
	return !ok || fits(meta, s.Schema.Named(ObjectMeta))
}

// fits reports whether a value can be read as a type, with nothing left out.
func fits(v any, t *schema.Type) bool {
	ok := true
	switch t.Kind {
	case schema.Struct:
		m, isMap := v.(map[string]any)
		for name, x := range m { // order does not matter: one that does not fit is enough
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

// dropUnreadable drops unknown and unreadable fields from the metadata of a stored object.
func (s *Server) dropUnreadable(obj object.Object) {
	if s.readable(obj) {
		return
	}
	fields, _ := obj["metadata"].(map[string]any)
	meta := map[string]any{}
	for _, name := range object.SortedKeys(fields) {
		if one, _, err := s.Meta(map[string]any{name: fields[name]}); err == nil && one[name] != nil {
			meta[name] = one[name]
		}
	}
	obj["metadata"] = meta
}

// readMeta reads the metadata of an object that has been converted: unknown fields are dropped, and a value of another type is
// an error.
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
