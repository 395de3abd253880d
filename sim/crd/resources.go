package crd

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

var (
	verbs    = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	subVerbs = []string{"get", "patch", "update"}
)

// define returns the resources of the served versions. It stores the resources of all versions in d.all.
func (d *definition) define(from *reading) []*resource.Definition {
	crd, s := from.crd, from.spec
	names := crd.At("status", "acceptedNames")
	var out []*resource.Definition
	d.all = make(map[string]*resource.Definition, len(s.versions))
	for _, x := range s.versions {
		p := &x.whole
		v := d.versions[group(crd)+"/"+x.name]
		r := &resource.Definition{
			GVK:      schema.GVK{Group: group(crd), Version: x.name, Kind: names.String("kind")},
			Resource: names.String("plural"), Singular: names.String("singular"), List: names.String("listKind"),
			ShortNames: names.Strings("shortNames"), Categories: names.Strings("categories"),
			Namespaced: crd.String("spec", "scope") == "Namespaced", Verbs: verbs, Custom: true,
			Terminating: IsTrue(crd, Terminating), Unestablished: !IsTrue(crd, Established), Unresolved: unresolved(crd), Storage: crd.Name(), StorageCodec: v.codec,
			Type:         func() *schema.Type { return v.typ },
			UnknownField: func(label string) string { return "field label not supported: " + label },
		}
		r.Hub = r
		if v.schema != nil {
			r.Default = func(obj object.Object) { v.schema.ApplyDefaults(map[string]any(obj)) }
		}
		if x.deprecated {
			r.Deprecated = deprecated(s, x, r.GVK)
		}
		r.Columns, r.Row = columnsOf(p.columns, d.server.Schema)
		r.Subresources = subresources(s, p, r, d.server.Schema)
		o := &objects{version: v, scale: p.sub["scale"], server: d.server}
		labels, fields := selectableOf(p.fields)
		r.FieldLabels = labels
		r.Strategy = o.strategy(p.hasStatus() && (x.served || x.storage), fields) // versions that are neither served nor stored have only a schema
		d.all[r.GV()] = r
		if x.storage {
			d.hub = r
		}
		if x.served {
			out = append(out, r)
		}
	}
	return out
}

func subresources(s *spec, p *part, r *resource.Definition, kinds *schema.Set) []resource.Subresource {
	var out []resource.Subresource
	if scale, ok := p.sub["scale"].(map[string]any); ok {
		kind := schema.GVK{Group: "autoscaling", Version: "v1", Kind: "Scale"}
		paths := scalePaths(scale)
		paths.Versions = map[string]string{}
		for _, v := range s.versions {
			paths.Versions[r.Group+"/"+v.name] = scalePaths(object.As(v.whole.sub["scale"])).Replicas // "" without a scale subresource
		}
		body := resource.Body(kind, func() *schema.Type { return kinds.Kind(kind) }, nil)
		columns, row := scaleColumns(kinds)
		out = append(out, resource.Subresource{Name: "scale", GVK: kind, Verbs: subVerbs, Connect: resource.Scale(paths),
			Body: body, Columns: columns, Row: row})
	}
	if p.hasStatus() {
		out = append(out, resource.Subresource{Name: "status", GVK: r.GVK, Verbs: subVerbs})
	}
	return out
}

func scalePaths(scale object.Object) resource.ScalePaths {
	return resource.ScalePaths{Replicas: scale.String("specReplicasPath"), Status: scale.String("statusReplicasPath"),
		Selector: scale.String("labelSelectorPath")}
}

// deprecated returns the warning about a deprecated version. If the version does not specify a warning, it recommends the newest
// version that is not deprecated.
func deprecated(s *spec, x *version, kind schema.GVK) string {
	if x.warning != nil {
		return *x.warning
	}
	text := kind.GV() + " " + kind.Kind + " is deprecated"
	var newer []string
	for _, v := range s.versions {
		if v.served && !v.deprecated && schema.CompareVersions(v.name, x.name) > 0 {
			newer = append(newer, v.name)
		}
	}
	if len(newer) == 0 {
		return text
	}
	best := slices.MaxFunc(newer, schema.CompareVersions)
	return text + "; use " + kind.Group + "/" + best + " " + kind.Kind
}
