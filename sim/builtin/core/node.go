package core

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

const nodeNotReady = "node.kubernetes.io/not-ready"

func nodeKind() kind.Kind {
	const info = table.DocCore + "NodeSystemInfo"
	return kind.Kind{
		Storage: "nodes",
		Streams: map[string]*resource.Stream{"proxy": proxy()},
		Gates: []kind.Gate{
			{Name: "NodeDeclaredFeatures", Fields: []string{"status.declaredFeatures"}},
		},
		KeyPrefix: "minions",
		Strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			Resets: map[string]resource.Reset{"": {Fields: []string{"status"}}, "status": {Fields: []string{"spec"}}},
			// status sent with a create is kept, so HasStatus is not for nodes
			PrepareForCreate: prepareNode,
			PrepareForUpdate: prepareNodeUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateNode(ctx, obj)
			},
			ValidateUpdate: validateNodeUpdate,
			Warn:           warnNode,
			Fields: func(obj object.Object) map[string]string {
				return map[string]string{"spec.unschedulable": strconv.FormatBool(obj.True("spec", "unschedulable"))}
			},
		},
		Defaults: kind.EveryVersion(defaultNode),
		Labels:   kind.SameLabels("spec.unschedulable"),
		Unknown:  kind.UnsupportedLabel,
		Columns: []table.Column{table.Name(), table.Text("Status", "The status of the node"), table.Text("Roles", "The roles of the node"),
			table.Age(), table.Doc("Version", info, "kubeletVersion"), table.Doc("Internal-IP", table.DocCore+"NodeStatus", "addresses").Wide(),
			table.Doc("External-IP", table.DocCore+"NodeStatus", "addresses").Wide(), table.Doc("OS-Image", info, "osImage").Wide(),
			table.Doc("Kernel-Version", info, "kernelVersion").Wide(),
			table.Doc("Container-Runtime", info, "containerRuntimeVersion").Wide()},
		Row: nodeRow,
	}
}

func defaultNode(obj object.Object) {
	if capacity := obj.Map("status", "capacity"); capacity != nil && !obj.Has("status", "allocatable") {
		obj.Set(object.Copy(capacity), "status", "allocatable")
	}
	podspec.RoundLists(obj.Map("status"), "capacity", "allocatable")
	mirrorPodCIDR(obj.At("spec"))
}

// mirrorPodCIDR keeps podCIDR, the older field, and the first of podCIDRs equal. podCIDR counts when both are given.
func mirrorPodCIDR(spec object.Object) {
	one, all := spec.String("podCIDR"), spec.Strings("podCIDRs")
	switch {
	case one == "" && len(all) > 0:
		spec["podCIDR"] = all[0]
	case one != "" && (len(all) == 0 || all[0] != one):
		spec["podCIDRs"] = []any{one}
	}
}

// prepareNode also taints the node, as admission plugin TaintNodesByCondition does: it is not ready until its kubelet
// says so.
func prepareNode(_ *resource.Context, obj object.Object) {
	obj.Remove("spec", "configSource")
	obj.Remove("status", "config")
	for _, t := range obj.Objects("spec", "taints") {
		if t.String("key") == nodeNotReady && t.String("effect") == "NoSchedule" {
			return
		}
	}
	taint := map[string]any{"key": nodeNotReady, "effect": "NoSchedule"}
	obj.Set(append(obj.List("spec", "taints"), taint), "spec", "taints")
}

func prepareNodeUpdate(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		kind.KeepOld(obj, old, "spec")
		if !old.Has("status", "config") {
			obj.Remove("status", "config")
		}
		return
	}
	kind.KeepOld(obj, old, "status")
	if !old.Has("spec", "configSource") {
		obj.Remove("spec", "configSource")
	}
}

func validateNode(ctx *resource.Context, obj object.Object) field.ErrorList {
	errs := validateTaints(field.Root("metadata.taints"), obj.Objects("spec", "taints"))
	errs = append(errs, validateNodeResources(obj)...)
	if swap := obj.At("status", "nodeInfo", "swap"); swap.Has("capacity") {
		errs = append(errs, field.Positive(swap.Int64("capacity"), field.Root("metadata.nodeSwapStatus.capacity"))...)
	}
	errs = append(errs, validateDeclaredFeatures(obj.Strings("status", "declaredFeatures"))...)
	return append(errs, validatePodCIDRs(ctx, obj.Strings("spec", "podCIDRs"))...)
}

func validateTaints(p field.Path, taints []object.Object) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, t := range taints {
		at := p.Index(i)
		key, value, effect := t.String("key"), t.String("value"), t.String("effect")
		errs = append(errs, field.Check(at.Child("key"), key, field.QualifiedName)...)
		if msgs := field.LabelValue(value); len(msgs) > 0 {
			errs = append(errs, field.Invalid(at.Child("value"), value, strings.Join(msgs, ";")))
		}
		errs = append(errs, field.MustBeSetToOneOf(at.Child("effect"), effect, "NoSchedule", "PreferNoSchedule", "NoExecute")...)
		if seen[effect+"/"+key] {
			twice := field.Duplicate(at, gotext.Value("Taint", t))
			twice.Detail = "taints must be unique by key and effect pair"
			errs = append(errs, twice)
		}
		seen[effect+"/"+key] = true
	}
	return errs
}

func validateNodeResources(obj object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, list := range []string{"capacity", "allocatable"} {
		amounts := obj.Map("status", list)
		for _, name := range object.SortedKeys(amounts) {
			errs = append(errs, podspec.ResourceQuantity(name, quantity.Of(amounts[name]), field.Root("status").Child(list, name))...)
		}
	}
	return errs
}

var declaredFeature = regexp.MustCompile(`^[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*$`)

func validateDeclaredFeatures(names []string) field.ErrorList {
	var errs field.ErrorList
	p := field.Root("status.declaredFeatures")
	for i, name := range names {
		if len(name) > field.DNSSubdomainMax {
			errs = append(errs, field.Invalid(p.Index(i), name, "invalid feature name "+strconv.Quote(name)+": "+
				field.CharactersText(field.DNSSubdomainMax)))
		} else if !declaredFeature.MatchString(name) {
			errs = append(errs, field.Invalid(p.Index(i), name, "invalid feature name "+strconv.Quote(name)+
				": must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "+
				"MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"))
		}
		if i+1 == len(names) {
			break
		}
		switch next := names[i+1]; {
		case name == next:
			errs = append(errs, field.Duplicate(p.Index(i+1), next))
		case name > next:
			errs = append(errs, field.Invalid(p.Index(i+1), next, "list must be sorted alphabetically"))
		}
	}
	return errs
}

func validatePodCIDRs(ctx *resource.Context, cidrs []string) field.ErrorList {
	var errs field.ErrorList
	p := field.Root("spec.podCIDRs")
	for i, cidr := range cidrs {
		errs = append(errs, kind.ValidateCIDR(ctx, p.Index(i), cidr)...)
	}
	if len(cidrs) < 2 {
		return errs
	}
	v4, v6, bad := false, false, -1
	for i, cidr := range cidrs {
		prefix, ok := field.ParseCIDR(cidr)
		if !ok && bad < 0 {
			bad = i
		}
		v4, v6 = v4 || prefix.Addr().Unmap().Is4(), v6 || prefix.Addr().Unmap().Is6()
	}
	if bad >= 0 {
		errs = append(errs, field.Internal(p, fmt.Errorf("invalid PodCIDRs. failed to check with dual stack with error:"+
			"invalid CIDR[%d]: <nil> (invalid CIDR address: %s)", bad, cidrs[bad])))
	}
	if bad >= 0 || !v4 || !v6 || len(cidrs) > 2 {
		errs = append(errs, field.Invalid(p, cidrs, "may specify no more than one CIDR for each IP family"))
	}
	return errs
}

// validateNodeUpdate reports some mistakes twice, as the real server does, once for the node and once for the change.
func validateNodeUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	if ctx.Subresource != "status" {
		errs = validateNode(ctx, obj)
	}
	errs = append(errs, validateNodeResources(obj)...)
	errs = append(errs, validateDeclaredFeatures(obj.Strings("status", "declaredFeatures"))...)
	seen := map[string]bool{}
	for i, a := range obj.Objects("status", "addresses") {
		key := a.String("type") + " " + a.String("address")
		if seen[key] {
			errs = append(errs, field.Duplicate(field.Root("status.addresses").Index(i), gotext.Value("NodeAddress", a)))
		}
		seen[key] = true
	}
	errs = append(errs, validateNodeSpecChange(ctx, obj, old)...)
	errs = append(errs, validateTaints(field.Root("metadata.taints"), obj.Objects("spec", "taints"))...)
	if obj.String("spec", "externalID") != old.String("spec", "externalID") {
		errs = append(errs, field.Forbidden(field.Root("spec.externalID"), "may not be updated"))
	}
	return errs
}

// validateNodeSpecChange checks the fields that can be set once.
func validateNodeSpecChange(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	const text = `node updates may not change podCIDR except from "" to valid`
	p := field.Root("spec.podCIDRs")
	before, after := old.Strings("spec", "podCIDRs"), obj.Strings("spec", "podCIDRs")
	switch {
	case len(before) > 0 && len(before) != len(after):
		errs = append(errs, field.Forbidden(p, text))
	default:
		for i, cidr := range before {
			if cidr != after[i] {
				errs = append(errs, field.Forbidden(p, text))
			}
		}
	}
	switch before, id := old.String("spec", "providerID"), obj.String("spec", "providerID"); {
	case before == "" || id == before:
	case ctx.Since(37) && id == "":
		errs = append(errs, field.Invalid(field.Root("spec.providerID"), nil, "field cannot be cleared once set"))
	case ctx.Since(37):
		errs = append(errs, field.Invalid(field.Root("spec.providerID"), nil, "field cannot be modified once set"))
	default:
		errs = append(errs, field.Forbidden(field.Root("spec.providerID"),
			`node updates may not change providerID except from "" to valid`))
	}
	return errs
}

func warnNode(ctx *resource.Context, obj, _ object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	if obj.Has("spec", "configSource") {
		ctx.Warn("spec.configSource: the feature is removed")
	}
	if obj.String("spec", "externalID") != "" {
		ctx.Warn("spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range obj.Strings("spec", "podCIDRs") {
		kind.WarnCIDR(ctx, field.Root("spec.podCIDRs").Index(i), cidr)
	}
}

func nodeRow(now time.Time, obj object.Object) resource.Row {
	status := "Unknown"
	for _, c := range obj.Objects("status", "conditions") {
		if c.String("type") != "Ready" {
			continue
		}
		status = "NotReady"
		if c.String("status") == "True" {
			status = "Ready"
		}
	}
	if obj.True("spec", "unschedulable") {
		status += ",SchedulingDisabled"
	}
	info := obj.At("status", "nodeInfo")
	kernel := table.OrNone(info.String("kernelVersion"), table.Unknown)
	if arch := info.String("architecture"); arch != "" {
		kernel += " (" + arch + ")"
	}
	return table.Row(obj.Name(), status, table.OrNone(strings.Join(nodeRoles(obj), ","), table.None), table.AgeCell(now, obj),
		info.String("kubeletVersion"), nodeAddress(obj, "InternalIP"), nodeAddress(obj, "ExternalIP"),
		table.OrNone(info.String("osImage"), table.Unknown), kernel, table.OrNone(info.String("containerRuntimeVersion"), table.Unknown))
}

// nodeRoles returns the roles that labels give to a node, sorted.
func nodeRoles(obj object.Object) []string {
	const prefix = "node-role.kubernetes.io/"
	var roles []string
	for key, value := range obj.Labels() { // sorted below
		if role, ok := strings.CutPrefix(key, prefix); ok {
			value = role
		} else if key != "kubernetes.io/role" {
			continue
		}
		if value != "" {
			roles = append(roles, value)
		}
	}
	slices.Sort(roles)
	return slices.Compact(roles)
}

func nodeAddress(obj object.Object, kind string) string {
	for _, a := range obj.Objects("status", "addresses") {
		if a.String("type") == kind {
			return a.String("address")
		}
	}
	return table.None
}
