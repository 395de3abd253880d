package builtin

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// TestColumns checks that every column of every kind has a description, and that an empty object has a cell for each
// column.
func TestColumns(t *testing.T) {
	is := is.New(t)
	sets := map[string]*schema.Set{} // of the newest minor that serves a kind
	for _, minor := range schema.Minors() {
		set, err := schema.LoadAll(minor)
		is.NoErr(err)
		for _, d := range withAllGates(t, set) {
			sets[d.Storage] = set
		}
	}
	for name, k := range served() { // order does not matter
		for _, c := range k.Columns {
			if name == "runtimeclasses.node.k8s.io" && c.Name == "Handler" || name == "leasecandidates.coordination.k8s.io" && strings.HasSuffix(c.Name, "Version") {
				continue // the real server takes the text from a field that does not exist
			}
			if d := c.Define(sets[name]); d.Description == "" && (d.Describe == nil || d.Describe() == "") {
				t.Errorf("%s: column %s has no description", name, c.Name)
			}
		}
		if k.Row == nil {
			continue
		}
		cells := len(k.Row(kindtest.New(t, served, name).Ctx.Now, object.Object{}).Cells)
		if name == "ipaddresses.networking.k8s.io" {
			cells-- // the real server prints an age without a column
		}
		is.Equal(cells, len(k.Columns)) // one cell per column
	}
}

// TestNothingPanics checks that incomplete objects cause no panic.
func TestNothingPanics(t *testing.T) {
	for name, k := range served() { // order does not matter
		if k.Strategy.Virtual {
			continue
		}
		for _, text := range []string{`{}`, `{'metadata':{'name':'x'},'spec':{}}`, `{'metadata':{'name':'x'},'spec':{},'status':{}}`} {
			r := kindtest.New(t, served, name)
			r.Ctx.Name = "x"
			obj, _ := r.Create(text)
			for _, sub := range []string{"", "status"} {
				r.Update(obj, `{'spec':{'ports':[{}],'rules':[{}],'type':'LoadBalancer'},'subsets':[{}],'rules':[{}],'roleRef':{},'status':{}}`, sub)
			}
		}
	}
}
