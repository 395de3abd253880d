package kustomize

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// replace copies a field of an object to fields of other objects. The replacement may be in a file.
func (b *build) replace(r object.Object, dir string, all []*item) error {
	if file := r.String("path"); file != "" {
		data, err := b.load(dir, file)
		if err != nil {
			return err
		}
		text, err := codec.YAMLToJSON(data)
		if err != nil {
			return err
		}
		list, err := object.ParseValue(text)
		if err != nil {
			return err
		}
		items, ok := list.([]any)
		if !ok {
			items = []any{list}
		}
		for _, one := range object.ObjectsOf(items) {
			if err := b.replace(one, dir, all); err != nil {
				return err
			}
		}
		return nil
	}
	value, err := source(r.At("source"), all)
	if err != nil {
		return err
	}
	for _, t := range r.Objects("targets") {
		if err := into(t, value, all); err != nil {
			return err
		}
	}
	return nil
}

// source returns the value that a replacement copies: a field of the object that s selects. It returns an error unless s selects
// exactly one field.
func source(s object.Object, all []*item) (any, error) {
	path := segments(cmp.Or(s.String("fieldPath"), "metadata.name"))
	var found []any
	selected := 0
	for _, it := range all {
		if it.selected(s) {
			selected++
			at(map[string]any(it.obj), path, false, func(v any) any {
				found = append(found, v)
				return v
			})
		}
	}
	wanted := fmt.Sprintf("%s.%s.%s/%s.%s", cmp.Or(s.String("kind"), "[noKind]"), cmp.Or(s.String("version"), "[noVer]"),
		cmp.Or(s.String("group"), "[noGrp]"), cmp.Or(s.String("name"), "[noName]"), cmp.Or(s.String("namespace"), "[noNs]"))
	switch {
	case selected == 0:
		return nil, fmt.Errorf("nothing selected by %s", wanted)
	case selected > 1:
		return nil, fmt.Errorf("multiple matches for selector %s", wanted)
	case len(found) == 0:
		return nil, fmt.Errorf("fieldPath `%s` is missing for replacement source %s", strings.Join(path, "."), wanted)
	}
	if text, ok := found[0].(string); ok && s.String("options", "delimiter") != "" {
		parts := strings.Split(text, s.String("options", "delimiter"))
		i := int(s.Int64("options", "index"))
		if i < 0 || i >= len(parts) {
			return nil, fmt.Errorf("%q has no part %d", text, i)
		}
		return parts[i], nil
	}
	return found[0], nil
}

// selected reports whether a selector of a replacement matches the item.
func (it *item) selected(s object.Object) bool {
	for _, c := range [][2]string{{"kind", it.obj.Kind()}, {"group", groupOf(it.obj)},
		{"version", it.obj.APIVersion()[strings.Index(it.obj.APIVersion(), "/")+1:]}} {
		if want := s.String(c[0]); want != "" && want != c[1] {
			return false
		}
	}
	return s.String("name") == "" || it.is(s.String("namespace"), s.String("name"))
}

// into writes a value to the fields that a target of a replacement selects. It returns an error if an object lacks the field and
// the target does not create fields.
func into(t object.Object, value any, all []*item) error {
	create := t.True("options", "create")
	for _, it := range all {
		rejected := slices.ContainsFunc(t.Objects("reject"), it.selected)
		if rejected || !it.selected(t.At("select")) {
			continue
		}
		for _, text := range t.Strings("fieldPaths") {
			n := 0
			at(map[string]any(it.obj), segments(text), create, func(old any) any {
				n++
				return mixed(old, value, t.At("options"))
			})
			if n == 0 {
				return fmt.Errorf("unable to find field %q in replacement target", text)
			}
		}
	}
	return nil
}

// mixed replaces the part of a string that options select. Without a delimiter it replaces the whole value.
func mixed(old, value any, options object.Object) any {
	delimiter := options.String("delimiter")
	if delimiter == "" {
		return converted(old, value)
	}
	text, _ := old.(string)
	parts, part := strings.Split(text, delimiter), fmt.Sprint(value)
	switch i := int(options.Int64("index")); {
	case i < 0:
		parts = append([]string{part}, parts...)
	case i >= len(parts):
		parts = append(parts, part)
	default:
		parts[i] = part
	}
	return strings.Join(parts, delimiter)
}

// converted returns a value in the type of the field that it replaces: only the text of a scalar is copied (setTargetScalar).
func converted(old, value any) any {
	switch old.(type) {
	case string:
		switch value.(type) {
		case int64, float64, bool:
			return fmt.Sprint(value)
		}
	case int64:
		if text, ok := value.(string); ok {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				return n
			}
		}
	}
	return value
}

// segments splits a path such as spec.containers.[name=a].image. \. is a literal dot in a name.
func segments(path string) (out []string) {
	var current strings.Builder
	inside := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\' && i+1 < len(path) && path[i+1] == '.':
			i++
			current.WriteByte('.')
		case c == '.' && !inside:
			out = append(out, current.String())
			current.Reset()
		default:
			inside = c == '[' || inside && c != ']'
			current.WriteByte(c)
		}
	}
	return append(out, current.String())
}

// at calls f with each value at a path and replaces the value with the result. If create is true, it creates missing fields.
func at(v any, path []string, create bool, f func(any) any) {
	step, rest := path[0], path[1:]
	visit := func(old any, put func(any)) {
		if len(rest) == 0 {
			put(f(old))
			return
		}
		at(old, rest, create, f)
	}
	switch v := v.(type) {
	case map[string]any:
		old, ok := v[step]
		if !ok && create && len(rest) > 0 {
			old, ok = map[string]any{}, true
			v[step] = old
		}
		if ok || create {
			visit(old, func(x any) { v[step] = x })
		}
	case []any:
		key, want, named := strings.Cut(strings.Trim(step, "[]"), "=")
		for i, x := range v {
			m, _ := x.(map[string]any)
			if step == "*" || step == strconv.Itoa(i) || named && m != nil && fmt.Sprint(m[key]) == want {
				visit(x, func(y any) { v[i] = y })
			}
		}
	}
}
