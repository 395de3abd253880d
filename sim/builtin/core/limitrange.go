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
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			CreateOnUpdate: true,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) {
				if obj.Name() == "" {
					obj.Set(ctx.UID(), "metadata", "name")
				}
			},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateLimitRange(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, _ object.Object) field.ErrorList {
				return validateLimitRange(obj)
			},
		},
		Defaults: kind.EveryVersion(defaultLimitRange),
	}
}

// defaultLimitRange fills in what containers get: limits from the greatest allowed, requests from limits, else from the
// least allowed. All amounts are rounded up.
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

// fillAmounts copies amounts that one list does not have from another.
func fillAmounts(item object.Object, to, from string) {
	source := item.Map(from)
	for _, name := range object.SortedKeys(source) {
		item.SetDefault(source[name], to, name)
	}
}

func validateLimitRange(obj object.Object) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, item := range obj.Objects("spec", "limits") {
		p := field.Root("spec.limits").Index(i)
		limited := item.String("type")
		errs = append(errs, validateLimitType(p.Child("type"), limited)...)
		if seen[limited] {
			errs = append(errs, field.Duplicate(p.Child("type"), field.Enum(limited)))
		}
		seen[limited] = true
		errs = append(errs, validateLimitNames(p, limited, item)...)
		for _, name := range limitNames(item, limited) {
			errs = append(errs, validateLimits(p, name, limitsOf(item, limited, name))...)
		}
	}
	return errs
}

func validateLimitType(p field.Path, limited string) field.ErrorList {
	var errs field.ErrorList
	for _, msg := range field.QualifiedName(limited) {
		errs = append(errs, field.Invalid(p, field.Enum(limited), msg))
	}
	standard := limited == "Pod" || limited == "Container" || limited == "PersistentVolumeClaim"
	if len(errs) == 0 && !strings.Contains(limited, "/") && !standard {
		errs = append(errs, field.Invalid(p, field.Enum(limited), "must be a standard limit type or fully qualified"))
	}
	return errs
}

// validateLimitNames checks which resources are named where.
func validateLimitNames(p field.Path, limited string, item object.Object) field.ErrorList {
	var errs field.ErrorList
	names := func(list string) {
		for _, name := range object.SortedKeys(item.Map(list)) {
			errs = append(errs, validateLimitName(p.Child(list).Key(name), limited, name)...)
		}
	}
	names("max")
	names("min")
	for _, list := range []string{"default", "defaultRequest"} {
		if limited != "Pod" {
			names(list)
		} else if len(item.Map(list)) > 0 {
			errs = append(errs, field.Forbidden(p.Child(list), "may not be specified when `type` is 'Pod'"))
		}
	}
	if limited == "PersistentVolumeClaim" && !item.Has("min", "storage") && !item.Has("max", "storage") {
		errs = append(errs, field.Required(p.Child("limits"), "either minimum or maximum storage value is required, but neither was provided"))
	}
	names("maxLimitRequestRatio")
	return errs
}

func validateLimitName(p field.Path, limited, name string) field.ErrorList {
	if limited == "Pod" || limited == "Container" {
		return podspec.ContainerResourceName(name, p)
	}
	return podspec.ResourceName(name, p)
}

// limitNames returns the resources that an item says something about, sorted.
func limitNames(item object.Object, limited string) []string {
	var names []string
	for _, list := range []string{"max", "min", "default", "defaultRequest", "maxLimitRequestRatio"} {
		if limited != "Pod" || !strings.HasPrefix(list, "default") {
			names = append(names, object.SortedKeys(item.Map(list))...)
		}
	}
	return kind.SortedSet(names)
}

// limits are what an item says about one resource; nil where it says nothing.
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
func validateLimits(p field.Path, name string, l limits) field.ErrorList {
	var errs field.ErrorList
	order := func(list string, shown, less *quantity.Quantity, lessName string, more *quantity.Quantity, moreName string) {
		if less != nil && more != nil && less.Cmp(*more) > 0 {
			errs = append(errs, field.Invalid(p.Child(list).Key(name), shown.String(),
				lessName+" value "+less.String()+" is greater than "+moreName+" value "+more.String()))
		}
	}
	order("min", l.min, l.min, "min", l.max, "max")
	order("defaultRequest", l.request, l.min, "min", l.request, "default request")
	order("defaultRequest", l.request, l.request, "default request", l.max, "max")
	order("defaultRequest", l.request, l.request, "default request", l.standard, "default limit")
	order("default", l.min, l.min, "min", l.standard, "default")
	order("default", l.max, l.standard, "default", l.max, "max")
	errs = append(errs, validateRatio(p.Child("maxLimitRequestRatio").Key(name), l)...)
	if !podspec.MayOvercommit(name) && l.standard != nil && l.request != nil && l.standard.Cmp(*l.request) != 0 {
		errs = append(errs, field.Invalid(p.Child("defaultRequest").Key(name), l.request.String(),
			"default value "+l.standard.String()+" must equal to defaultRequest value "+l.request.String()+" in "+name))
	}
	return errs
}

// validateRatio checks how far a limit may exceed a request.
func validateRatio(p field.Path, l limits) field.ErrorList {
	var errs field.ErrorList
	if l.ratio == nil {
		return nil
	}
	if l.ratio.CmpInt64(1) < 0 {
		errs = append(errs, field.Invalid(p, l.ratio.String(), "ratio "+l.ratio.String()+" is less than 1"))
	}
	if l.min == nil || l.max == nil {
		return errs
	}
	const milliMax = (1<<63 - 1) / 1000
	ratio, least, most := float64(l.ratio.Value()), l.min.Value(), l.max.Value()
	if l.ratio.Value() < milliMax && least < milliMax && most < milliMax {
		ratio, least, most = float64(l.ratio.MilliValue())/1000, l.min.MilliValue(), l.max.MilliValue()
	}
	if limit := float64(most) / float64(least); ratio > limit {
		errs = append(errs, field.Invalid(p, l.ratio.String(),
			fmt.Sprintf("ratio %s is greater than max/min = %f", l.ratio.String(), limit)))
	}
	return errs
}
