package engine

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/resource"
)

// glanceView is one object as one API server has it in its watch cache, and in its version.
type glanceView struct {
	Replica int    `json:"replica"`
	Version string `json:"version"`
	Known   string `json:"known"`          // revision that the cache shows
	Rev     string `json:"rv,omitempty"`   // of the object; empty if it does not exist
	Text    string `json:"text,omitempty"` // YAML
	Serves  bool   `json:"serves"`         // the resource
}

// skew is the view of one object as two API servers have it, side by side: what From and To are called elsewhere, they are here
// by their numbers.
func (e *Engine) skew(q *request) (any, error) {
	var views []glanceView
	for i := 1; i <= e.run.world.Cluster().Replicas(); i++ {
		views = append(views, e.glance(i, q))
	}
	at := func(text string, usual int) *glanceView {
		n := slices.IndexFunc(views, func(v glanceView) bool { return formatRev(uint64(v.Replica)) == text })
		if n < 0 {
			n = min(usual, len(views)-1)
		}
		return &views[n]
	}
	one, other := at(q.From, 0), at(q.To, 1)
	return fields{"servers": len(views), "one": one, "other": other, "lines": diff(one.Text, other.Text)}, nil
}

// glance returns an object from a server's cache, as a request with resourceVersion=0 gets it.
func (e *Engine) glance(replica int, q *request) glanceView {
	server := e.server(replica)
	v := glanceView{Replica: replica, Version: e.run.world.Cluster().Replica(replica).State().Version}
	d := definitionOf(server, q.Resource)
	if d == nil {
		return v
	}
	cache := server.Registry.Backend.Cache(d.Hub)
	v.Serves, v.Known = true, formatRev(cache.Rev())
	if kv := cache.View().Get(d.Key(q.Namespace, q.Name)); kv != nil {
		obj := resource.ItemOf(d.Hub, kv).Object()
		v.Rev, v.Text = obj.ResourceVersion(), yamlText(map[string]any(obj))
	}
	return v
}

// definitionOf returns the resource that a page names, in the version that the server prefers, or nil if the server does not serve it.
func definitionOf(server *apiserver.Server, name string) *resource.Definition {
	plural, group, named := strings.Cut(name, ".")
	for _, d := range server.Table.All() {
		if (d.Resource == plural || slices.Contains(d.ShortNames, plural)) && (!named || d.Group == group) {
			return d
		}
	}
	return nil
}
