package storage

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func storageCapacityKind() kind.Kind {
	return kind.Kind{
		Storage: "csistoragecapacities.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:               resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateStorageCapacity(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateStorageCapacity(obj, old)
			},
		},
	}
}

func validateStorageCapacity(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	topology, was := obj.Map("nodeTopology"), old.Map("nodeTopology")
	bad := len(selector.ValidateLabelSelector(field.Path{}, was, selector.ValidateOptions{})) > 0
	at.Report(selector.ValidateLabelSelector(at.Path("nodeTopology"), topology, selector.ValidateOptions{AllowInvalidValues: bad}))
	class := at.Child("storageClassName").OrEmpty().Check(field.DNS1123Subdomain)
	if q := quantity.Of(obj["capacity"]); q.Sign() < 0 {
		at.Child("capacity").Invalid(q.String(), field.TextNonNegative)
	}
	if old != nil {
		at.Report(kind.ImmutableSelector(at.Path("nodeTopology"), topology, was))
		class.InvalidIf(class.String() != old.String("storageClassName"), field.TextImmutable)
	}
	return at.Errors()
}
