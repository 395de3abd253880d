package builtin

import (
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const docCoordination = "io.k8s.api.coordination.v1."

func coordinationKinds() []kind {
	return []kind{{
		storage: "leases.coordination.k8s.io",
		gates: []gate{
			{name: "CoordinatedLeaderElection", fields: []string{"spec.strategy"}},
			{name: "CoordinatedLeaderElection", fields: []string{"spec.preferredHolder"}},
		},
		strategy: resource.Strategy{
			CreateOnUpdate: true, NeedsResourceVersion: true, AnyFinalizers: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList { return validateLease(obj) },
			ValidateUpdate: func(_ *resource.Context, obj, _ object.Object) field.ErrorList {
				return validateLease(obj)
			},
		},
		columns: []column{colName(), colDoc("Holder", docCoordination+"LeaseSpec", "holderIdentity"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), obj.String("spec", "holderIdentity"), cellAge(now, obj))
		},
	}}
}

func validateLease(obj object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	if n, ok := spec.Int("leaseDurationSeconds"); ok && n <= 0 {
		errs = append(errs, field.Invalid(p.Child("leaseDurationSeconds"), n, "must be greater than 0"))
	}
	return append(errs, nonNegatives(p, spec, "leaseTransitions")...)
}
