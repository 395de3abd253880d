package fieldmanager

import (
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// If a value is added or removed, its set contains all paths in the value. For a new object, the set is encoded as FieldsV1 in one
// sorted traversal. For a value that is added to or removed from an existing object, the encoded set is then parsed.

// first returns the entry for the creator of an object that was sent without managedFields: there is nothing to compare it with.
func (m *Manager) first(d *resource.Definition, _, obj object.Object, _ managed, by By) (managed, error) {
	if err := m.misfit(d, obj, true); err != nil {
		return nil, err
	}
	w := differ{}
	m.scratch = w.appendObject(m.scratch[:0], m.model(typeOf(d), d.Custom).root, obj, resets(d, ""))
	if w.err != nil || len(m.scratch) == 0 {
		return nil, w.err
	}
	e := by.updater(d.GV())
	if d.Custom { // third-party code may convert the object
		e.fields = parsed(m.scratch)
	} else {
		e.text = object.Raw(m.scratch)
	}
	return managed{e}, nil
}

// appendObject appends the encoded set of a new object, without paths that cannot be owned or that the write resets. It appends
// nothing if the set is empty.
func (d *differ) appendObject(b []byte, root *shape, obj map[string]any, putBack []string) []byte {
	start := len(b)
	d.eachField(root, obj, func(name string, text []byte, s *shape, zero, v any) {
		before := len(b)
		switch name {
		case "apiVersion", "kind":
		case "metadata":
			b = d.appendNew(b, text, s, leaf, v, unowned)
		default:
			b = d.appendNew(b, text, s, zero, v, nil)
		}
		if slices.Contains(putBack, name) { // also checks the fields that are reset
			b = b[:before]
		}
	})
	return closed(b, start)
}

// appendNew appends the encoded set of a field unless its value is the zero value. For a container that is always present, the set
// has only the paths below it, except the hidden ones. For a container that was set, it also has the container's path.
func (d *differ) appendNew(b, text []byte, s *shape, zero, v any, hidden []string) []byte {
	before := len(b)
	b = append(b, text...)
	start := len(b)
	switch {
	case zero == noZero:
		return d.appendAll(b, s, v)
	case s.asOne(zero, v):
		if !d.equal(s, zero, v) {
			return append(b, "{}"...)
		}
	case s.kind == set || s.kind == listMap:
		b = d.appendItems(b, s, v.([]any))
	default:
		absent := zero == nil // a nil pointer to a struct has no zero values below it
		d.eachField(s, v.(map[string]any), func(name string, text []byte, s *shape, zero, v any) {
			if absent {
				zero = noZero
			}
			if !slices.Contains(hidden, name) {
				b = d.appendNew(b, text, s, zero, v, nil)
			}
		})
	}
	if len(b) == start {
		return b[:before]
	}
	return closed(b, start)
}

// closed turns the fields after start, each of which begins with a comma, into an object. If there are none, it appends nothing.
func closed(b []byte, start int) []byte {
	if len(b) == start {
		return b
	}
	b[start] = '{'
	return append(b, '}')
}

// appendField appends the path element of a field, for a set below it.
func appendField(b []byte, name string) []byte {
	b = append(b, `,"f`...)
	quote := len(b)
	b = append(object.AppendString(b, name), ':')
	b[quote] = ':'
	return b
}

// all returns the paths of a value that is added or removed: its own and all below it.
func (d *differ) all(s *shape, v any) map[string]any {
	if s.atomic || !isContainer(v) {
		return leaf
	}
	return parsed(d.appendAll(nil, s, v))
}

// parsed parses a set that this package encoded.
func parsed(text []byte) map[string]any {
	set, err := object.Parse(text)
	if err != nil {
		panic("fieldmanager: " + err.Error())
	}
	return set
}

// appendAll appends the encoded result of all.
func (d *differ) appendAll(b []byte, s *shape, v any) []byte {
	start := len(b)
	b = append(b, `{".":{}`...)
	self := len(b)
	switch v := v.(type) {
	case map[string]any:
		if !s.atomic && (s.kind == structure || s.kind == dictionary || s.kind == deduced) {
			d.eachField(s, v, func(_ string, text []byte, s *shape, _, v any) { b = d.appendAll(append(b, text...), s, v) })
		}
	case []any:
		if !s.atomic && (s.kind == set || s.kind == listMap) {
			b = d.appendItems(b, s, v)
		}
	}
	if len(b) == self {
		b = b[:start+1] // {}
	}
	return append(b, '}')
}

// noZero is used instead of a zero value if the field is absent unless it is set.
var noZero any = new(byte)

// eachField calls yield for each field of an object, sorted by name, with the field's value and the value's shape and zero value.
// text is the encoded path element of the field; yield must not keep it.
func (d *differ) eachField(s *shape, m map[string]any, yield func(name string, text []byte, s *shape, zero, v any)) {
	if s.kind != structure || s.elem != nil {
		for _, name := range object.SortedKeys(m) {
			d.path = appendField(d.path[:0], name)
			yield(name, d.path, s.child(name), noZero, m[name])
		}
		return
	}
	for i := range s.fields {
		f := &s.fields[i]
		v, ok := f.in(m, s.typed)
		if !ok {
			continue
		}
		zero := noZero
		if s.typed && f.show == schema.Always {
			zero = f.zero
		}
		yield(f.name, f.text, f.shape, zero, v)
	}
}

// appendItems appends the encoded paths of the items of a list and the paths below them. Repeated items are owned as a whole.
func (d *differ) appendItems(b []byte, s *shape, l []any) []byte {
	type item struct {
		path  string
		value any
	}
	var room [8]item
	items := room[:0]
	for _, v := range l {
		items = append(items, item{d.itemPath(s, v), v})
	}
	slices.SortStableFunc(items, func(a, b item) int { return codec.ComparePathElements(a.path, b.path) })
	for i, x := range items {
		if i > 0 && items[i-1].path == x.path {
			continue
		}
		b = append(object.AppendString(append(b, ','), x.path), ':')
		if i+1 < len(items) && items[i+1].path == x.path {
			b = append(b, "{}"...)
		} else {
			b = d.appendAll(b, s.elem, x.value)
		}
	}
	return b
}

func (d *differ) itemPath(s *shape, item any) string {
	var err error
	if d.path, err = s.appendItemPath(d.path[:0], item, s.typed); err != nil && d.err == nil {
		d.err = err
	}
	return string(d.path)
}
