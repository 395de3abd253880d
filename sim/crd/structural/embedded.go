package structural

import (
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
)

// Meta decodes metadata as an ObjectMeta. It returns the metadata without unknown fields, and the paths of these fields, relative
// to metadata. If the metadata cannot be decoded, it returns an error.
type Meta func(metadata any) (meta map[string]any, unknown []string, err error)

// Readable decodes each field of metadata alone. It returns the metadata without the fields that are unknown or cannot be decoded.
func (read Meta) Readable(metadata map[string]any) map[string]any {
	meta := map[string]any{}
	for _, name := range object.SortedKeys(metadata) {
		if one, _, err := read(map[string]any{name: metadata[name]}); err == nil && one[name] != nil {
			meta[name] = one[name]
		}
	}
	return meta
}

// Coerce normalizes the metadata of embedded resources in place and returns the paths of its unknown fields. If drop is true,
// it removes fields of metadata that cannot be decoded; otherwise it stops at the first error.
func (s *Schema) Coerce(v any, p field.Path, read Meta, drop bool) (unknown []string, err *field.Error) {
	c := coercer{read: read, drop: drop}
	if c.coerce(s, v, p); c.err != nil {
		return nil, c.err
	}
	return c.unknown, nil
}

// coercer is the state of one call to Coerce.
type coercer struct {
	read    Meta
	drop    bool
	unknown []string
	err     *field.Error
}

func (c *coercer) coerce(s *Schema, v any, p field.Path) {
	if s == nil || c.err != nil {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range object.SortedKeys(v) {
			if s.Embedded && envelope(name) && c.err == nil {
				c.field(v, name, p)
			}
			if own, ok := s.Properties[name]; ok {
				c.coerce(own, v[name], p.Child(name))
			} else {
				c.coerce(s.Additional, v[name], p.Key(name))
			}
		}
	case []any:
		for i, x := range v {
			c.coerce(s.Items, x, p.Index(i))
		}
	}
}

func (c *coercer) field(m map[string]any, name string, p field.Path) {
	_, text := m[name].(string)
	wrong := "must be a string"
	if name == "metadata" {
		meta, unknown, err := c.read(m[name])
		for _, path := range unknown {
			c.unknown = append(c.unknown, p.Child(name, path).String())
		}
		if text = err == nil; text {
			m[name] = meta
		} else {
			wrong = err.Error()
		}
	}
	fields, isMap := m[name].(map[string]any)
	switch {
	case text:
	case c.drop && isMap && name == "metadata":
		m[name] = c.read.Readable(fields)
	case c.drop:
		delete(m, name)
	default:
		c.err = field.Invalid(p.Child(name), m[name], wrong)
	}
}

// CheckEmbedded checks kind, apiVersion and metadata of embedded resources.
func (s *Schema) CheckEmbedded(v any, p field.Path, read Meta, rules metadata.Rules) field.ErrorList {
	if s == nil {
		return nil
	}
	var errs field.ErrorList
	if m, ok := v.(map[string]any); ok && s.Embedded {
		errs = checkResource(m, p, read, rules)
	}
	return append(errs, s.below(v, p, func(s *Schema, v any, p field.Path) field.ErrorList {
		return s.CheckEmbedded(v, p, read, rules)
	})...)
}

func checkResource(m map[string]any, p field.Path, read Meta, rules metadata.Rules) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := m[name]; !ok {
			errs = append(errs, field.Required(p.Child(name), ""))
		}
	}
	errs = append(errs, checkText(m, p, "apiVersion", func(s string) string {
		if strings.Count(s, "/") > 1 {
			return "unexpected GroupVersion string: " + s
		}
		return ""
	})...)
	errs = append(errs, checkText(m, p, "kind", func(s string) string { return strings.Join(KindName(s), "") })...)
	v, ok := m["metadata"]
	if !ok {
		return errs
	}
	meta, _, err := read(v)
	if err != nil {
		return append(errs, field.Invalid(p.Child("metadata"), v, err.Error()))
	}
	checked := object.Object{}
	maps.Copy(checked, meta)
	if checked.String("name") == "" {
		checked["name"] = "unnamed"
	}
	return append(errs, rules.Validate(checked, checked.String("namespace") != "", field.NamePathSegment, p.Child("metadata"))...)
}

// KindName is the rule for the names of kinds. It joins all messages into one.
func KindName(name string) []string {
	if texts := field.DNS1035Label(strings.ToLower(name)); len(texts) > 0 {
		return []string{"may have mixed case, but should otherwise match: " + strings.Join(texts, ",")}
	}
	return nil
}

// checkText checks that a field, if it is present, is a nonempty string that satisfies the rule.
func checkText(m map[string]any, p field.Path, name string, rule func(string) string) field.ErrorList {
	v, ok := m[name]
	if !ok {
		return nil
	}
	text := "must be a string"
	if s, ok := v.(string); ok && s == "" {
		text = "must not be empty"
	} else if ok {
		text = rule(s)
	}
	if text == "" {
		return nil
	}
	return field.ErrorList{field.Invalid(p.Child(name), v, text)}
}

// Embeds reports whether a schema contains embedded resources at any level.
func (s *Schema) Embeds() bool {
	if s == nil {
		return false
	}
	embeds := s.Embedded || s.Items.Embeds() || s.Additional.Embeds()
	for _, p := range s.Properties { // order does not matter
		embeds = embeds || p.Embeds()
	}
	return embeds
}
