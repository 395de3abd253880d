package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

func deviceClassKind() kind.Kind {
	return kind.Kind{
		Storage: "deviceclasses.resource.k8s.io",
		Gates: []kind.Gate{
			{Name: "DRAExtendedResource", Fields: []string{"spec.extendedResourceName"}},
		},
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true, NameRule: kind.SubdomainName,
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateDeviceClass(ctx, at.Child("spec")) },
		Columns:  []table.Column{table.Name(), table.Age()},
	}
}

func validateDeviceClass(ctx *resource.Context, at field.Cursor) {
	validateDeviceSelectors(ctx, at.Child("selectors"))
	for config := range at.Child("config").MaxItems(maxDeviceConfigs).Each() {
		validateDeviceConfig(config)
	}
	name := at.Child("extendedResourceName")
	name.InvalidIf(name.Has() && !podspec.IsExtendedResource(name.String()), "must be a valid extended resource name")
}
