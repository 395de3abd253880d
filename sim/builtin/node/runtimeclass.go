// Package node defines the RuntimeClass.
package node

import (
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
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			AllowCreateOnUpdate: true, DenyUnconditionalUpdate: true, AnyFinalizers: true,
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				for _, key := range object.SortedKeys(obj.Map("scheduling", "nodeSelector")) {
					if text, ok := podspec.DeprecatedNodeLabels[key]; ok {
						ctx.Warn("scheduling.nodeSelector: " + text)
					}
				}
			},
		},
		Validate: validateRuntimeClass,
		// the real server takes the description of Handler from a field that ObjectMeta does not have, so it is empty
		Columns: []table.Column{table.Name(), table.Doc("Handler", table.DocMeta, "handler").At("handler"), table.Age()},
	}
}

func validateRuntimeClass(ctx *resource.Context, at field.Cursor) {
	handler, tolerations := at.Child("handler"), at.Child("scheduling", "tolerations")
	if ctx.Since(37) {
		handler.OrEmpty().Declared(true, field.Cursor.Immutable)
	}
	// The format is checked only if no other rule forbids the change.
	handler.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor { return c.Required() }).
		Declared(ctx.Since(37) && !handler.Changed(), func(c field.Cursor) field.Cursor { return c.Check(field.DNS1123Label) })
	rules := &podspec.Rules{}
	rules.Overhead(at.Child("overhead", "podFixed").ReportAt(at.Child("overhead")))
	at.Child("scheduling", "nodeSelector").Labels()
	rules.CheckTolerations(tolerations)
	seen := field.Seen{}
	for t := range tolerations.Each() {
		if seen.Again(t.String("key") + "\n" + t.String("operator") + "\n" + t.String("value") + "\n" + t.String("effect")) {
			t.Duplicate(gotext.Value(gotext.Toleration, t.Object()))
		}
	}
	if !ctx.Since(37) {
		handler.OrEmpty().Immutable()
	}
}
