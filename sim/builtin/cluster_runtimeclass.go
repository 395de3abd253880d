package builtin

import (
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// nodeKinds returns the kinds of node.k8s.io.
func nodeKinds() []kind { return []kind{runtimeClassKind()} }

func runtimeClassKind() kind {
	return kind{
		storage: "runtimeclasses.node.k8s.io",
		strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			CreateOnUpdate: true, NeedsResourceVersion: true, AnyFinalizers: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateRuntimeClass(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateRuntimeClass(obj)
				return append(errs, immutable(field.Root("handler"), obj.String("handler"), old.String("handler"))...)
			},
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				for _, key := range object.SortedKeys(obj.Map("scheduling", "nodeSelector")) {
					if text, ok := deprecatedNodeLabels[key]; ok {
						ctx.Warn("scheduling.nodeSelector: " + text)
					}
				}
			},
		},
		// the real server describes Handler by a field that ObjectMeta does not have: by nothing
		columns: []column{colName(), colDoc("Handler", docMeta, "handler"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), obj.String("handler"), cellAge(now, obj))
		},
	}
}

func validateRuntimeClass(obj object.Object) field.ErrorList {
	errs := checkOrRequire(field.Root("handler"), obj.String("handler"), field.DNS1123Label)
	if obj.Has("overhead") {
		rules := &podRules{}
		limits := object.Object{"limits": obj.Map("overhead", "podFixed")}
		errs = append(errs, rules.resources(limits, field.Root("overhead"), containerResourceName)...)
	}
	scheduling := obj.At("scheduling")
	errs = append(errs, field.CheckLabels(field.Root("scheduling.nodeSelector"), object.StringMap(scheduling.Map("nodeSelector")))...)
	p, list := field.Root("scheduling.tolerations"), scheduling.Objects("tolerations")
	errs = append(errs, (&podRules{}).checkTolerations(list, p)...)
	seen := map[string]bool{}
	for i, t := range list {
		key := t.String("key") + "\n" + t.String("operator") + "\n" + t.String("value") + "\n" + t.String("effect")
		if seen[key] {
			errs = append(errs, field.Duplicate(p.Index(i), goValue("Toleration", t)))
		}
		seen[key] = true
	}
	return errs
}
