package builtin

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// TestSubresources checks that kinds refer only to subresources that are served, and that a resource with a status
// subresource has HasStatus or declares the fields that its main resource resets.
func TestSubresources(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	defs := map[string]*resource.Definition{} // from the newest minor version that serves each of them
	var all []*resource.Definition
	for _, minor := range schema.Minors() {
		set, err := schema.LoadAll(minor)
		is.NoErr(err)
		all = append(all, withAllGates(t, set)...)
	}
	for _, d := range all {
		defs[d.Storage] = d
		_, ok := d.Hub.Strategy.ResetFields[""]
		if sub := d.Sub("status"); sub != nil && !d.Hub.Strategy.HasStatus && !ok {
			t.Errorf("%s: a status of the main resource can be owned: HasStatus or an entry of Resets says that it cannot", d.Storage)
		}
	}
	for _, k := range kinds() {
		d := defs[k.Storage]
		if d == nil {
			t.Errorf("%s is not served", k.Storage)
			continue
		}
		for sub := range k.Strategy.ResetFields { // order does not matter
			is.True(sub == "" || d.Sub(sub) != nil) // the subresource is served
		}
		for sub := range k.Strategy.Checks.Subresources { // order does not matter
			is.True(d.Sub(sub) != nil) // the subresource is served
		}
		for sub := range k.Bodies { // order does not matter
			is.True(d.Sub(sub) != nil && k.Connect[sub] != nil) // a subresource with its own body
		}
	}
}

// TestEveryKindHasRules searches for resources of the schema data that no package declares. They would be stored without
// defaults and without validation.
func TestEveryKindHasRules(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	has := map[string]bool{}
	for _, k := range kinds() {
		has[k.Storage] = true
	}
	for _, minor := range schema.Minors() {
		set, err := schema.LoadAll(minor)
		is.NoErr(err)
		for _, d := range Definitions(set) {
			if !has[d.Storage] {
				t.Errorf("%s of %s has no kind: add a literal to Kinds of its group's package", d.Storage, minor)
				has[d.Storage] = true
			}
		}
	}
}

// served returns all kinds as a 1.36 server serves them.
var served = kindtest.Served(kinds)
