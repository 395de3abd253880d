package discovery

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Remote is a group version served by an aggregated API server, as described by its APIService and by that server. It replaces a
// version that is served here.
type Remote struct {
	Group, Version  string
	VersionPriority int64

	// Nobody reports whether the version appears only in the lists of groups, because its APIService does not refer to a service
	// and this server does not serve the version.
	Nobody bool

	Resources []any // APIResourceDiscovery
	Stale     bool  // the server is unavailable, so its resources are not known to be current
	OpenAPI   RemoteOpenAPI
}

// RemoteOpenAPI contains the OpenAPI documents of an aggregated API server. While the server is unavailable, its last documents are
// kept.
type RemoteOpenAPI struct {
	V2 map[string]any // nil until it is fetched
	V3 map[string]any // paths of the documents by key, as in the index; nil until they are fetched
}

// Take replaces the documents with the fetched ones.
func (o *RemoteOpenAPI) Take(read RemoteOpenAPI) {
	if read.V2 != nil {
		o.V2 = read.V2
	}
	if read.V3 != nil {
		o.V3 = read.V3
	}
}

// remotes returns the versions of aggregated API servers.
func (d *Documents) remotes() []Remote {
	return d.o.Host.Remotes()
}

// addRemotes adds the versions of aggregated API servers to the groups.
func (d *Documents) addRemotes(remotes []Remote) {
	for i := range remotes {
		r := &remotes[i]
		g := d.group(r.Group)
		v := g.version(r.Version)
		if v == nil {
			v = g.add(r.Version)
		} else if r.Nobody {
			continue
		}
		v.remote, v.defs = r, nil
	}
}

// The priorities of the APIServices that the API server creates for groups and versions of custom resources.
const (
	customPriority = 100
	groupRankMax   = 1 << 20 // higher than any group priority
)

// priority returns the priority of the version's APIService, which determines the order of custom and aggregated versions. Built-in
// versions have the highest priority.
func (v *version) priority() int64 {
	switch {
	case v.remote != nil:
		return v.remote.VersionPriority
	case len(v.defs) > 0 && v.defs[0].Custom:
		return customPriority
	}
	return groupRankMax
}

// discovery returns the APIVersionDiscovery of the version.
func (r *Remote) discovery() map[string]any {
	out := map[string]any{"version": r.Version, "freshness": "Current"}
	if r.Stale {
		out["freshness"] = "Stale"
	}
	if len(r.Resources) > 0 {
		out["resources"] = r.Resources
	}
	return out
}

// mergeV2 adds the paths and definitions of an aggregated API server's version to the OpenAPI document. If a definition's name is
// already used for another definition, it is renamed (kube-openapi, MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters).
func mergeV2(model map[string]any, r *Remote) {
	renamed := map[string]string{}
	for _, kind := range []string{"definitions", "parameters"} {
		ours, theirs := subMap(model, kind), object.Object(r.OpenAPI.V2).Map(kind)
		for _, name := range object.SortedKeys(theirs) {
			if free := freeName(ours, name, theirs[name]); free != name {
				renamed["#/"+kind+"/"+name] = "#/" + kind + "/" + free
			}
		}
	}
	for _, kind := range []string{"definitions", "parameters"} {
		ours, theirs := subMap(model, kind), object.Object(r.OpenAPI.V2).Map(kind)
		for _, name := range object.SortedKeys(theirs) {
			ours[freeName(ours, name, theirs[name])] = rereferred(theirs[name], renamed)
		}
	}
	paths, prefix := subMap(model, "paths"), "/apis/"+r.Group+"/"+r.Version+"/"
	theirs := object.Object(r.OpenAPI.V2).Map("paths")
	for _, path := range object.SortedKeys(theirs) {
		if _, taken := paths[path]; !taken && strings.HasPrefix(path, prefix) {
			paths[path] = rereferred(theirs[path], renamed)
		}
	}
}

// subMap returns the map in the named field of a document. If there is none, it creates one.
func subMap(doc map[string]any, name string) map[string]any {
	m, ok := doc[name].(map[string]any)
	if !ok {
		m = map[string]any{}
		doc[name] = m
	}
	return m
}

// freeName returns the first of name, name_v2, name_v3, … that is not taken or whose value equals the given one.
func freeName(taken map[string]any, name string, value any) string {
	for i, free := 2, name; ; i++ {
		if have, ok := taken[free]; !ok || object.Equal(have, value) {
			return free
		}
		free = fmt.Sprintf("%s_v%d", name, i)
	}
}

// rereferred returns a copy of value with updated references to the renamed definitions.
func rereferred(value any, renamed map[string]string) any {
	switch x := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(x))
		for name, v := range x { // order does not matter
			if to, ok := v.(string); ok && name == "$ref" && renamed[to] != "" {
				v = renamed[to]
			}
			out[name] = rereferred(v, renamed)
		}
		return out
	case []any:
		out := make([]any, len(x))
		for i := range x {
			out[i] = rereferred(x[i], renamed)
		}
		return out
	}
	return value
}
