package storage

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func storageCapacityKind() kind.Kind {
	return kind.Kind{
		Storage: "csistoragecapacities.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:                  resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			DenyUnconditionalUpdate: true,
		},
		Validate: validateStorageCapacity,
	}
}

func validateStorageCapacity(_ *resource.Context, at field.Cursor) {
	topology, capacity := at.Child("nodeTopology"), at.Child("capacity")
	kind.CheckSelector(topology, kind.AsStored(topology))
	class := at.Child("storageClassName").OrEmpty().Check(field.DNS1123Subdomain)
	if q := quantity.Of(capacity.Value()); q.Sign() < 0 {
		capacity.Invalid(q.String(), field.TextNonNegative)
	}
	kind.CheckSelectorKept(topology)
	class.InvalidIf(class.Changed(), field.TextImmutable)
}
