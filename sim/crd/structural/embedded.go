package structural

import (
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
)

// Meta reads metadata as the type that all objects share: it returns the metadata with what the type does not have left
// out, the paths of that below metadata, and an error when it is not metadata at all.
type Meta func(metadata any) (meta map[string]any, unknown []string, err error)

// Coerce brings the metadata of embedded resources into shape, in place, and returns the paths of unknown fields in it.
// With drop set what cannot be metadata is removed; otherwise it is an error.
func (s *Schema) Coerce(v any, p field.Path, read Meta, drop bool) (unknown []string, err *field.Error) {
	if s == nil {
		return nil, nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if s.Embedded && envelope(name) {
				more, err := coerceField(v, name, p, read, drop)
				if err != nil {
					return nil, err
				}
				unknown = append(unknown, more...)
			}
			at, child := p.Key(name), s.Additional
			if own, ok := s.Properties[name]; ok {
				at, child = p.Child(name), own
			}
			more, err := child.Coerce(v[name], at, read, drop)
			if err != nil {
				return nil, err
			}
			unknown = append(unknown, more...)
		}
	case []any:
		for i, x := range v {
			more, err := s.Items.Coerce(x, p.Index(i), read, drop)
			if err != nil {
				return nil, err
			}
			unknown = append(unknown, more...)
		}
	}
	return unknown, nil
}

func coerceField(m map[string]any, name string, p field.Path, read Meta, drop bool) ([]string, *field.Error) {
	if name != "metadata" {
		if _, ok := m[name].(string); !ok {
			if !drop {
				return nil, field.Invalid(p.Child(name), m[name], "must be a string")
			}
			delete(m, name)
		}
		return nil, nil
	}
	meta, unknown, err := read(m[name])
	switch {
	case err == nil:
		m[name] = meta
	case drop:
		delete(m, name)
	default:
		return nil, field.Invalid(p.Child(name), m[name], err.Error())
	}
	for i, path := range unknown {
		unknown[i] = p.Child(name, path).String()
	}
	return unknown, nil
}

// CheckEmbedded checks kind, apiVersion and metadata of embedded resources.
func (s *Schema) CheckEmbedded(v any, p field.Path, read Meta, rules metadata.Rules) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	switch v := v.(type) {
	case map[string]any:
		if s.Embedded {
			errs = checkResource(v, p, read, rules)
		}
		for _, name := range object.SortedKeys(v) {
			if child, ok := s.Properties[name]; ok {
				errs = append(errs, child.CheckEmbedded(v[name], p.Child(name), read, rules)...)
			} else if s.Additional != nil {
				errs = append(errs, s.Additional.CheckEmbedded(v[name], p.Key(name), read, rules)...)
			}
		}
	case []any:
		for i, x := range v {
			errs = append(errs, s.Items.CheckEmbedded(x, p.Index(i), read, rules)...)
		}
	}
	return errs
}

func checkResource(m map[string]any, p field.Path, read Meta, rules metadata.Rules) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := m[name]; !ok {
			errs = append(errs, field.Required(p.Child(name), ""))
		}
	}
	if v, ok := m["apiVersion"]; ok {
		errs = append(errs, checkText(p.Child("apiVersion"), v, func(s string) string {
			if strings.Count(s, "/") > 1 {
				return "unexpected GroupVersion string: " + s
			}
			return ""
		})...)
	}
	if v, ok := m["kind"]; ok {
		errs = append(errs, checkText(p.Child("kind"), v, func(s string) string {
			if texts := field.DNS1035Label(strings.ToLower(s)); len(texts) > 0 {
				return "may have mixed case, but should otherwise match: " + strings.Join(texts, ",")
			}
			return ""
		})...)
	}
	v, ok := m["metadata"]
	if !ok {
		return errs
	}
	meta, _, err := read(v)
	if err != nil {
		return append(errs, field.Invalid(p.Child("metadata"), v, err.Error()))
	}
	checked := object.Object{}
	for name, x := range meta { // order does not matter
		checked[name] = x
	}
	if checked.String("name") == "" {
		checked["name"] = "unnamed"
	}
	return append(errs, rules.Validate(checked, checked.String("namespace") != "", field.NamePathSegment, p.Child("metadata"))...)
}

// checkText checks a value that must be a string and not empty.
func checkText(p field.Path, v any, rule func(string) string) field.ErrorList {
	s, ok := v.(string)
	switch {
	case !ok:
		return field.ErrorList{field.Invalid(p, v, "must be a string")}
	case s == "":
		return field.ErrorList{field.Invalid(p, s, "must not be empty")}
	}
	if text := rule(s); text != "" {
		return field.ErrorList{field.Invalid(p, s, text)}
	}
	return nil
}

// Embeds reports whether a schema has embedded resources anywhere.
func (s *Schema) Embeds() bool {
	if s == nil {
		return false
	}
	if s.Embedded || s.Items.Embeds() || s.Additional.Embeds() {
		return true
	}
	for _, p := range s.Properties { // order does not matter
		if p.Embeds() {
			return true
		}
	}
	return false
}
