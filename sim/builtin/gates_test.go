package builtin

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// typeAt returns the type at a path of a gate, or nil if there is no such field.
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

// withAllGates returns the definitions of a server with all feature gates enabled.
func withAllGates(t *testing.T, set *schema.Set) []*resource.Definition {
	t.Helper()
	server, err := kind.Server(set.Minor(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name := range server.Gates { // order does not matter
		server.Gates[name] = true
	}
	return DefinitionsFor(set, server)
}

// TestGatePaths checks that every path of a gate is a field of the kind in some minor.
func TestGatePaths(t *testing.T) {
	is := is.New(t)
	types := map[string][]*schema.Type{}
	for _, minor := range schema.Minors() {
		set, err := schema.LoadAll(minor)
		is.NoErr(err)
		for _, d := range withAllGates(t, set) {
			if d.Hub == d {
				types[d.Storage] = append(types[d.Storage], d.Type())
			}
		}
	}
	server, err := kind.Server(schema.Default, nil)
	is.NoErr(err)
	for _, k := range kinds() {
		for _, g := range k.Gates {
			_, known := server.Gates[g.Name]
			is.True(known) // a gate of the table
			paths := g.Fields
			if g.Values != nil {
				paths = append(paths, g.Values.Path)
			}
			for _, path := range paths {
				found := false
				for _, typ := range types[k.Storage] {
					found = found || typeAt(typ, path) != nil
				}
				if !found {
					t.Errorf("%s: %s has no %s", g.Name, k.Storage, path)
				}
			}
		}
	}
}
