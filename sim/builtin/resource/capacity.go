package resource

import (
	"math"
	"strconv"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

const maxCapacityOptions = 10

// validateDeviceCapacity checks the policy according to which claims may share a device's capacity (KEP-5075).
func validateDeviceCapacity(ctx *resource.Context, at field.Cursor, shared bool) {
	policy := at.Child("requestPolicy")
	if !policy.Has() {
		return
	}
	values, span := policy.Child("validValues"), policy.Child("validRange")
	total, preset := quantity.Of(at.Child("value").Value()), quantity.Of(policy.Child("default").Value())
	several, bounded := values.Len() > 0, span.Has()
	switch {
	case !shared:
		policy.Forbidden("allowMultipleAllocations must be true")
	case several && bounded:
		policy.Forbidden(`exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case several && !policy.Has("default"):
		policy.Child("default").Missing("required when validValues is defined")
	case several:
		validateCapacityValues(values, total, preset)
	case bounded && !policy.Has("default"):
		policy.Child("default").Missing("required when validRange is defined")
	case bounded:
		validateCapacityRange(ctx, span, total, preset)
	}
}

func validateCapacityValues(at field.Cursor, total, preset quantity.Quantity) {
	var last *quantity.Quantity
	for v := range at.Each() {
		q := quantity.Of(v.Value())
		if last != nil && last.Cmp(q) > 0 {
			v.Invalid(q.String(), "values must be sorted in ascending order")
		}
		last = &q
	}
	found, options := false, at.MaxItems(maxCapacityOptions)
	for v := range options.Each() {
		q := quantity.Of(v.Value())
		if q.Cmp(total) > 0 {
			v.Invalid(q.String(), "option is larger than capacity value: "+total.String())
		}
		found = found || q.Cmp(preset) == 0
	}
	seen := map[int64]bool{}
	for v := range options.Each() { // reports values with the same integer part as duplicates
		n := quantity.Of(v.Value()).Value()
		if seen[n] {
			v.Duplicate(strconv.FormatInt(n, 10))
		}
		seen[n] = true
	}
	if !found {
		at.Invalid(preset.String(), "default value is not valid according to the requestPolicy")
	}
}

func validateCapacityRange(ctx *resource.Context, at field.Cursor, total, preset quantity.Quantity) {
	if !at.Has("min") {
		at.Child("min").Missing("required when validRange is defined")
		return
	}
	of := func(name string) quantity.Quantity { return quantity.Of(at.Child(name).Value()) }
	low, high, step := of("min"), of("max"), of("step")
	refuse := func(broken bool, name string, value quantity.Quantity, detail string) {
		if broken {
			at.Child(name).Invalid(value.String(), detail)
		}
	}
	refuse(low.Cmp(total) > 0, "min", low, "min is larger than capacity value: "+total.String())
	least, most := "min", "max" // the field at which a default outside the range is reported
	if ctx.Since(37) {
		least, most = "default", "default"
	}
	refuse(preset.Cmp(low) < 0, least, preset, "default is less than min: "+low.String())
	if at.Has("max") {
		refuse(low.Cmp(high) > 0, "max", low, "min is larger than max: "+high.String())
		refuse(high.Cmp(total) > 0, "max", high, "max is larger than capacity value: "+total.String())
		refuse(preset.Cmp(high) > 0, most, preset, "default is more than max: "+high.String())
	}
	if !at.Has("step") {
		return
	}
	if ctx.Since(37) && step.Sign() <= 0 {
		refuse(true, "step", step, "must be greater than zero")
		return
	}
	first := low.Add(step)
	refuse(first.Cmp(total) > 0, "step", step, "one step "+first.String()+" is larger than capacity value: "+total.String())
	if ctx.Since(37) && !wholeNumbers(at.With(preset.String()).ReportAt(at.Child("default")), at.Child("min"), at.Child("max"), at.Child("step")) {
		return
	}
	detail := "value is not a multiple of a given step (" + step.String() + ") from (" + low.String() + ")"
	refuse(!isMultiple(preset, low, step), "step", preset, detail)
	refuse(at.Has("max") && !isMultiple(high, low, step), "step", high, detail)
}

// wholeNumbers checks that quantities fit into an int64, because the server computes steps with integers (validateInt64Range). It
// reports whether all of them fit.
func wholeNumbers(all ...field.Cursor) bool {
	fit := true
	for _, at := range all {
		q := quantity.Of(at.Value())
		switch {
		case !at.Has():
			continue
		case q.Sign() < 0:
			at.Invalid(q.String(), field.TextNonNegative)
		case q.CmpInt64(math.MaxInt64) > 0:
			at.Invalid(q.String(), "must not be larger than 9223372036854775807")
		default:
			continue
		}
		fit = false
	}
	return fit
}

// isMultiple reports whether value is an integral number of steps above low. Before 1.37 the real server panics if the
// step is zero.
func isMultiple(value, low, step quantity.Quantity) bool {
	n := step.Value()
	return n == 0 || (value.Value()-low.Value())%n == 0
}
