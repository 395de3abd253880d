//go:build !js

package scheduling

import (
	"iter"
	"math"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Limits of groups.
const (
	maxTemplates       = 8
	maxTemplateDepth   = 4
	maxGroupTopologies = 1
	maxGroupClaims     = 4
)

// groupRules are the rules that the specs of groups share with the templates of groups in Workloads. Kubernetes declares them as tags on
// the types (zz_generated.validations.go of scheduling/v1alpha2, v1alpha3 and v1beta1).
type groupRules struct {
	ctx       *resource.Context
	composite bool // a group of groups
	template  bool // in a Workload
}

// check checks the fields of a group in the order of the type.
func (r groupRules) check(at field.Cursor) {
	r.checkPolicy(at.Child("schedulingPolicy"))
	if constraints := at.Child("schedulingConstraints"); r.composite {
		fixed(constraints, checkConstraints, "topology")
	} else {
		r.behind(gateTopology, constraints, checkConstraints, "topology")
	}
	if !r.composite {
		fixed(at.Child("resourceClaims"), r.checkClaims)
	}
	mode := at.Child("disruptionMode")
	if r.ctx.Since(37) {
		fixed(mode, func(mode field.Cursor) { kind.CheckUnion(mode, "single", "all") }, "single", "all")
	} else {
		r.behind(gateDisruption, mode, func(mode field.Cursor) { mode.OneOf("Pod", "PodGroup") })
	}
	r.behind(gateDisruption, at.Child("priorityClassName"), checkLongName)
	r.behind(gateDisruption, at.Child("priority"), func(priority field.Cursor) {
		priority.Max(maxUserPriority, "must be less than or equal to 1000000000")
		priority.Min(math.MinInt32, "must be greater than or equal to -2147483648")
	})
	r.behind(gatePreemption, at.Child("preemptionPolicy"), func(policy field.Cursor) { policy.OneOf("Never", "PreemptLowerPriority") })
}

// checkPolicy checks the scheduling policy. Servers of 1.36 do not allow an update to change it. Later ones allow it to change the
// minimum of a gang, except in a CompositePodGroup.
func (r groupRules) checkPolicy(policy field.Cursor) {
	least := "minCount"
	if r.composite {
		least = "minGroupCount"
	}
	checkLeast := func(gang field.Cursor) {
		gang.Child(least).OrZero().Required().Min(1, "must be greater than or equal to 1")
	}
	basic, gang := policy.Child("basic"), policy.Child("gang")
	switch {
	case policy.Updates() && (!r.ctx.Since(37) || r.composite && !r.template):
		kind.Frozen(policy, kind.Differs(policy, "basic", "gang") || gang.Changed())
	case policy.Updates():
		if kind.Differs(policy, "basic", "gang") {
			kind.CheckUnion(policy, "basic", "gang")
		}
		kind.Frozen(basic, kind.Differs(basic))
		if kind.Pinned(gang) && gang.Changed() {
			checkLeast(gang)
		}
	default:
		kind.CheckUnion(policy, "basic", "gang")
		if gang.Has() {
			checkLeast(gang)
		}
	}
}

func checkConstraints(at field.Cursor) {
	for c := range at.Child("topology").MaxItems(maxGroupTopologies).Each() {
		c.Child("key").OrEmpty().Required().Check(field.QualifiedName)
	}
}

func (r groupRules) checkClaims(at field.Cursor) {
	for c := range uniqueNames(at.MaxItems(maxGroupClaims), nil) {
		kind.CheckUnion(c, "resourceClaimName", "resourceClaimTemplateName")
		c.Child("name").OrEmpty().Required().Check(field.DNS1123Label)
		c.Child("resourceClaimName").Check(field.DNS1123Subdomain)
		c.Child("resourceClaimTemplateName").Check(field.DNS1123Subdomain)
	}
}

// checkParent checks which group and which Workload a PodGroup belongs to, on servers since 1.37.
func (r groupRules) checkParent(spec field.Cursor) {
	r.behind(gateComposite, spec.Child("parentCompositePodGroupName"), checkLongName)
	fixed(spec.Child("workloadRef"), checkWorkloadRef, "workloadName", "templateName")
}

// checkParentWorkload checks that a new PodGroup with a parent group names its Workload (ValidatePodGroup).
func checkParentWorkload(spec field.Cursor) {
	if !spec.Updates() && spec.Has("parentCompositePodGroupName") && !spec.Has("workloadRef") {
		spec.Child("workloadRef").Missing("must be set when parentCompositePodGroupName is set")
	}
}

func checkWorkloadRef(at field.Cursor) {
	at.Child("workloadName").OrEmpty().Required().Check(field.DNS1123Subdomain)
	at.Child("templateName").OrEmpty().Required().Check(field.DNS1123Label)
}

// checkTemplateRef checks which template of a Workload a PodGroup was created from, on servers of 1.36.
func checkTemplateRef(at field.Cursor) {
	kind.CheckUnion(at, "workload")
	if ref := at.Child("workload"); ref.Has() {
		ref.Child("workloadName").OrEmpty().Required().Check(field.DNS1123Subdomain)
		ref.Child("podGroupTemplateName").OrEmpty().Required().Check(field.DNS1123Label)
	}
}

func checkLongName(at field.Cursor) { at.IfGiven().Check(field.DNS1123Subdomain) }

// fixed applies a rule to a new value, and rejects a change (validate.Immutable). A struct with no other members counts as set if it is
// there at all; members are the names of its fields.
func fixed(at field.Cursor, rule func(field.Cursor), members ...string) {
	switch {
	case at.Updates():
		kind.Frozen(at, at.Changed() || len(members) > 0 && kind.Differs(at, members...))
	case at.Has():
		rule(at)
	}
}

// behind is fixed for a field behind a feature gate. If the gate is off, the field may keep its stored value or be removed, but not get
// another value (validate.IfOption).
func (r groupRules) behind(gate string, at field.Cursor, rule func(field.Cursor), members ...string) {
	switch {
	case r.ctx.Enabled(gate):
		fixed(at, rule, members...)
	case at.Has() && !object.Blank(at.Value()) && (!at.Updates() || at.Changed()):
		at.Forbidden("")
	}
}

// uniqueNames reports the items of a list whose name an earlier item has, and then yields all items. An error prints the item with its
// fields in the order of the type. If typ is nil, they are in alphabetical order.
func uniqueNames(list field.Cursor, typ *schema.Type) iter.Seq[field.Cursor] {
	seen := field.Seen{}
	for item := range list.Each() {
		if !seen.Again(item.String("name")) {
			continue
		}
		if typ == nil {
			item.Duplicate(item.Value())
		} else {
			item.Duplicate(field.Raw(kind.ValueOf(typ).JSON(item.Value())))
		}
	}
	return list.Each()
}
