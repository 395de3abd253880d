package core

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func limitRangeKind() kind.Kind {
	return kind.Kind{
		Storage: "limitranges",
		Strategy: resource.Strategy{
			Checks:              resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			AllowCreateOnUpdate: true,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) {
				if obj.Name() == "" {
					obj.Set(ctx.UID(), "metadata", "name")
				}
			},
		},
		Validate: validateLimitRange,
		Defaults: kind.EveryVersion(defaultLimitRange),
	}
}

// defaultLimitRange sets the default amounts for containers: limits default to max; requests default to the limit or else to
// min. All amounts are rounded up.
func defaultLimitRange(obj object.Object) {
	for _, item := range obj.Objects("spec", "limits") {
		if item.String("type") == "Container" {
			fillAmounts(item, "default", "max")
			fillAmounts(item, "defaultRequest", "default")
			fillAmounts(item, "defaultRequest", "min")
		}
		podspec.RoundLists(item, "max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
	}
}

// fillAmounts copies amounts from one field of an item to another, except for resources that the other field already has.
func fillAmounts(item object.Object, to, from string) {
	source := item.Map(from)
	for _, name := range object.SortedKeys(source) {
		item.SetDefault(source[name], to, name)
	}
}

func validateLimitRange(_ *resource.Context, at field.Cursor) {
	seen := field.Seen{}
	for item := range at.Each("spec", "limits") {
		kind := item.Child("type").OrEmpty()
		limited := kind.String()
		if kind.CheckEnum(field.QualifiedName); len(field.QualifiedName(limited)) == 0 && !strings.Contains(limited, "/") &&
			limited != "Pod" && limited != "Container" && limited != "PersistentVolumeClaim" {
			kind.InvalidEnum("must be a standard limit type or fully qualified")
		}
		kind.AsEnum().UniqueBy(seen, limited)
		validateLimitNames(item, limited)
		for _, name := range limitNames(item.Object(), limited) {
			validateLimits(item, name, limitsOf(item.Object(), limited, name))
		}
	}
}

// validateLimitNames checks the names of the resources in each list of an item.
func validateLimitNames(item field.Cursor, limited string) {
	rule := podspec.ResourceName
	if limited == "Pod" || limited == "Container" {
		rule = podspec.ContainerResourceName
	}
	for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		if list == "maxLimitRequestRatio" {
			item.Child("limits").RequireIf(limited == "PersistentVolumeClaim" && !item.Has("min", "storage") && !item.Has("max", "storage"),
				"either minimum or maximum storage value is required, but neither was provided")
		}
		if limited == "Pod" && strings.HasPrefix(list, "default") {
			item.Child(list).ForbidIf(item.Len(list) > 0, "may not be specified when `type` is 'Pod'")
			continue
		}
		for name, amount := range item.EachKey(list) {
			rule(amount, name)
		}
	}
}

// limitNames returns the resources that an item limits, sorted.
func limitNames(item object.Object, limited string) []string {
	var names []string
	for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		if limited != "Pod" || !strings.HasPrefix(list, "default") {
			names = append(names, object.SortedKeys(item.Map(list))...)
		}
	}
	return kind.SortedSet(names)
}

// limits are the amounts of one resource in an item. An amount is nil if the item does not set it.
type limits struct{ min, max, standard, request, ratio *quantity.Quantity }

func limitsOf(item object.Object, limited, name string) limits {
	get := func(list string) *quantity.Quantity {
		v, ok := item.Map(list)[name]
		if !ok || limited == "Pod" && strings.HasPrefix(list, "default") {
			return nil
		}
		q := quantity.Of(v)
		return &q
	}
	return limits{get("min"), get("max"), get("default"), get("defaultRequest"), get("maxLimitRequestRatio")}
}

// validateLimits checks that the amounts for one resource are in order: min ≤ request ≤ default ≤ max.
func validateLimits(item field.Cursor, name string, l limits) {
	order := func(list string, shown, less *quantity.Quantity, lessName string, more *quantity.Quantity, moreName string) {
		if less != nil && more != nil && less.Cmp(*more) > 0 {
			item.Child(list).Key(name).Invalid(shown.String(), lessName+" value "+less.String()+" is greater than "+moreName+" value "+more.String())
		}
	}
	order("min", l.min, l.min, "min", l.max, "max")
	order("defaultRequest", l.request, l.min, "min", l.request, "default request")
	order("defaultRequest", l.request, l.request, "default request", l.max, "max")
	order("defaultRequest", l.request, l.request, "default request", l.standard, "default limit")
	order("default", l.min, l.min, "min", l.standard, "default")
	order("default", l.max, l.standard, "default", l.max, "max")
	if l.ratio != nil {
		validateRatio(item.Child("maxLimitRequestRatio").Key(name), l)
	}
	if !podspec.MayOvercommit(name) && l.standard != nil && l.request != nil && l.standard.Cmp(*l.request) != 0 {
		item.Child("defaultRequest").Key(name).Invalid(l.request.String(),
			"default value "+l.standard.String()+" must equal to defaultRequest value "+l.request.String()+" in "+name)
	}
}

// validateRatio checks maxLimitRequestRatio, which must be at least 1 and not greater than max/min.
func validateRatio(at field.Cursor, l limits) {
	shown := l.ratio.String()
	at.With(shown).InvalidIf(l.ratio.CmpInt64(1) < 0, "ratio "+shown+" is less than 1")
	if l.min == nil || l.max == nil {
		return
	}
	const milliMax = (1<<63 - 1) / 1000
	ratio, least, most := float64(l.ratio.Value()), l.min.Value(), l.max.Value()
	if l.ratio.Value() < milliMax && least < milliMax && most < milliMax {
		ratio, least, most = float64(l.ratio.MilliValue())/1000, l.min.MilliValue(), l.max.MilliValue()
	}
	limit := float64(most) / float64(least)
	at.With(shown).InvalidIf(ratio > limit, fmt.Sprintf("ratio %s is greater than max/min = %f", shown, limit))
}
