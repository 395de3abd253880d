// Package explain prints the documentation of a kind and its fields from a published schema.
//
//	OpenAPI document of a group and version ─ Document ─ kind, fields ─▶ description, fields and their types
package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/object"
)

// Document is the OpenAPI document of one group and version (API concepts, "OpenAPI V3").
type Document struct {
	Schemas   object.Object
	Recursive bool // print nested fields, but no descriptions
	Out       io.Writer
}

func (d *Document) printf(format string, args ...any) { fmt.Fprintf(d.Out, format, args...) }

// Explain prints the documentation of a resource's kind, or of the field at a path. It returns kubectl's error if the
// kind or the field does not exist.
func (d *Document) Explain(m *client.Mapping, path []string) error {
	schema := d.kind(m)
	if schema == nil {
		return fmt.Errorf("couldn't find resource for %q", m.GroupVersion()+", Kind="+m.Kind)
	}
	if m.Group != "" {
		d.printf("GROUP:      %s\n", m.Group)
	}
	d.printf("KIND:       %s\nVERSION:    %s\n\n", m.Kind, m.Version)
	return d.field(schema, path)
}

// kind returns the schema of a resource's kind, or nil if the document has none.
func (d *Document) kind(m *client.Mapping) object.Object {
	for _, name := range object.SortedKeys(d.Schemas) {
		s := d.Schemas.At(name)
		for _, gvk := range s.Objects("x-kubernetes-group-version-kind") {
			if gvk.String("kind") == m.Kind && gvk.String("group") == m.Group && gvk.String("version") == m.Version {
				return s
			}
		}
	}
	return nil
}

// resolved follows references. It returns the schema that they lead to, and the descriptions found along the way.
func (d *Document) resolved(s object.Object) (object.Object, []string) {
	var said []string
	for s != nil {
		if text := s.String("description"); text != "" {
			said = append(said, text)
		}
		switch {
		case s.String("$ref") != "":
			s = d.Schemas.At(shortName(s.String("$ref"), "/"))
		case len(s.Objects("allOf")) == 1 && s.Map("properties") == nil:
			s = s.Objects("allOf")[0]
		case s.At("items") != nil:
			s = s.At("items")
		case s.At("additionalProperties") != nil && s.Map("properties") == nil:
			s = s.At("additionalProperties")
		default:
			return s, said
		}
	}
	return object.Object{}, said
}

func shortName(text, at string) string { return text[strings.LastIndex(text, at)+1:] }

// typeName returns the name of a schema's type.
func (d *Document) typeName(s object.Object) string {
	switch {
	case s.At("items") != nil:
		return "[]" + d.typeName(s.At("items"))
	case s.At("additionalProperties") != nil && s.Map("properties") == nil:
		return "map[string]" + d.typeName(s.At("additionalProperties"))
	case len(s.Objects("allOf")) == 1 && s.Map("properties") == nil:
		return d.typeName(s.Objects("allOf")[0])
	case s.String("$ref") != "":
		name := shortName(s.String("$ref"), "/")
		to := d.Schemas.At(name)
		if kind := to.String("type"); kind != "" && kind != "object" {
			return d.typeName(to)
		}
		return shortName(name, ".")
	case s.True("x-kubernetes-int-or-string"):
		return "IntOrString"
	case s.String("type") == "object":
		return "Object"
	}
	return cmp.Or(s.String("type"), "Object")
}

// field prints the documentation of the field at a path. It returns an error if there is no such field.
func (d *Document) field(schema object.Object, path []string) error {
	at, said := d.resolved(schema)
	if len(path) > 0 {
		var f object.Object
		for _, name := range path {
			next := at.At("properties", name)
			if next == nil {
				return fmt.Errorf("field %q does not exist", name)
			}
			f = next
			at, said = d.resolved(f)
		}
		d.printf("FIELD: %s <%s>\n", path[len(path)-1], d.typeName(f))
		if enum := d.enum(f); len(enum) > 0 {
			d.printf("ENUM:\n    %s\n", strings.Join(enum, "\n    "))
		} else {
			d.printf("\n")
		}
		d.printf("\n")
	}
	d.printf("DESCRIPTION:\n")
	for _, text := range said {
		d.wrapped(4, text)
	}
	if len(said) > 0 {
		d.printf("    \n")
	} else {
		d.printf("    <empty>\n")
	}
	if len(at.Map("properties")) > 0 {
		d.printf("FIELDS:\n")
		d.fields(at, 1, nil)
	}
	d.printf("\n")
	return nil
}

// enum returns the allowed values of a field as strings. Those of a list's items are not shown.
func (d *Document) enum(s object.Object) []string {
	list := s.List("enum")
	if to, _ := d.resolved(s); list == nil && s.At("items") == nil {
		list = to.List("enum")
	}
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// shortEnum is the number of allowed values that are shown in a list of fields.
const shortEnum = 4

// fields prints the fields of a schema. With --recursive it also prints nested fields, but no descriptions.
func (d *Document) fields(s object.Object, level int, above []string) {
	recursive := d.Recursive
	for _, name := range object.SortedKeys(s.Map("properties")) {
		f := s.At("properties", name)
		indent := strings.Repeat("  ", level)
		required := ""
		if slices.Contains(s.Strings("required"), name) {
			required = " -required-"
		}
		d.printf("%s%s\t<%s>%s\n", indent, name, d.typeName(f), required)
		if enum := d.enum(f); len(enum) > 0 {
			if len(enum) > shortEnum {
				enum = append(enum[:shortEnum:shortEnum], "....")
			}
			d.printf("%senum: %s\n", indent, strings.Join(enum, ", "))
		}
		to, _ := d.resolved(f)
		if recursive {
			kind := d.typeName(f)
			if to.Map("properties") != nil && !slices.Contains(above, kind) {
				d.fields(to, level+1, append(slices.Clone(above), kind))
			}
			continue
		}
		d.wrapped(4, cmp.Or(f.String("description"), "<no description>"))
		d.printf("\n")
	}
}

// width is the maximum length of a line.
const width = 80

// wrapped prints text in lines of at most width characters. Spaces at which a line is broken are not printed.
func (d *Document) wrapped(indent int, text string) {
	before := strings.Repeat(" ", indent)
	for _, rest := range strings.Split(text, "\n") {
		line := ""
		for rest != "" {
			begin := len(rest) - len(strings.TrimLeft(rest, " "))
			end := begin + len(strings.SplitN(rest[begin:], " ", 2)[0])
			if line != "" && end > begin && utf8.RuneCountInString(line+rest[:end]) > width-indent {
				d.printf("%s%s\n", before, line)
				line = rest[begin:end]
			} else {
				line += rest[:end]
			}
			rest = rest[end:]
		}
		d.printf("%s%s\n", before, line)
	}
}
