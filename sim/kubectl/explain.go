package kubectl

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/object"
)

// explained is an OpenAPI document of one group and version (API concepts, "OpenAPI V3").
type explained struct {
	*call
	schemas object.Object
}

// explain says what the published schema says of a kind, or of a field of it.
func (c *call) explain() error {
	if len(c.args) == 0 {
		return fmt.Errorf("You must specify the type of resource to explain. %s", useResources)
	}
	if len(c.args) > 1 {
		return fmt.Errorf("We accept only this format: explain RESOURCE")
	}
	m, path, err := c.explainTarget(strings.TrimSuffix(c.args[0], "."))
	if err != nil {
		return toldError(err.Error())
	}
	doc, err := c.get("/openapi/v3"+m.path("", "")[:len(m.path("", ""))-len(m.resource)-1], nil)
	if err != nil {
		return err
	}
	e := &explained{c, doc.At("components", "schemas")}
	schema := e.kind(m)
	if schema == nil {
		return fmt.Errorf("couldn't find resource for %q", m.gv()+", Kind="+m.kind)
	}
	if m.group != "" {
		c.printf("GROUP:      %s\n", m.group)
	}
	c.printf("KIND:       %s\nVERSION:    %s\n\n", m.kind, m.version)
	return e.field(schema, path)
}

// explainTarget takes apart RESOURCE.field.field; the resource may have a group.
func (c *call) explainTarget(text string) (*mapping, []string, error) {
	parts := strings.Split(text, ".")
	m, err := c.find(parts[0])
	if err != nil {
		return nil, nil, err
	}
	if v := c.text("api-version"); v != "" {
		s, err := c.discover()
		if err != nil {
			return nil, nil, err
		}
		at := slices.IndexFunc(s.all, func(o *mapping) bool { return o.gv() == v && o.resource == m.resource })
		if at < 0 {
			return nil, nil, fmt.Errorf("couldn't find resource for %q", v+", Resource="+m.resource)
		}
		return s.all[at], parts[1:], nil
	}
	for n := len(parts); n > 1; n-- {
		if q, err := c.find(strings.Join(parts[:n], ".")); err == nil && strings.HasPrefix(q.group, parts[1]) {
			return q, parts[n:], nil
		}
	}
	return m, parts[1:], nil
}

// kind returns the schema of a resource's kind.
func (e *explained) kind(m *mapping) object.Object {
	for _, name := range object.SortedKeys(e.schemas) {
		s := e.schemas.At(name)
		for _, gvk := range s.Objects("x-kubernetes-group-version-kind") {
			if gvk.String("kind") == m.kind && gvk.String("group") == m.group && gvk.String("version") == m.version {
				return s
			}
		}
	}
	return nil
}

// resolved follows references: to what is behind, and what is said on the way there.
func (e *explained) resolved(s object.Object) (object.Object, []string) {
	var said []string
	for s != nil {
		if text := s.String("description"); text != "" {
			said = append(said, text)
		}
		switch {
		case s.String("$ref") != "":
			s = e.schemas.At(shortName(s.String("$ref"), "/"))
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

// typeName is how the type of a schema is called.
func (e *explained) typeName(s object.Object) string {
	switch {
	case s.At("items") != nil:
		return "[]" + e.typeName(s.At("items"))
	case s.At("additionalProperties") != nil && s.Map("properties") == nil:
		return "map[string]" + e.typeName(s.At("additionalProperties"))
	case len(s.Objects("allOf")) == 1 && s.Map("properties") == nil:
		return e.typeName(s.Objects("allOf")[0])
	case s.String("$ref") != "":
		name := shortName(s.String("$ref"), "/")
		to := e.schemas.At(name)
		if kind := to.String("type"); kind != "" && kind != "object" {
			return e.typeName(to)
		}
		return shortName(name, ".")
	case s.True("x-kubernetes-int-or-string"):
		return "IntOrString"
	case s.String("type") == "object":
		return "Object"
	}
	return or(s.String("type"), "Object")
}

// field prints what there is to say of the field that a path leads to.
func (e *explained) field(schema object.Object, path []string) error {
	at, said := e.resolved(schema)
	if len(path) > 0 {
		var f object.Object
		for _, name := range path {
			next := at.At("properties", name)
			if next == nil {
				return fmt.Errorf("field %q does not exist", name)
			}
			f = next
			at, said = e.resolved(f)
		}
		e.printf("FIELD: %s <%s>\n", path[len(path)-1], e.typeName(f))
		if enum := e.enum(f); len(enum) > 0 {
			e.printf("ENUM:\n    %s\n", strings.Join(enum, "\n    "))
		} else {
			e.printf("\n")
		}
		e.printf("\n")
	}
	e.printf("DESCRIPTION:\n")
	if len(said) == 0 {
		said = []string{"<empty>"}
	}
	for _, text := range said {
		e.wrapped(4, text)
	}
	e.printf("    \n")
	if len(at.Map("properties")) > 0 {
		e.printf("FIELDS:\n")
		e.fields(at, 1, nil)
	}
	e.printf("\n")
	return nil
}

// enum returns the values that a field can have, as texts.
func (e *explained) enum(s object.Object) []string {
	to, _ := e.resolved(s)
	list := s.List("enum")
	if list == nil {
		list = to.List("enum")
	}
	var out []string
	for _, v := range list {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// fields prints the fields of a schema; with --recursive those below, too, and nothing of what they mean.
func (e *explained) fields(s object.Object, level int, above []string) {
	recursive := e.on("recursive")
	for _, name := range object.SortedKeys(s.Map("properties")) {
		f := s.At("properties", name)
		indent := strings.Repeat("  ", level)
		required := ""
		if slices.Contains(s.Strings("required"), name) {
			required = " -required-"
		}
		e.printf("%s%s\t<%s>%s\n", indent, name, e.typeName(f), required)
		if enum := e.enum(f); len(enum) > 0 {
			e.printf("%senum: %s\n", indent, strings.Join(enum, ", "))
		}
		to, _ := e.resolved(f)
		if recursive {
			kind := e.typeName(f)
			if to.Map("properties") != nil && !slices.Contains(above, kind) {
				e.fields(to, level+1, append(slices.Clone(above), kind))
			}
			continue
		}
		e.wrapped(4, or(f.String("description"), "<no description>"))
		e.printf("\n")
	}
}

// width is how long a line is at most.
const width = 80

// wrapped prints a text in lines that are not too long.
func (e *explained) wrapped(indent int, text string) {
	space := strings.Repeat(" ", indent)
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for i, word := range strings.Split(paragraph, " ") {
			switch {
			case i == 0:
				line = word
			case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width-indent:
				e.printf("%s%s\n", space, line)
				line = word
			default:
				line += " " + word
			}
		}
		e.printf("%s%s\n", space, line)
	}
}
