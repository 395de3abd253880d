package conformance

import (
	"slices"
	"strconv"
	"strings"
)

// body changes a JSON body in one to three places.
func (v *variation) body() string {
	return v.change(func(s Step) bool { return len(s.Body) > 2 && !s.Base64 }, func(s *Step) string {
		root, err := decode([]byte(s.Body))
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
		s.Body = encode(root, false)
		return s.Name + " with " + strings.Join(said, ", ")
	})
}

// place is a member of an object or an item of a list.
type place struct {
	path   string
	object *Object
	key    string
	list   *List
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

// placesOf lists every place below v in order, except apiVersion and kind: with wrong ones the rest is hardly validated.
func placesOf(v any, path string, into []place) []place {
	switch v := v.(type) {
	case *Object:
		for _, k := range v.Keys {
			if path == "" && (k == "apiVersion" || k == "kind") {
				continue
			}
			into = append(into, place{path: path + "." + k, object: v, key: k})
			into = placesOf(v.Members[k], path+"."+k, into)
		}
	case *List:
		for i, x := range v.Items {
			at := path + "[" + strconv.Itoa(i) + "]"
			into = append(into, place{path: at, list: v, index: i})
			into = placesOf(x, at, into)
		}
	}
	return into
}

// edit changes one place and says how.
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
		p.list.Items = slices.Insert(p.list.Items, v.IntN(len(p.list.Items)+1), clone(p.get()))
		return p.path + " twice"
	case 2:
		o, ok := p.get().(*Object)
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
	return p.path + ": " + short(x)
}

// borrow returns the value of the key in another body, which is plausible.
func (v *variation) borrow(key string) (any, bool) {
	if key == "" || key == "metadata" || len(v.donors) == 0 {
		return nil, false
	}
	for range 20 {
		steps := pick(v.Rand, v.donors).Steps
		if len(steps) == 0 {
			continue
		}
		root, err := decode([]byte(pick(v.Rand, steps).Body))
		if err != nil {
			continue
		}
		for _, p := range placesOf(root, "", nil) {
			if p.key == key {
				return clone(p.get()), true
			}
		}
	}
	return nil, false
}

// edge returns a replacement for old: mostly an edge case of the same type.
func (v *variation) edge(old any) any {
	if v.IntN(12) == 0 {
		return pick(v.Rand, []any{nil, "", Int("0"), true, newObject(), &List{}, "x", Int("-1")})
	}
	switch old := old.(type) {
	case string:
		return pick(v.Rand, []any{
			"", "a", "b", old + "x", strings.ToUpper(old), old + "-", strings.Repeat("a", 64), "a/b", "1", "10m", "0", "-1", "1Gi", "a.b", "None", nil,
		})
	case Int:
		return pick(v.Rand, []any{Int("0"), Int("1"), Int("-1"), Int("2"), Int("65536"), Int("2147483648"), old + "0", "1", 1.5, nil})
	case bool:
		return !old
	case *List:
		return pick(v.Rand, []any{&List{}, nil, &List{Items: []any{""}}})
	case *Object:
		return pick(v.Rand, []any{newObject(), nil})
	}
	return "x"
}
