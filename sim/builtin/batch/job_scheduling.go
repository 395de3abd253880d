package batch

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits for scheduling the pods of a Job as a group.
const (
	maxGroupTopologies = 1
	maxGroupClaims     = 4
)

// validateScheduling checks the group scheduling of a Job's pods: first the handwritten rules (validateGangMinCount,
// workloadbuilder.Builder.Validate), then the declarative validation of the types (scheduling/v1alpha3).
func validateScheduling(ctx *resource.Context, spec field.Cursor) {
	at := spec.Child("scheduling")
	policy, mode := at.Child("schedulingPolicy"), at.Child("disruptionMode")
	parallelism, ok := spec.Int("parallelism")
	if !ok {
		parallelism = 1
	}
	policy.Child("gang", "minCount").Max(parallelism, fmt.Sprintf("must not be greater than parallelism (%d)", parallelism))
	if basic, all := policy.Has("basic") || !policy.Has("gang"), mode.Has("all") && !mode.Has("single"); basic && all {
		mode.Invalid("", "the disruptionMode `all` is not supported with the Basic scheduling policy")
	}
	at.Declared(true, func(c field.Cursor) field.Cursor {
		switch {
		case !ctx.Enabled("WorkloadWithJob"): // the stored value is kept
			return c.ForbidIf(c.Has() && !object.Equal(c.Value(), map[string]any(c.Old())), "")
		case kind.Pinned(c):
			checkPolicy(policy)
			checkGroup(c, mode)
		}
		return c
	})
}

// validatePolicyKept checks that an update does not switch between the basic and the gang policy
// (validateJobSchedulingUpdate).
func validatePolicyKept(policy field.Cursor) {
	if policy.Has() && policy.Old() != nil && policy.Has("basic") != policy.Old().Has("basic") {
		policy.Invalid(nil, "the basic/gang policy variant is immutable after creation; only schedulingPolicy.gang.minCount may be updated")
	}
}

func checkPolicy(at field.Cursor) {
	least := at.Child("gang", "minCount")
	if kind.Pinned(at) && (kind.Differs(at, "basic", "gang") || least.Changed()) {
		kind.CheckUnion(at, "basic", "gang")
		least.Min(1, "must be greater than or equal to 1")
	}
}

// checkGroup checks the fields of a group that are immutable after creation.
func checkGroup(at, mode field.Cursor) {
	constraints, claims := at.Child("schedulingConstraints"), at.Child("resourceClaims")
	topology := constraints.Child("topology")
	if at.Updates() {
		kind.Frozen(constraints, kind.Differs(constraints) || topology.Changed())
		kind.Frozen(mode, kind.Differs(mode, "single", "all"))
		kind.Frozen(claims, claims.Changed())
		return
	}
	for c := range topology.MaxItems(maxGroupTopologies).Each() {
		c.Child("key").Required().Check(field.QualifiedName)
	}
	if mode.Has() {
		kind.CheckUnion(mode, "single", "all")
	}
	seen := field.Seen{}
	for c := range claims.MaxItems(maxGroupClaims).Each() {
		c.UniqueBy(seen, c.String("name"))
		kind.CheckUnion(c, "resourceClaimName", "resourceClaimTemplateName")
		c.Child("name").Required().Check(field.DNS1123Label)
		c.Child("resourceClaimName").Check(field.DNS1123Subdomain)
		c.Child("resourceClaimTemplateName").Check(field.DNS1123Subdomain)
	}
}
