package conformance_test

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance"
)

// body makes one to three changes in the JSON body of a random step.
func (v *variation) body() string {
	return v.change(func(s conformance.Step) bool { return len(s.Body) > 2 && !s.Base64 }, func(s *conformance.Step) string {
		root, err := conformance.Decode([]byte(s.Body))
		if err != nil {
			return ""
		}
		var said []string
		for range 1 + v.IntN(3) {
			places := placesOf(root, "", nil)
			if len(places) == 0 {
				break
			}
			if text := v.edit(pick(v.Rand, places)); text != "" {
				said = append(said, text)
			}
		}
		if len(said) == 0 {
			return ""
		}
		s.Body = conformance.Encode(root, false)
		return s.Name + " with " + strings.Join(said, ", ")
	})
}

// place is a member of an object or an item of a list.
type place struct {
	path   string
	object *conformance.Object
	key    string
	list   *conformance.List
	index  int
}

func (p place) get() any {
	if p.object != nil {
		return p.object.Get(p.key)
	}
	return p.list.Items[p.index]
}

func (p place) set(x any) {
	if p.object != nil {
		p.object.Set(p.key, x)
		return
	}
	p.list.Items[p.index] = x
}

// placesOf appends all places below v to the given ones, in order. It omits apiVersion and kind, because the server
// validates little else if they are wrong.
func placesOf(v any, path string, into []place) []place {
	switch v := v.(type) {
	case *conformance.Object:
		for _, k := range v.Keys {
			if path == "" && (k == "apiVersion" || k == "kind") {
				continue
			}
			into = append(into, place{path: path + "." + k, object: v, key: k})
			into = placesOf(v.Members[k], path+"."+k, into)
		}
	case *conformance.List:
		for i, x := range v.Items {
			at := path + "[" + strconv.Itoa(i) + "]"
			into = append(into, place{path: at, list: v, index: i})
			into = placesOf(x, at, into)
		}
	}
	return into
}

// edit changes one place of a body and returns a description, or "" if the random change is impossible there.
func (v *variation) edit(p place) string {
	switch v.IntN(7) {
	case 0:
		if p.object != nil {
			p.object.Delete(p.key)
			return p.path + " removed"
		}
		p.list.Items = slices.Delete(p.list.Items, p.index, p.index+1)
		return p.path + " removed"
	case 1:
		if p.list == nil {
			return ""
		}
		p.list.Items = slices.Insert(p.list.Items, v.IntN(len(p.list.Items)+1), conformance.Clone(p.get()))
		return p.path + " twice"
	case 2:
		o, ok := p.get().(*conformance.Object)
		if !ok {
			return ""
		}
		o.Set("unknown", "x")
		return p.path + ".unknown"
	case 3:
		if x, ok := v.borrow(p.key); ok {
			p.set(x)
			return p.path + " borrowed"
		}
		return ""
	}
	x := v.edge(p.get())
	p.set(x)
	return p.path + ": " + conformance.Encode(x, false)
}

// borrow returns a plausible value for a key, taken from the body of another step. ok is false if it finds none in a
// few attempts.
func (v *variation) borrow(key string) (any, bool) {
	if key == "" || key == "metadata" || len(v.donors) == 0 {
		return nil, false
	}
	for range 20 {
		steps := pick(v.Rand, v.donors).Steps
		if len(steps) == 0 {
			continue
		}
		root, err := conformance.Decode([]byte(pick(v.Rand, steps).Body))
		if err != nil {
			continue
		}
		for _, p := range placesOf(root, "", nil) {
			if p.key == key {
				return conformance.Clone(p.get()), true
			}
		}
	}
	return nil, false
}

// edge returns a replacement for old, in most cases an edge case of the same type.
func (v *variation) edge(old any) any {
	if v.IntN(12) == 0 {
		return pick(v.Rand, []any{nil, "", conformance.Int("0"), true, &conformance.Object{Members: map[string]any{}}, &conformance.List{}, "x", conformance.Int("-1")})
	}
	switch old := old.(type) {
	case string:
		return pick(v.Rand, []any{
			"", "a", "b", old + "x", strings.ToUpper(old), old + "-", strings.Repeat("a", 64), "a/b", "1", "10m", "0", "-1", "1Gi", "a.b", "None", nil,
		})
	case conformance.Int:
		return pick(v.Rand, []any{conformance.Int("0"), conformance.Int("1"), conformance.Int("-1"), conformance.Int("2"), conformance.Int("65536"), conformance.Int("2147483648"), old + "0", "1", 1.5, nil})
	case bool:
		return !old
	case *conformance.List:
		return pick(v.Rand, []any{&conformance.List{}, nil, &conformance.List{Items: []any{""}}})
	case *conformance.Object:
		return pick(v.Rand, []any{&conformance.Object{Members: map[string]any{}}, nil})
	}
	return "x"
}
