//go:build !js

package scheduling

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
)

// workloadGates are the gates of groups on servers of both minors.
var workloadGates = map[string]bool{
	gateWorkload: true, gateComposite: true, gateTopology: true, gateClaims: true, gateDisruption: true, gatePreemption: true,
}

const (
	groupJSON    = `{"metadata":{"name":"g","namespace":"ns"},"spec":{"schedulingPolicy":{"gang":{"minCount":2}}}}`
	workloadJSON = `{"metadata":{"name":"w","namespace":"ns"},"spec":{"podGroupTemplates":[{"name":"t","schedulingPolicy":{"basic":{}}}]}}`
)

// TestFieldsBehindGates checks that a server without the gates drops fields of groups, and that it allows a stored object to keep
// them or to lose them, but not to change them.
func TestFieldsBehindGates(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	off := kindtest.On("1.36", map[string]bool{gateWorkload: true}, Kinds)
	off.Storage, off.Base = "podgroups.scheduling.k8s.io", groupJSON
	const fields = `{"spec":{"disruptionMode":"PodGroup","priority":3,"priorityClassName":"c","schedulingConstraints":{"topology":[{"key":"zone"}]}}}`
	obj, errs, _ := off.Result(t, kindtest.Case{Patch: fields})
	is.Equal(errs, "")
	is.Equal(kindtest.Part(obj, "spec"), `{'disruptionMode':'Pod','schedulingPolicy':{'gang':{'minCount':2}}}`) // readers see the default
	off.Run(t, []kindtest.Case{
		{Name: "kept", Old: fields, Patch: fields},
		{Name: "removed", Old: fields, Patch: `{"spec":{"disruptionMode":"PodGroup"}}`},
		{Name: "changed", Old: fields, Patch: `{"spec":{"disruptionMode":"X","priority":4,"priorityClassName":"d","schedulingConstraints":{"topology":[{"key":"a"}]}}}`,
			Want: "spec.schedulingConstraints: Forbidden\nspec.disruptionMode: Forbidden\nspec.priorityClassName: Forbidden\nspec.priority: Forbidden"},
		{Name: "policy", Old: `{}`, Patch: `{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}`, Want: "spec.schedulingPolicy: Invalid value: null: field is immutable"},
	})
	on := kindtest.On("1.37", workloadGates, Kinds)
	on.Storage, on.Base = "podgroups.scheduling.k8s.io", groupJSON
	on.Run(t, []kindtest.Case{
		{Name: "larger gang", Old: `{}`, Patch: `{"spec":{"schedulingPolicy":{"gang":{"minCount":3}}}}`},
		{Name: "other policy", Old: `{}`, Patch: `{"spec":{"schedulingPolicy":{"basic":{},"gang":null}}}`,
			Want: "spec.schedulingPolicy.basic: Invalid value: null: field is immutable\nspec.schedulingPolicy.gang: Invalid value: null: field cannot be cleared once set"},
	})
}

// TestShapesOfGroups runs every rule on objects with missing values, on servers of both minors.
func TestShapesOfGroups(t *testing.T) {
	t.Parallel()
	const rest = `"schedulingConstraints":{"topology":[{"key":"z"}]},"priority":1,"priorityClassName":"c"`
	for _, x := range []struct{ minor, storage, base string }{
		{"1.36", "podgroups.scheduling.k8s.io", `{"metadata":{"name":"g"},"spec":{"podGroupTemplateRef":{"workload":{"workloadName":"w","podGroupTemplateName":"t"}},"schedulingPolicy":{"gang":{"minCount":2}},"resourceClaims":[{"name":"a","resourceClaimName":"b"}],` + rest + `},"status":{"conditions":[{"type":"A"}],"resourceClaimStatuses":[{"name":"a"}]}}`},
		{"1.37", "podgroups.scheduling.k8s.io", `{"metadata":{"name":"g"},"spec":{"parentCompositePodGroupName":"p","workloadRef":{"workloadName":"w","templateName":"t"},"schedulingPolicy":{"gang":{"minCount":2}},"disruptionMode":{"all":{}},` + rest + `}}`},
		{"1.37", "compositepodgroups.scheduling.k8s.io", `{"metadata":{"name":"g"},"spec":{"workloadRef":{"workloadName":"w","templateName":"t"},"schedulingPolicy":{"gang":{"minGroupCount":2}},` + rest + `}}`},
	} {
		t.Run(x.minor+" "+x.storage, func(t *testing.T) {
			rules := kindtest.On(x.minor, workloadGates, Kinds)
			rules.Storage, rules.Base = x.storage, x.base
			rules.DoNotPanic(t)
		})
	}
}
