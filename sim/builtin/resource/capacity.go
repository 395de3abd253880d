package resource

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

const maxCapacityOptions = 10

// validateDeviceCapacity checks how claims may take parts of a device's capacity (KEP-5075).
func validateDeviceCapacity(p field.Path, capacity object.Object, shared bool) field.ErrorList {
	policy, p := capacity.At("requestPolicy"), p.Child("requestPolicy")
	if policy == nil {
		return nil
	}
	if !shared {
		return field.ErrorList{field.Forbidden(p, "allowMultipleAllocations must be true")}
	}
	values, span := policy.List("validValues"), policy.At("validRange")
	total, preset := quantity.Of(capacity["value"]), quantity.Of(policy["default"])
	switch {
	case len(values) > 0 && span != nil:
		return field.ErrorList{field.Forbidden(p, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)}
	case len(values) > 0 && !policy.Has("default"):
		return field.ErrorList{field.Required(p.Child("default"), "required when validValues is defined")}
	case len(values) > 0:
		return validateCapacityValues(p.Child("validValues"), values, total, preset)
	case span != nil && !policy.Has("default"):
		return field.ErrorList{field.Required(p.Child("default"), "required when validRange is defined")}
	case span != nil:
		return validateCapacityRange(p.Child("validRange"), span, total, preset)
	}
	return nil
}

func validateCapacityValues(p field.Path, values []any, total, preset quantity.Quantity) field.ErrorList {
	var errs field.ErrorList
	for i := 1; i < len(values); i++ {
		if quantity.Of(values[i-1]).Cmp(quantity.Of(values[i])) > 0 {
			errs = append(errs, field.Invalid(p.Index(i), quantity.Of(values[i]).String(), "values must be sorted in ascending order"))
		}
	}
	found := false
	if len(values) > maxCapacityOptions {
		errs = append(errs, field.TooMany(p, len(values), maxCapacityOptions))
	} else {
		for i, v := range values {
			q := quantity.Of(v)
			if q.Cmp(total) > 0 {
				errs = append(errs, field.Invalid(p.Index(i), q.String(), "option is larger than capacity value: "+total.String()))
			}
			found = found || q.Cmp(preset) == 0
		}
		errs = append(errs, duplicateValues(p, values)...)
	}
	if !found {
		errs = append(errs, field.Invalid(p, preset.String(), "default value is not valid according to the requestPolicy"))
	}
	return errs
}

// duplicateValues reports quantities with the same whole number.
func duplicateValues(p field.Path, values []any) field.ErrorList {
	var errs field.ErrorList
	seen := map[int64]bool{}
	for i, v := range values {
		n := quantity.Of(v).Value()
		if seen[n] {
			errs = append(errs, field.Duplicate(p.Index(i), strconv.FormatInt(n, 10)))
		}
		seen[n] = true
	}
	return errs
}

func validateCapacityRange(p field.Path, span object.Object, total, preset quantity.Quantity) field.ErrorList {
	if !span.Has("min") {
		return field.ErrorList{field.Required(p.Child("min"), "required when validRange is defined")}
	}
	low, high, step := quantity.Of(span["min"]), quantity.Of(span["max"]), quantity.Of(span["step"])
	var errs field.ErrorList
	refuse := func(broken bool, name string, value quantity.Quantity, detail string) {
		if broken {
			errs = append(errs, field.Invalid(p.Child(name), value.String(), detail))
		}
	}
	refuse(low.Cmp(total) > 0, "min", low, "min is larger than capacity value: "+total.String())
	refuse(preset.Cmp(low) < 0, "min", preset, "default is less than min: "+low.String())
	if span.Has("max") {
		refuse(low.Cmp(high) > 0, "max", low, "min is larger than max: "+high.String())
		refuse(high.Cmp(total) > 0, "max", high, "max is larger than capacity value: "+total.String())
		refuse(preset.Cmp(high) > 0, "max", preset, "default is more than max: "+high.String())
	}
	if !span.Has("step") {
		return errs
	}
	first := low.Add(step)
	refuse(first.Cmp(total) > 0, "step", step, "one step "+first.String()+" is larger than capacity value: "+total.String())
	detail := "value is not a multiple of a given step (" + step.String() + ") from (" + low.String() + ")"
	refuse(!isMultiple(preset, low, step), "step", preset, detail)
	refuse(span.Has("max") && !isMultiple(high, low, step), "step", high, detail)
	return errs
}

// isMultiple reports whether value is a number of whole steps above low. The real server panics for a step of zero.
func isMultiple(value, low, step quantity.Quantity) bool {
	n := step.Value()
	return n == 0 || (value.Value()-low.Value())%n == 0
}
