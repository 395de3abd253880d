// Package node has the RuntimeClass.
package node

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kinds returns the kinds of node.k8s.io.
func Kinds() []kind.Kind { return []kind.Kind{runtimeClassKind()} }

func runtimeClassKind() kind.Kind {
	return kind.Kind{
		Storage: "runtimeclasses.node.k8s.io",
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			CreateOnUpdate: true, NeedsResourceVersion: true, AnyFinalizers: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateRuntimeClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateRuntimeClass(obj)
				return append(errs, kind.Immutable(field.Root("handler"), obj.String("handler"), old.String("handler"))...)
			},
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				for _, key := range object.SortedKeys(obj.Map("scheduling", "nodeSelector")) {
					if text, ok := podspec.DeprecatedNodeLabels[key]; ok {
						ctx.Warn("scheduling.nodeSelector: " + text)
					}
				}
			},
		},
		// the real server describes Handler by a field that ObjectMeta does not have: by nothing
		Columns: []table.Column{table.Name(), table.Doc("Handler", table.DocMeta, "handler"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("handler"), table.AgeCell(now, obj))
		},
	}
}

func validateRuntimeClass(obj object.Object) field.ErrorList {
	errs := kind.CheckOrRequire(field.Root("handler"), obj.String("handler"), field.DNS1123Label)
	if obj.Has("overhead") {
		rules := &podspec.Rules{}
		limits := object.Object{"limits": obj.Map("overhead", "podFixed")}
		errs = append(errs, rules.Resources(limits, field.Root("overhead"), podspec.ContainerResourceName)...)
	}
	scheduling := obj.At("scheduling")
	errs = append(errs, field.CheckLabels(field.Root("scheduling.nodeSelector"), object.StringMap(scheduling.Map("nodeSelector")))...)
	p, list := field.Root("scheduling.tolerations"), scheduling.Objects("tolerations")
	errs = append(errs, (&podspec.Rules{}).ValidateTolerations(list, p)...)
	seen := map[string]bool{}
	for i, t := range list {
		key := t.String("key") + "\n" + t.String("operator") + "\n" + t.String("value") + "\n" + t.String("effect")
		if seen[key] {
			errs = append(errs, field.Duplicate(p.Index(i), gotext.Value("Toleration", t)))
		}
		seen[key] = true
	}
	return errs
}
