package check

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// rank is the position of an object in the order of creation.
type rank int

// The ranks. An administrator creates the objects of all ranks before accounts, because they configure the cluster.
const (
	namespaces rank = iota
	definitions
	roles
	limits
	policies
	parameters // of policies
	bindings
	accounts
	others
	last // has no effect on others
)

// ranks are the ranks of kinds, by kind and group.
var ranks = map[schema.GVK]rank{}

func init() {
	for _, row := range []struct {
		rank  rank
		group string
		kinds []string
	}{
		{namespaces, "", []string{"Namespace"}},
		{definitions, "apiextensions.k8s.io", []string{"CustomResourceDefinition"}},
		{roles, "rbac.authorization.k8s.io", []string{"ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding"}},
		{limits, "", []string{"LimitRange", "ResourceQuota"}},
		{limits, "scheduling.k8s.io", []string{"PriorityClass"}},
		{limits, "storage.k8s.io", []string{"StorageClass"}},
		{limits, "node.k8s.io", []string{"RuntimeClass"}},
		{limits, "networking.k8s.io", []string{"IngressClass"}},
		{policies, "admissionregistration.k8s.io", []string{"ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"}},
		{bindings, "admissionregistration.k8s.io", []string{"ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding"}},
		{accounts, "", []string{"ServiceAccount"}},
		{last, "apiregistration.k8s.io", []string{"APIService"}},
	} {
		for _, kind := range row.kinds {
			ranks[schema.GVK{Group: row.group, Kind: kind}] = row.rank
		}
	}
}

// groupKind returns the group and kind of an object.
func groupKind(obj object.Object) schema.GVK {
	gvk := schema.ParseGVK(obj.APIVersion(), obj.Kind())
	gvk.Version = ""
	return gvk
}

// ordered returns the objects in the order of creation, by their ranks. Parameters of policies precede other objects.
func ordered(all []*Object) []*Object {
	params := map[schema.GVK][]string{} // names of parameters by kind; "" means all
	for _, policy := range all {
		kind := policy.At("spec", "paramKind")
		if ranks[groupKind(policy.Object)] != policies || kind == nil {
			continue
		}
		gk := groupKind(kind)
		for _, binding := range all {
			if binding.String("spec", "policyName") == policy.Name() && binding.Has("spec", "paramRef") {
				params[gk] = append(params[gk], binding.String("spec", "paramRef", "name"))
			}
		}
	}
	for _, o := range all {
		gk := groupKind(o.Object)
		r, ok := ranks[gk]
		if names := params[gk]; !ok {
			if r = others; slices.Contains(names, "") || slices.Contains(names, o.Name()) {
				r = parameters
			}
		}
		o.rank = r
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *Object) int { return cmp.Compare(a.rank, b.rank) })
	return list
}
