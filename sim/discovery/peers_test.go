package discovery

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const aggregatedAccept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// without returns the documents of a server that does not serve the given group versions and resources.
func without(t *testing.T, left ...string) *Documents {
	t.Helper()
	d := documents(t)
	var kept []*resource.Definition
	for _, def := range d.o.Table.All() {
		gone := false
		for _, x := range left {
			gone = gone || def.GV() == x || def.GV()+"/"+def.Resource == x
		}
		if !gone {
			kept = append(kept, def)
		}
	}
	d.o.Table = resource.NewTable(kept)
	d.Changed()
	return d
}

// peered is a Host for servers that are peers of each other.
type peered struct {
	StandaloneHost
	all []*Documents
}

func (p *peered) Peers() []*Documents { return p.all }

// A server also publishes the groups of its peers, in an order that is consistent with all of them, unless the client requests only
// the server's own groups.
func TestMergedDiscovery(t *testing.T) {
	is := is.New(t)
	a, b := without(t, "batch/v1", "autoscaling/v1", "apps/v1/daemonsets"), without(t, "policy/v1")
	b.o.Table.Add(custom("example.com", "v1", "widgets", "Widget"))
	peers := &peered{all: []*Documents{a, b}}
	a.o.Host, b.o.Host = peers, peers
	all := documents(t)
	versions := func(d *Documents, accept string) map[string][]string {
		out := map[string][]string{}
		for _, x := range body(t, get(t, d, "/apis", "Accept", accept)).List("items") {
			g := object.Object(x.(map[string]any))
			out[""] = append(out[""], g.String("metadata", "name"))
			out[g.String("metadata", "name")] = namesOf(g.List("versions"), versionName)
		}
		return out
	}
	want := versions(all, aggregatedAccept)
	is.Equal(versions(a, aggregatedAccept), want) // peers do not publish custom resources
	is.Equal(versions(a, aggregatedAccept+";profile=nopeer")["batch"], []string(nil))
	is.Equal(versions(a, aggregatedAccept+";profile=nopeer")["autoscaling"], []string{"v2"})
	merged := versions(b, aggregatedAccept)
	is.Equal(merged["policy"], want["policy"])
	is.Equal(merged["example.com"], []string{"v1"}) // but its own

	apps := func(d *Documents) object.Object {
		for _, x := range body(t, get(t, d, "/apis", "Accept", aggregatedAccept)).List("items") {
			if groupName(x) == "apps" {
				return x.(map[string]any)
			}
		}
		return nil
	}
	is.Equal(apps(a), apps(all)) // resources, too
	first, second := get(t, a, "/apis", "Accept", aggregatedAccept), get(t, a, "/apis", "Accept", aggregatedAccept)
	is.Equal(first.Header.Get("ETag"), second.Header.Get("ETag"))
	is.True(first.Header.Get("ETag") != get(t, a, "/apis", "Accept", aggregatedAccept+";profile=nopeer").Header.Get("ETag"))
}

func TestMergeOrders(t *testing.T) {
	is := is.New(t)
	for _, x := range []struct{ a, b, want []string }{
		{[]string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}},
		{[]string{"b", "a"}, []string{"a"}, []string{"b", "a"}},                          // the list that contains all names
		{[]string{"c", "a"}, []string{"c", "b"}, []string{"c", "a", "b"}},                // by name if the lists do not determine the order
		{[]string{"z", "a"}, []string{"a", "b"}, []string{"z", "a", "b"}},                // both orders are preserved
		{[]string{"a", "b"}, []string{"b", "a"}, []string{"a", "b"}},                     // the first list that contains all names
		{[]string{"b", "a", "c"}, []string{"a", "b"}, []string{"b", "a", "c"}},           // although the other list contradicts it
		{[]string{"b", "a", "c"}, []string{"a", "b", "d"}, []string{"a", "b", "c", "d"}}, // contradictory lists: by name
	} {
		is.Equal(mergeOrders([][]string{x.a, x.b}), x.want)
	}
}

// A merged resource has the verbs and subresources of both servers.
func TestMergeResource(t *testing.T) {
	is := is.New(t)
	row := func(verbs []string, subs ...string) map[string]any {
		list := []any{}
		for _, s := range subs {
			list = append(list, map[string]any{"subresource": s})
		}
		return map[string]any{"resource": "r", "verbs": object.FromStrings(verbs), "subresources": list}
	}
	merged, changed := mergeResource(row([]string{"get", "list"}, "status"), row([]string{"create", "get"}, "scale"))
	is.True(changed)
	is.Equal(merged, row([]string{"create", "get", "list"}, "scale", "status"))
}
