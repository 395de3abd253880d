package builtin

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// TestResets: each entry is about a resource and a subresource that are served, and a resource with a status subresource
// either has HasStatus or an entry.
func TestResets(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	set, err := schema.Load("1.36")
	is.NoErr(err)
	served := map[string]*resource.Definition{}
	for _, d := range Definitions(set) {
		served[d.Storage] = d
		_, ok := Reset(d, "")
		if sub := d.Sub("status"); sub != nil && !d.Hub.Strategy.HasStatus && !ok {
			t.Errorf("%s: a status of the main resource can be owned: HasStatus or an entry of resets says that it cannot", d.Storage)
		}
	}
	for storage, subs := range resets { // order does not matter
		d := served[storage]
		if d == nil {
			t.Errorf("%s is not served", storage)
			continue
		}
		for sub := range subs { // order does not matter
			is.True(sub == "" || d.Sub(sub) != nil) // the subresource is served
		}
	}
}
