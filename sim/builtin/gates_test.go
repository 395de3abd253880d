package builtin

import (
	"strings"
	"testing"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/matryer/is"
)

// typeAt follows a path of the table into a type; nil: there is no such field.
func typeAt(t *schema.Type, path string) *schema.Type {
	for _, name := range strings.Split(strings.TrimSuffix(path, "?"), ".") {
		if name == "*" {
			t = t.Elem
			continue
		}
		f := t.Field(name)
		if f == nil {
			return nil
		}
		t = f.Type
	}
	return t
}

// Every path of a gate is a field of the kind in some minor.
func TestGatePaths(t *testing.T) {
	is := is.New(t)
	types := map[string][]*schema.Type{}
	for _, minor := range schema.Minors() {
		set, err := schema.Load(minor)
		is.NoErr(err)
		for _, d := range Definitions(set) {
			if d.Hub == d {
				types[d.Storage] = append(types[d.Storage], d.Type())
			}
		}
	}
	server, err := Server("1.36", nil)
	is.NoErr(err)
	for _, k := range kinds() {
		for _, g := range k.gates {
			_, known := server.Gates[g.name]
			is.True(known) // a gate of the table
			paths := g.fields
			if g.values != nil {
				paths = append(paths, g.values.path)
			}
			for _, path := range paths {
				found := false
				for _, typ := range types[k.storage] {
					found = found || typeAt(typ, path) != nil
				}
				if !found {
					t.Errorf("%s: %s has no %s", g.name, k.storage, path)
				}
			}
		}
	}
}

func TestServer(t *testing.T) {
	is := is.New(t)
	older, err := Server("1.34", map[string]bool{"VolumeLimitScaling": true})
	is.NoErr(err)
	newer, err := Server("1.36", nil)
	is.NoErr(err)
	is.True(older.Gates["VolumeLimitScaling"] && !newer.Gates["VolumeLimitScaling"]) // as asked, and off by default
	is.True(!older.Gates["ImageVolume"] && newer.Gates["ImageVolume"])               // on since 1.35
	is.Equal(older.Minor, 34)
	_, err = Server("1.36", map[string]bool{"X": true})
	is.True(err != nil)
	_, err = Server("latest", nil)
	is.True(err != nil)
}

// A field goes unless the stored object uses the gate's fields anywhere.
func TestDropGated(t *testing.T) {
	off := []gate{{fields: []string{"a.*.b.c?", "d"}}}
	for _, c := range [][3]string{
		{`{"a":[{"b":{"c":1}},{"b":{"c":1,"x":2}},{}],"d":3}`, ``, `{"a":[{},{"b":{"x":2}},{}]}`},
		{`{"a":{"k":{"b":{"c":1}}}}`, `{"a":[]}`, `{"a":{"k":{}}}`},
		{`{"a":[{"b":{"c":1}}]}`, `{"d":0}`, `{"a":[{"b":{"c":1}}]}`},
		{`{"d":1}`, `{"a":[{},{"b":{"c":0}}]}`, `{"d":1}`},
		{`{"a":"text","d":null}`, ``, `{"a":"text"}`},
	} {
		is := is.New(t)
		obj, err := object.Parse([]byte(c[0]))
		is.NoErr(err)
		var old object.Object
		if c[1] != "" {
			old, err = object.Parse([]byte(c[1]))
			is.NoErr(err)
		}
		dropGated(off, obj, old)
		is.Equal(string(object.JSON(map[string]any(obj))), c[2])
	}
}
