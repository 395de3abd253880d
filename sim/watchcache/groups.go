package watchcache

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// groups indexes the watches of a cache by the keys that they cover. A watch that requires a value of the kind's indexed field
// is indexed by that value instead:
//
//	paths    /registry/pods/            w1 w4    all pods
//	         /registry/pods/default/    w2       a namespace
//	         /registry/pods/default/a   w6       one pod
//	values   node-1                     w3 w5    spec.nodeName=node-1
//
// A commit is only offered to the watches in the groups that it concerns. If each of 5,000 nodes has a watch, these are the
// watches of at most two nodes.
type groups struct {
	paths  map[string][]*Watch
	values map[string][]*Watch
	def    *resource.Definition // definition of the watches in values
	joined uint64               // the number of watches added so far
}

// of returns the map and the key in it under which the group of w is stored.
func (g *groups) of(w *Watch) (group map[string][]*Watch, name string) {
	switch {
	case w.key != "":
		return g.paths, w.key
	case w.selects:
		return g.values, w.value
	}
	return g.paths, w.prefix
}

func (g *groups) add(w *Watch) {
	if g.paths == nil {
		g.paths, g.values = map[string][]*Watch{}, map[string][]*Watch{}
	}
	if w.selects {
		g.def = w.def
	}
	g.joined++
	group, name := g.of(w)
	group[name] = append(group[name], w)
}

func (g *groups) remove(w *Watch) {
	group, name := g.of(w)
	watches := group[name]
	i := slices.Index(watches, w)
	switch {
	case i >= 0 && len(watches) == 1:
		delete(group, name)
	case i >= 0:
		group[name] = slices.Concat(watches[:i], watches[i+1:]) // a copy, because a loop may be iterating over the old slice
	}
}

// concerned returns the watches that a commit may concern, in the order in which they joined. prefix is the prefix of all keys of
// the cache.
func (g *groups) concerned(e *mvcc.Event, prefix string) []*Watch {
	if len(g.paths)+len(g.values) == 0 {
		return nil
	}
	found := g.paths[e.Key]
	for i := len(prefix) - 1; i < len(e.Key); i++ {
		if e.Key[i] == '/' {
			found = inOrder(found, g.paths[e.Key[:i+1]])
		}
	}
	if len(g.values) == 0 {
		return found
	}
	now, before := indexed(g.def, e.KV), indexed(g.def, e.Prev)
	if e.KV != nil {
		found = inOrder(found, g.values[now])
	}
	if e.Prev != nil && (e.KV == nil || before != now) {
		found = inOrder(found, g.values[before])
	}
	return found
}

// all returns all watches, in the order in which they joined.
func (g *groups) all() (watches []*Watch) {
	for _, group := range []map[string][]*Watch{g.paths, g.values} {
		for _, name := range object.SortedKeys(group) {
			watches = append(watches, group[name]...)
		}
	}
	slices.SortFunc(watches, byNumber)
	return watches
}

// inOrder returns the watches of two groups in the order in which they joined.
func inOrder(a, b []*Watch) []*Watch {
	switch {
	case len(b) == 0:
		return a
	case len(a) == 0:
		return b
	}
	both := slices.Concat(a, b)
	slices.SortFunc(both, byNumber)
	return both
}

func byNumber(a, b *Watch) int { return cmp.Compare(a.number, b.number) }
