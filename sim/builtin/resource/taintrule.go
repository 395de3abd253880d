package resource

import (
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// maxRuleConditions is the maximum number of conditions of a DeviceTaintRule.
const maxRuleConditions = 8

// taintRuleKind returns the kind DeviceTaintRule, which servers of 1.36 and older do not serve by default (KEP-5055).
func taintRuleKind() kind.Kind {
	doc := func(name, field string) table.Column {
		return table.Doc(name, docDevices+"DeviceTaint", field).At("spec", "taint", field)
	}
	return kind.Kind{
		Storage: "devicetaintrules.resource.k8s.io", PlainStatus: true,
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			HasStatus: true, StatusKeeps: resource.KeptForStatus, DenyUnconditionalUpdate: true, LenientUnstable: true,
			DefaultsToNow: []string{"spec", "taint", "timeAdded"},
			PrepareForUpdate: func(ctx *resource.Context, obj, old object.Object) {
				taint, before := obj.At("spec", "taint"), old.At("spec", "taint")
				if taint != nil && taint.String("effect") != before.String("effect") && taint.String("timeAdded") == before.String("timeAdded") {
					taint["timeAdded"] = object.Time(ctx.Now)
				}
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) { obj.SetDefault(map[string]any{}, "spec", "taint") }),
		Validate: func(ctx *resource.Context, at field.Cursor) {
			selector, taint := at.Child("spec", "deviceSelector"), at.Child("spec", "taint")
			if driver := selector.Child("driver"); driver.Has() {
				podspec.DriverName(driver)
			}
			if pool := selector.Child("pool"); pool.Has() {
				validatePoolName(pool)
			}
			selector.Child("device").Check(field.DNS1123Label)
			validateDeviceTaint(ctx, taint)
		},
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) {
			conditions := at.Child("status", "conditions")
			kind.CheckConditions(ctx, conditions)
			conditions.MaxItems(maxRuleConditions)
		},
		Columns: []table.Column{table.Name(), doc("Key", "key"), doc("Value", "value"), doc("Effect", "effect"),
			table.Doc("TimeAdded", docDevices+"DeviceTaint", "timeAdded").CellNow(func(now time.Time, obj object.Object) any {
				return table.SinceCell(now, obj.String("spec", "taint", "timeAdded"))
			}), table.Age()},
	}
}
