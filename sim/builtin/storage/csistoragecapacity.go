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
				return validateStorageCapacity(obj, selector.ValidateOptions{})
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				bad := len(selector.ValidateLabelSelector(field.Path{}, old.Map("nodeTopology"), selector.ValidateOptions{})) > 0
				errs := validateStorageCapacity(obj, selector.ValidateOptions{AllowInvalidValues: bad})
				if obj.Has("nodeTopology") != old.Has("nodeTopology") || !object.SemanticEqual(obj["nodeTopology"], old["nodeTopology"]) {
					errs = append(errs, field.Invalid(field.Root("nodeTopology"), kind.SelectorValue(obj.Map("nodeTopology")), field.TextImmutable))
				}
				if class := obj.String("storageClassName"); class != old.String("storageClassName") {
					errs = append(errs, field.Invalid(field.Root("storageClassName"), class, field.TextImmutable))
				}
				return errs
			},
		},
	}
}

func validateStorageCapacity(obj object.Object, options selector.ValidateOptions) field.ErrorList {
	errs := selector.ValidateLabelSelector(field.Root("nodeTopology"), obj.Map("nodeTopology"), options)
	errs = append(errs, field.Check(field.Root("storageClassName"), obj.String("storageClassName"), field.DNS1123Subdomain)...)
	if q := quantity.Of(obj["capacity"]); q.Sign() < 0 {
		errs = append(errs, field.Invalid(field.Root("capacity"), q.String(), field.TextNonNegative))
	}
	return errs
}
