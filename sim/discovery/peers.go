package discovery

import (
	"maps"
	"reflect"
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
)

// merged serves /apis with the union of the groups of this server and its peers (KEP-4020). Only built-in groups are merged,
// because custom resources are the same on all servers. The union is computed for each request, since the peers may have changed.
func (d *Documents) merged(r *Request, f codec.Format) *Answer {
	const key = "merged /apis"
	delete(d.made, key)
	delete(d.etags, key)
	return d.groupList(r, f, key, func() []any {
		var lists [][]any
		own := 0
		for _, peer := range d.o.Host.Peers() {
			if peer == d {
				own = len(lists)
			}
			peer.load()
			lists = append(lists, groupsOf(peer.groups, peer != d))
		}
		return mergeGroups(lists, own)
	})
}

// groupsOf returns the APIGroupDiscovery of each group. For a peer, it omits custom groups.
func groupsOf(groups []group, peer bool) []any {
	items := []any{}
	for i := range groups {
		if peer && groups[i].custom {
			continue
		}
		if item := groups[i].discovery(); item != nil {
			items = append(items, item)
		}
	}
	return items
}

// A merger merges two objects, and reports whether the result differs from a.
type merger func(a, b map[string]any) (merged map[string]any, changed bool)

// mergeGroups merges the groups of servers in the given order. own is the index of the server that handles the request
// (peerAggregatedDiscoveryHandler.mergeResources).
func mergeGroups(lists [][]any, own int) []any {
	versions := inField("versions", versionName, inField("resources", resourceName, mergeResource))
	merged, _ := mergeLists(lists, own, groupName, versions)
	return merged
}

// inField returns a merger that merges the lists in the given field of both objects.
func inField(field string, name func(any) string, merge merger) merger {
	return func(a, b map[string]any) (map[string]any, bool) {
		merged, changed := mergeLists([][]any{object.Object(a).List(field), object.Object(b).List(field)}, 0, name, merge)
		if !changed {
			return a, false
		}
		out := maps.Clone(a)
		out[field] = merged
		return out, true
	}
}

// mergeLists merges lists of named objects, and reports whether the result differs from lists[own].
func mergeLists(lists [][]any, own int, name func(any) string, merge merger) (merged []any, changed bool) {
	all := map[string]any{}
	var orders [][]string
	alike := true
	for _, list := range lists {
		for _, x := range list {
			have, ok := all[name(x)].(map[string]any)
			if !ok {
				all[name(x)] = x
				continue
			}
			both, more := merge(have, x.(map[string]any))
			all[name(x)], changed = both, changed || more
		}
		orders = append(orders, namesOf(list, name))
		alike = alike && slices.Equal(orders[len(orders)-1], namesOf(lists[own], name))
	}
	switch {
	case alike && !changed:
		return lists[own], false
	case alike:
		return inOrder(all, orders[own]), true
	}
	return inOrder(all, mergeOrders(orders)), true
}

// mergeResource returns a resource with the verbs and subresources of both, sorted.
func mergeResource(a, b map[string]any) (map[string]any, bool) {
	if reflect.DeepEqual(a, b) {
		return a, false
	}
	out := maps.Clone(a)
	verbs := append(object.Object(a).Strings("verbs"), object.Object(b).Strings("verbs")...)
	out["verbs"] = object.FromStrings(sorted(verbs))
	subs := map[string]any{}
	for _, x := range slices.Concat(object.Object(a).List("subresources"), object.Object(b).List("subresources")) {
		subs[subresourceName(x)] = x
	}
	if len(subs) > 0 {
		out["subresources"] = inOrder(subs, object.SortedKeys(subs))
	}
	return out, true
}

func groupName(x any) string { return object.Object(x.(map[string]any)).String("metadata", "name") }

func versionName(x any) string { return object.Object(x.(map[string]any)).String("version") }

func resourceName(x any) string { return object.Object(x.(map[string]any)).String("resource") }

func subresourceName(x any) string { return object.Object(x.(map[string]any)).String("subresource") }

func namesOf(list []any, name func(any) string) []string {
	out := []string{}
	for _, x := range list {
		out = append(out, name(x))
	}
	return out
}

func inOrder(all map[string]any, order []string) []any {
	out := []any{}
	for _, name := range order {
		out = append(out, all[name])
	}
	return out
}

// mergeOrders merges lists of names and preserves the order of each list if possible (MergePreservingRelativeOrder). If one list
// contains all names, its order is used. Otherwise it repeatedly takes the alphabetically first name that has no remaining
// predecessor.
func mergeOrders(lists [][]string) []string {
	before := map[string]int{} // number of distinct direct predecessors of a name
	after := map[string]map[string]bool{}
	for _, list := range lists {
		for i, name := range list {
			before[name] += 0
			if i == 0 || after[list[i-1]][name] {
				continue
			}
			if after[list[i-1]] == nil {
				after[list[i-1]] = map[string]bool{}
			}
			after[list[i-1]][name] = true
			before[name]++
		}
	}
	names := object.SortedKeys(before)
	for _, list := range lists {
		if len(list) == len(names) {
			return list
		}
	}
	var out []string
	for len(before) > 0 {
		i := slices.IndexFunc(names, func(name string) bool { n, left := before[name]; return left && n == 0 })
		if i < 0 { // the orders contradict each other
			return names
		}
		delete(before, names[i])
		out = append(out, names[i])
		for next := range after[names[i]] { // order does not matter
			before[next]--
		}
	}
	return out
}
