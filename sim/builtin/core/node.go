package core

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func nodeKind() kind.Kind {
	const info = table.DocCore + "NodeSystemInfo"
	return kind.Kind{
		Storage: "nodes",
		Streams: map[string]*resource.Stream{"proxy": proxy()},
		Gates: []kind.Gate{
			{Name: "InPlacePodVerticalScalingSchedulerPreemption", Fields: []string{"spec.podPreemptionPolicy"}},
			{Name: "NodeDeclaredFeatures", Fields: []string{"status.declaredFeatures"}},
		},
		KeyPrefix: "minions",
		Strategy: resource.Strategy{
			Checks:      resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ResetFields: map[string][]string{"": {"status"}, "status": {"spec"}},
			// A create keeps the status in the request, so HasStatus is not set.
			PrepareForCreate: prepareNode,
			PrepareForUpdate: prepareNodeUpdate,
			Warn:             warnNode,
			Fields: resource.Fields{{Name: "spec.unschedulable", Text: func(obj object.Object) string {
				return strconv.FormatBool(obj.True("spec", "unschedulable"))
			}}},
		},
		Validate: validateNode,
		Defaults: kind.EveryVersion(defaultNode),
		Columns: []table.Column{table.Name(), table.Text("Status", "The status of the node").Cell(nodeStatus),
			table.Text("Roles", "The roles of the node").Cell(nodeRoles), table.Age(),
			table.Doc("Version", info, "kubeletVersion").At("status", "nodeInfo", "kubeletVersion"),
			table.Doc("Internal-IP", table.DocCore+"NodeStatus", "addresses").Wide().Cell(nodeAddress("InternalIP")),
			table.Doc("External-IP", table.DocCore+"NodeStatus", "addresses").Wide().Cell(nodeAddress("ExternalIP")),
			table.Doc("OS-Image", info, "osImage").Wide().AtOr(table.Unknown, "status", "nodeInfo", "osImage"),
			table.Doc("Kernel-Version", info, "kernelVersion").Wide().Cell(nodeKernel),
			table.Doc("Container-Runtime", info, "containerRuntimeVersion").Wide().AtOr(table.Unknown, "status", "nodeInfo", "containerRuntimeVersion")},
	}
}

func defaultNode(obj object.Object) {
	if capacity := obj.Map("status", "capacity"); capacity != nil && len(obj.Map("status", "allocatable")) == 0 {
		obj.Set(object.Copy(capacity), "status", "allocatable")
	}
	podspec.RoundLists(obj.Map("status"), "capacity", "allocatable")
	mirrorPodCIDR(obj.At("spec"))
}

// mirrorPodCIDR keeps podCIDR, the older field, equal to the first of podCIDRs. If both are set, podCIDR takes
// precedence.
func mirrorPodCIDR(spec object.Object) {
	one, all := spec.String("podCIDR"), spec.Strings("podCIDRs")
	switch {
	case one == "" && len(all) > 0:
		spec["podCIDR"] = all[0]
	case one != "" && (len(all) == 0 || all[0] != one):
		spec["podCIDRs"] = []any{one}
	}
}

func prepareNode(_ *resource.Context, obj object.Object) {
	obj.Remove("spec", "configSource")
	obj.Remove("status", "config")
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

// validateNode checks a new or changed node. For a changed node it reports some errors twice, like the real server, which
// checks both the node and the update.
func validateNode(ctx *resource.Context, at field.Cursor) {
	if ctx.Subresource != "status" {
		validateNodeAnnotations(at)
		validateTaints(at)
		validateNodeResources(at)
		at.Child("status", "nodeInfo", "swap", "capacity").ReportAt(at.Child("metadata", "nodeSwapStatus", "capacity")).Positive()
		validateDeclaredFeatures(at.Child("status", "declaredFeatures"))
		validatePodCIDRs(ctx, at.Child("spec", "podCIDRs"))
	}
	if at.Updates() {
		validateNodeChange(ctx, at)
	}
}

func validateTaints(at field.Cursor) {
	seen := field.Seen{}
	list := at.Child("metadata", "taints") // cursor with the path that the server's errors contain
	for i := range at.List("spec", "taints") {
		validateTaint(at.Child("spec", "taints").Index(i).ReportAt(list.Index(i)), seen)
	}
}

// validateTaint checks one taint of a list. seen contains the keys and effects of the preceding taints.
func validateTaint(t field.Cursor, seen field.Seen) {
	t.Child("key").OrEmpty().Check(field.QualifiedName)
	t.Child("value").Check(field.Joined(field.LabelValue, ";"))
	t.Child("effect").Required().OneOf("NoSchedule", "PreferNoSchedule", "NoExecute")
	if seen.Again(t.String("effect") + "/" + t.String("key")) {
		t.Report(field.ErrorList{{Type: field.TypeDuplicate, Field: t.Path(), Value: gotext.Value(gotext.Taint, t.Object()),
			Detail: "taints must be unique by key and effect pair"}})
	}
}

func validateNodeResources(at field.Cursor) {
	for _, list := range []string{"capacity", "allocatable"} {
		amounts := at.Child("status", list)
		for name, amount := range amounts.EachKey() {
			podspec.ResourceQuantity(amount.ReportAt(amounts.Child(name)), name)
		}
	}
}

// isFeatureName reports whether text is the name of a feature that a node declares: letters and digits in segments that slashes separate
// and letters begin, the first of them a capital. A regular expression would take a fiftieth of the time until nodes are ready.
func isFeatureName(text string) bool {
	begins := true // a segment begins
	for i := range len(text) {
		c := text[i]
		letter := c >= 'A' && c <= 'Z' || i > 0 && c >= 'a' && c <= 'z'
		switch {
		case c == '/' && !begins:
			begins = true
			continue
		case !letter && (begins || c < '0' || c > '9'):
			return false
		}
		begins = false
	}
	return !begins
}

func validateDeclaredFeatures(at field.Cursor) {
	names := at.Strings()
	for i, text := range names {
		name := at.Index(i)
		switch {
		case i == 0:
		case names[i-1] == text:
			name.Duplicate(text)
		case names[i-1] > text:
			name.Invalid(text, "list must be sorted alphabetically")
		}
		reason := ""
		switch {
		case len(text) > field.DNSSubdomainMax:
			reason = field.CharactersText(field.DNSSubdomainMax)
		case !isFeatureName(text):
			reason = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or " +
				"MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
		}
		if reason != "" {
			name.Invalid(text, "invalid feature name "+strconv.Quote(text)+": "+reason)
		}
	}
}

func validatePodCIDRs(ctx *resource.Context, list field.Cursor) {
	families, bad := map[bool]bool{}, ""
	for i, text := range list.Strings() {
		cidr := list.Index(i)
		cidr.Check(kind.CIDR(ctx))
		prefix, ok := field.ParseCIDR(text)
		if !ok && bad == "" {
			bad = fmt.Sprintf("invalid CIDR[%d]: <nil> (invalid CIDR address: %s)", i, text)
		}
		families[prefix.Addr().Unmap().Is4()] = true
	}
	if list.Len() < 2 {
		return
	}
	if bad != "" {
		list.Report(field.ErrorList{field.Internal(list.Path(), errors.New("invalid PodCIDRs. failed to check with dual stack with error:"+bad))})
	}
	list.InvalidIf(bad != "" || len(families) < 2 || list.Len() > 2, "may specify no more than one CIDR for each IP family")
}

func validateNodeChange(ctx *resource.Context, at field.Cursor) {
	validateNodeAnnotations(at)
	validateNodeResources(at)
	validateDeclaredFeatures(at.Child("status", "declaredFeatures"))
	seen := field.Seen{}
	for a := range at.Each("status", "addresses") {
		if seen.Again(a.String("type") + " " + a.String("address")) {
			a.Duplicate(gotext.Value(gotext.NodeAddress, a.Object()))
		}
	}
	// podCIDRs and providerID can be set only once.
	spec, was := at.Child("spec"), at.Old().At("spec")
	const text = `node updates may not change podCIDR except from "" to valid`
	cidrs, before, after := spec.Child("podCIDRs"), was.Strings("podCIDRs"), spec.Strings("podCIDRs")
	if len(before) > 0 && len(before) != len(after) {
		cidrs.Forbidden(text)
	} else {
		for i, cidr := range before {
			cidrs.ForbidIf(cidr != after[i], text)
		}
	}
	switch id, before := spec.Child("providerID"), was.String("providerID"); {
	case before == "" || id.String() == before:
	case !ctx.Since(37):
		id.Forbidden(`node updates may not change providerID except from "" to valid`)
	case id.String() == "":
		id.Invalid(nil, "field cannot be cleared once set")
	default:
		id.Invalid(nil, "field cannot be modified once set")
	}
	validateTaints(at)
	spec.Child("externalID").ForbidIf(spec.String("externalID") != was.String("externalID"), "may not be updated")
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

func nodeStatus(obj object.Object) any {
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
	return status
}

func nodeKernel(obj object.Object) any {
	kernel := cmp.Or(obj.String("status", "nodeInfo", "kernelVersion"), table.Unknown)
	if arch := obj.String("status", "nodeInfo", "architecture"); arch != "" {
		kernel += " (" + arch + ")"
	}
	return kernel
}

// nodeRoles returns a cell that shows the roles of a node, which its labels specify.
func nodeRoles(obj object.Object) any {
	var roles []string
	for key, value := range obj.Labels() { // sorted below
		if role, ok := strings.CutPrefix(key, "node-role.kubernetes.io/"); ok {
			value = role
		} else if key != "kubernetes.io/role" {
			continue
		}
		if value != "" {
			roles = append(roles, value)
		}
	}
	return cmp.Or(strings.Join(kind.SortedSet(roles), ","), table.None)
}

// nodeAddress returns a function for a cell that shows a node's first address of the given type.
func nodeAddress(addressType string) func(object.Object) any {
	return func(obj object.Object) any {
		for _, a := range obj.Objects("status", "addresses") {
			if a.String("type") == addressType {
				return a.String("address")
			}
		}
		return table.None
	}
}
