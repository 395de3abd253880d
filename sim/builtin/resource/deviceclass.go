package resource

import (
	"strings"

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
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnDeletedObject: true, NameRule: kind.SubdomainName,
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateDeviceClass(ctx, at.Child("spec")) },
		Columns:  []table.Column{table.Name(), table.Age()},
	}
}

func validateDeviceClass(ctx *resource.Context, at field.Cursor) {
	validateDeviceSelectors(ctx, at.Child("selectors"))
	for config := range atMost(ctx, at.Child("config"), maxDeviceConfigs).Each() {
		validateDeviceConfig(ctx, config)
	}
	name := at.Child("extendedResourceName")
	if ctx.Since(37) {
		name.Declared(true, extendedResourceName)
		return
	}
	name.InvalidIf(name.Has() && !podspec.IsExtendedResource(name.String()), "must be a valid extended resource name")
}

// extendedResourceName checks the name of the extended resource by which pods can request devices of a class. The errors have the
// wording of the declarative validation in 1.37 (apimachinery/pkg/api/validate.ExtendedResourceName).
func extendedResourceName(at field.Cursor) field.Cursor {
	name := at.String()
	if !at.Has() {
		return at
	}
	if !strings.Contains(name, "/") {
		at.Invalid(name, "a name must be a domain-prefixed path, such as 'example.com/my-prop'")
	} else {
		at.InvalidIf(strings.Contains(name, "kubernetes.io/"), `must not have "kubernetes.io/" domain`)
	}
	at.InvalidIf(strings.HasPrefix(name, "requests."), `must not have "requests." prefix`)
	return at.Check(func(name string) []string { return field.QualifiedName("requests." + name) })
}
