// Package coordination has the Lease.
package coordination

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const docCoordination = "io.k8s.api.coordination.v1."

// Kinds returns the kinds of coordination.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{{
		Storage: "leases.coordination.k8s.io",
		Gates: []kind.Gate{
			{Name: "CoordinatedLeaderElection", Fields: []string{"spec.strategy"}},
			{Name: "CoordinatedLeaderElection", Fields: []string{"spec.preferredHolder"}},
		},
		Strategy: resource.Strategy{
			CreateOnUpdate: true, NeedsResourceVersion: true, AnyFinalizers: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList { return validateLease(obj) },
			ValidateUpdate: func(_ *resource.Context, obj, _ object.Object) field.ErrorList {
				return validateLease(obj)
			},
		},
		Columns: []table.Column{table.Name(), table.Doc("Holder", docCoordination+"LeaseSpec", "holderIdentity"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("spec", "holderIdentity"), table.AgeCell(now, obj))
		},
	}}
}

func validateLease(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec")
	at.Child("leaseDurationSeconds").Min(1, "must be greater than 0")
	at.Child("leaseTransitions").NonNegative()
	return at.Errors()
}
