package discovery

import (
	"crypto/sha512"
	"encoding/hex"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/wire"
)

var discoveryList = schema.GVK{Group: "apidiscovery.k8s.io", Version: "v2", Kind: "APIGroupDiscoveryList"}

// aggregated serves /api and /apis in the aggregated form: all groups, versions and resources in one document.
func (d *Documents) aggregated(r *Request, f codec.Format, path string, groups []group) *Answer {
	return d.groupList(r, f, "aggregated "+path, func() []any { return groupsOf(groups, false) })
}

// groupList serves an APIGroupDiscoveryList, which is cached under key. Clients cache the document and revalidate it with
// If-None-Match.
func (d *Documents) groupList(r *Request, f codec.Format, key string, items func() []any) *Answer {
	build := func() object.Object {
		return object.Object{"kind": discoveryList.Kind, "apiVersion": discoveryList.GV(), "metadata": map[string]any{}, "items": items()}
	}
	if d.etags[key] == "" {
		d.etags[key] = `"` + hash(d.json(key, discoveryList, build)) + `"`
	}
	a := &Answer{Code: wire.StatusNotModified, Header: wire.Header{}}
	if r.Header.Get("If-None-Match") != d.etags[key] {
		a = d.document(f, key, discoveryList, build)
	}
	a.Header.Set("ETag", d.etags[key])
	a.Header.Set("Vary", "Accept")
	a.Header.Set("Cache-Control", "public")
	return a
}

func hash(document []byte) string {
	sum := sha512.Sum512(document)
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// discovery returns the APIGroupDiscovery of a group, or nil if no version of it is served.
func (g *group) discovery() map[string]any {
	meta := map[string]any{}
	if g.name != "" {
		meta["name"] = g.name
	}
	var versions []any
	for _, v := range g.versions {
		switch {
		case v.remote != nil && v.remote.Nobody, v.empty():
			continue
		case v.remote != nil:
			versions = append(versions, v.remote.discovery())
			continue
		}
		rows := make([]any, len(v.defs))
		for j, def := range v.defs {
			rows[j] = resourceDiscovery(def)
		}
		versions = append(versions, map[string]any{"version": v.name, "resources": rows, "freshness": "Current"})
	}
	if versions == nil {
		return nil
	}
	return map[string]any{"metadata": meta, "versions": versions}
}

// resourceDiscovery returns the APIResourceDiscovery of a resource.
func resourceDiscovery(def *resource.Definition) map[string]any {
	scope := "Cluster"
	if def.Namespaced {
		scope = "Namespaced"
	}
	row := map[string]any{
		"resource":         def.Resource,
		"responseKind":     responseKind(def, def.GVK),
		"scope":            scope,
		"singularResource": def.Singular,
		"verbs":            object.FromStrings(verbs(def)),
	}
	setStrings(row, "shortNames", def.ShortNames)
	setStrings(row, "categories", def.Categories)
	var subs []any
	for _, sub := range subresources(def) {
		subs = append(subs, map[string]any{
			"subresource":  sub.Name,
			"responseKind": responseKind(def, sub.GVK),
			"verbs":        object.FromStrings(sub.Verbs),
		})
	}
	if subs != nil {
		row["subresources"] = subs
	}
	return row
}

// responseKind returns the kind of a resource for its discovery document. For a custom resource, group and version are always set.
// For a built-in resource they are only set if they differ from those of the resource.
func responseKind(def *resource.Definition, kind schema.GVK) map[string]any {
	if kind.GV() == def.GV() && !def.Custom {
		kind.Group, kind.Version = "", ""
	}
	return map[string]any{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
}
