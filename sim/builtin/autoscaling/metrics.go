package autoscaling

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/schema"
)

// sourceField is a field in the source of a metric: its path in v2, its name in v1, its type, and whether v1 encodes it even if it
// is unset, because it is not a pointer. The path and the name are those in a metric's target. Its method named in returns those in
// the metric's current value.
type sourceField struct {
	v2, v1  string
	of      *schema.Type
	printed byte
}

const (
	maybe byte = iota
	inCurrent
	always
)

var (
	metricName     = sourceField{"metric.name", "metricName", aString, always}
	metricSelector = sourceField{"metric.selector", "selector", aSelector, maybe}
	metricOf       = sourceField{"name", "name", aString, always}
	utilization    = sourceField{"target.averageUtilization", "targetAverageUtilization", anInt, maybe}
	averageValue   = sourceField{"target.averageValue", "targetAverageValue", aQuantity, inCurrent}
)

// sources are the sources of metrics and their fields, in the order in which v1 encodes them.
var sources = []struct {
	name   string
	fields []sourceField
}{
	{"object", []sourceField{{"describedObject", "target", aRef, always}, metricName,
		{"target.value", "targetValue", aQuantity, always}, metricSelector, {"target.averageValue", "averageValue", aQuantity, maybe}}},
	{"pods", []sourceField{metricName, {"target.averageValue", "targetAverageValue", aQuantity, always}, metricSelector}},
	{"resource", []sourceField{metricOf, utilization, averageValue}},
	{"containerResource", []sourceField{metricOf, utilization, averageValue, {"container", "container", aString, always}}},
	{"external", []sourceField{metricName, {"metric.selector", "metricSelector", aSelector, maybe},
		{"target.value", "targetValue", aQuantity, inCurrent}, {"target.averageValue", "targetAverageValue", aQuantity, maybe}}},
}

// in returns the path of the field in v2 and its name in v1: those in the metric's current value if current is true, and otherwise
// those in its target. zero is the value that v1 encodes if the field is unset, or nil if v1 omits it.
func (f sourceField) in(current bool) (v2 []string, v1 string, zero any) {
	v2, v1 = strings.Split(f.v2, "."), f.v1
	if current && v2[0] == "target" {
		v2[0], v1 = "current", strings.Replace(v1, "target", "current", 1)
	}
	if f.printed == always || f.printed == inCurrent && current {
		if zero = codec.Zero(f.of); f.of == aRef {
			zero = map[string]any{"kind": "", "name": ""}
		}
	}
	return v2, v1, zero
}

// aMetric returns the v1 type of a metric, or of its current value.
func aMetric(current bool) *schema.Type {
	fields := of(aString, "type")
	for _, s := range sources {
		var source []schema.Field
		for _, f := range s.fields {
			_, v1, _ := f.in(current)
			source = append(source, of(f.of, v1)...)
		}
		fields = append(fields, of(aStruct(source), s.name)...)
	}
	return aStruct(fields)
}

// metricToV1 converts a metric, or its current value, to the form in v1 annotations.
func metricToV1(m object.Object, current bool) map[string]any {
	return moveMetric(m, func(source, out object.Object, f sourceField) {
		v2, v1, zero := f.in(current)
		moveField(source, out, v2, []string{v1}, zero)
	})
}

// metricFromV1 converts a metric, or its current value, from the form in v1 annotations.
func metricFromV1(m object.Object, current bool) map[string]any {
	out := moveMetric(m, func(source, out object.Object, f sourceField) {
		v2, v1, zero := f.in(current)
		moveField(source, out, []string{v1}, v2, zero)
	})
	for _, s := range sources {
		source := object.Object(out).At(s.name)
		switch {
		case source == nil:
		case current:
			source.SetDefault(map[string]any{}, "current")
		default:
			defaultTarget(s.name, source)
		}
	}
	return out
}

func moveMetric(m object.Object, move func(source, out object.Object, f sourceField)) map[string]any {
	out := map[string]any{"type": m.String("type")}
	for _, s := range sources {
		if source := m.At(s.name); source != nil {
			moved := object.Object{}
			for _, f := range s.fields {
				move(source, moved, f)
			}
			out[s.name] = map[string]any(moved)
		}
	}
	return out
}

func moveField(source, out object.Object, from, to []string, zero any) {
	v, _ := source.Get(from...)
	if v == nil {
		v = zero
	}
	if v != nil {
		out.Set(object.Copy(v), to...)
	}
}

// defaultTarget sets target.type, which v1 lacks.
func defaultTarget(name string, source object.Object) {
	kind := "AverageValue"
	switch {
	case name == "object" && source.Has("target", "averageValue"):
		if value, ok := source.Get("target", "value"); ok && quantity.Of(value).IsZero() {
			source.Remove("target", "value")
		}
	case name == "object", name == "external" && source.Has("target", "value"):
		kind = "Value"
	case name != "external" && source.Has("target", "averageUtilization"):
		kind = "Utilization"
	}
	source.Set(kind, "target", "type")
}
