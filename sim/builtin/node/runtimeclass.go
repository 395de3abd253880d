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
				return validateRuntimeClass(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateRuntimeClass(obj, old)
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

func validateRuntimeClass(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	handler, tolerations := at.Child("handler"), at.Child("scheduling", "tolerations")
	handler.Required().Check(field.DNS1123Label)
	if at.Has("overhead") {
		limits := object.Object{"limits": obj.Map("overhead", "podFixed")}
		at.Report((&podspec.Rules{}).Resources(limits, at.Path("overhead"), podspec.ContainerResourceName))
	}
	at.Report(field.CheckLabels(at.Path("scheduling", "nodeSelector"), object.StringMap(obj.Map("scheduling", "nodeSelector"))))
	at.Report((&podspec.Rules{}).ValidateTolerations(obj.Objects("scheduling", "tolerations"), tolerations.Path()))
	seen := map[string]bool{}
	for t := range tolerations.Each() {
		key := t.String("key") + "\n" + t.String("operator") + "\n" + t.String("value") + "\n" + t.String("effect")
		if seen[key] {
			t.Duplicate(gotext.Value("Toleration", t.Object()))
		}
		seen[key] = true
	}
	handler.OrEmpty().Immutable()
	return at.Errors()
}
