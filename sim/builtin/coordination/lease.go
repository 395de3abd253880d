// Package coordination defines the Lease and the LeaseCandidate.
package coordination

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

const docCoordination = "io.k8s.api.coordination.v1."

// Kinds returns the kinds of coordination.k8s.io.
func Kinds() []kind.Kind {
	kinds := []kind.Kind{{
		Storage: "leases.coordination.k8s.io",
		Gates: []kind.Gate{
			{Name: "CoordinatedLeaderElection", Fields: []string{"spec.strategy"}},
			{Name: "CoordinatedLeaderElection", Fields: []string{"spec.preferredHolder"}},
		},
		Strategy: resource.Strategy{
			AllowCreateOnUpdate: true, DenyUnconditionalUpdate: true, AnyFinalizers: true,
		},
		Validate: func(_ *resource.Context, at field.Cursor) {
			at.Child("spec", "leaseDurationSeconds").Min(1, "must be greater than 0")
			at.Child("spec", "leaseTransitions").NonNegative()
		},
		Columns: []table.Column{table.Name(), table.Doc("Holder", docCoordination+"LeaseSpec", "holderIdentity").At("spec", "holderIdentity"), table.Age()},
	}}
	if schema.HasAll {
		kinds = append(kinds, candidateKind())
	}
	return kinds
}
