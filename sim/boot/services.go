package boot

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// priority contains the priorities of an APIService.
type priority struct{ group, version int64 }

// priorities are those of the group versions that servers do not serve by default (pkg/controlplane/apiserver, DefaultGenericAPIServicePriorities).
var priorities = map[string]priority{
	"admissionregistration.k8s.io/v1alpha1": {16700, 9},
	"admissionregistration.k8s.io/v1beta1":  {16700, 12},
	"certificates.k8s.io/v1alpha1":          {17300, 1},
	"certificates.k8s.io/v1beta1":           {17300, 9},
	"coordination.k8s.io/v1alpha2":          {16500, 12},
	"coordination.k8s.io/v1beta1":           {16500, 13},
	"internal.apiserver.k8s.io/v1alpha1":    {16000, 9},
	"networking.k8s.io/v1beta1":             {17200, 9},
	"resource.k8s.io/v1alpha3":              {16200, 1},
	"resource.k8s.io/v1beta1":               {16200, 9},
	"resource.k8s.io/v1beta2":               {16200, 15},
	"scheduling.k8s.io/v1alpha2":            {16600, 2},
	"scheduling.k8s.io/v1alpha3":            {16600, 3},
	"scheduling.k8s.io/v1beta1":             {16600, 9},
	"storage.k8s.io/v1alpha1":               {16800, 1},
	"storage.k8s.io/v1beta1":                {16800, 9},
	"storagemigration.k8s.io/v1beta1":       {15800, 9},
}

// services returns the objects with one APIService for each group version in o.Served.
func (o Options) services(all []own) []own {
	const kind = "APIService"
	at := slices.IndexFunc(all, func(x own) bool { return x.obj.Kind() == kind })
	made := map[string]own{}
	var sample own
	all = slices.DeleteFunc(all, func(x own) bool {
		if x.obj.Kind() == kind {
			made[x.obj.Name()], sample = x, x
		}
		return x.obj.Kind() == kind
	})
	var services []own
	for _, gv := range o.Served {
		name := gv.Version + "." + gv.Group
		x, recorded := made[name]
		p, known := priorities[gv.GV()]
		switch {
		case recorded:
		case !known: // the aggregator's own group has no APIService
			continue
		default:
			x = own{d: sample.d, obj: sample.whole().Copy()}
			x.obj.Set(name, "metadata", "name")
			x.obj["spec"] = map[string]any{"group": gv.Group, "version": gv.Version, "groupPriorityMinimum": p.group, "versionPriority": p.version}
		}
		services = append(services, x)
	}
	slices.SortStableFunc(services, func(a, b own) int { return strings.Compare(a.obj.Name(), b.obj.Name()) })
	return slices.Insert(all, at, services...)
}

// whole returns the object with all its fields.
func (x own) whole() object.Object {
	if x.line == nil {
		return x.obj
	}
	return must(object.Parse(x.line))
}
