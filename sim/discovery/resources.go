package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// resources serves /api/v1 and /apis/GROUP/VERSION.
func (d *Documents) resources(r *Request, g *group, v *version, o codec.Options) *Answer {
	f, s := negotiate(r, o)
	if s != nil {
		return failed(s)
	}
	gv := g.groupVersion(v.name)
	return d.document(f, "resources "+gv, schema.GVK{Version: "v1", Kind: "APIResourceList"}, func() object.Object {
		list := object.Object{"kind": "APIResourceList", "groupVersion": gv}
		if g.name != "" {
			list["apiVersion"] = "v1"
		}
		rows := []any{}
		for _, def := range v.defs {
			rows = append(rows, d.apiResource(def))
			for _, sub := range subresources(def) {
				rows = append(rows, apiSubresource(def, sub))
			}
		}
		list["resources"] = rows
		return list
	})
}

// subresources returns the subresources in discovery order. They are sorted by name, but for custom resources status precedes
// scale.
func subresources(def *resource.Definition) []resource.Subresource {
	if !def.Custom {
		return def.Subresources
	}
	subs := slices.Clone(def.Subresources)
	slices.SortStableFunc(subs, func(a, b resource.Subresource) int { return strings.Compare(b.Name, a.Name) })
	return subs
}

// apiResource returns the APIResource of a resource.
func (d *Documents) apiResource(def *resource.Definition) map[string]any {
	row := map[string]any{
		"name":         def.Resource,
		"singularName": def.Singular,
		"namespaced":   def.Namespaced,
		"kind":         def.Kind,
		"verbs":        object.FromStrings(verbs(def)),
	}
	setStrings(row, "shortNames", def.ShortNames)
	setStrings(row, "categories", def.Categories)
	if hash := d.storageVersionHash(def); hash != "" {
		row["storageVersionHash"] = hash
	}
	return row
}

// verbs returns the verbs that discovery lists. While a definition is being deleted, its objects cannot be created or changed.
func verbs(def *resource.Definition) []string {
	if !def.Terminating {
		return def.Verbs
	}
	return slices.DeleteFunc(slices.Clone(def.Verbs), func(verb string) bool {
		return verb == "create" || verb == "update" || verb == "patch"
	})
}

// apiSubresource returns the APIResource of a subresource. The group and version are set only if they differ from those of the
// list.
func apiSubresource(def *resource.Definition, sub resource.Subresource) map[string]any {
	row := map[string]any{
		"name":         def.Resource + "/" + sub.Name,
		"singularName": "",
		"namespaced":   def.Namespaced,
		"kind":         sub.Kind,
		"verbs":        object.FromStrings(sub.Verbs),
	}
	if sub.GV() != def.GV() {
		row["group"], row["version"] = sub.Group, sub.Version
	}
	return row
}

func setStrings(m map[string]any, key string, list []string) {
	if len(list) > 0 {
		m[key] = object.FromStrings(list)
	}
}

// storageVersionHash returns a hash of the stored group, version and kind: eight bytes of the SHA-256 of, for example,
// apps/v1/Deployment or, in the core group, /v1/Pod. It returns "" if objects are not stored, or if a custom resource's storage
// version is not served.
func (d *Documents) storageVersionHash(def *resource.Definition) string {
	stored := def.Hub.GVK
	if def.StorageCodec != nil {
		stored = def.StorageCodec.Stored
	}
	if !def.Custom {
		for _, r := range d.o.Schema.Resources() {
			if r.GVK == def.GVK && r.Resource == def.Resource {
				stored = r.Storage
			}
		}
	}
	if def.StoredAs.Kind != "" {
		stored = def.StoredAs
	}
	if def.Custom && stored != def.GVK && d.o.Table.Find(stored.Group, stored.Version, def.Resource) == nil {
		return ""
	}
	if stored.Kind == "" || def.Strategy != nil && def.Strategy.Virtual {
		return ""
	}
	sum := sha256.Sum256([]byte(stored.Group + "/" + stored.Version + "/" + stored.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}
