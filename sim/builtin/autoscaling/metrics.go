package autoscaling

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// move is one field of a metric in v2 and in v1. required says that v1 prints it even when there is none: a string or
// a quantity that is no pointer.
type move struct {
	v2, v1   []string
	required any
}

func steps(path ...string) []string { return path }

// metricMoves are the fields of each source of a metric; current is those of its value.
var metricMoves = map[string]struct{ spec, current []move }{
	"object": {
		spec: []move{
			{steps("describedObject"), steps("target"), map[string]any{"kind": "", "name": ""}},
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("selector"), nil},
			{steps("target", "value"), steps("targetValue"), "0"}, {steps("target", "averageValue"), steps("averageValue"), nil},
		},
		current: []move{
			{steps("describedObject"), steps("target"), map[string]any{"kind": "", "name": ""}},
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("selector"), nil},
			{steps("current", "value"), steps("currentValue"), "0"}, {steps("current", "averageValue"), steps("averageValue"), nil},
		},
	},
	"pods": {
		spec: []move{
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("selector"), nil},
			{steps("target", "averageValue"), steps("targetAverageValue"), "0"},
		},
		current: []move{
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("selector"), nil},
			{steps("current", "averageValue"), steps("currentAverageValue"), "0"},
		},
	},
	"resource": {
		spec: []move{
			{steps("name"), steps("name"), ""}, {steps("target", "averageUtilization"), steps("targetAverageUtilization"), nil},
			{steps("target", "averageValue"), steps("targetAverageValue"), nil},
		},
		current: []move{
			{steps("name"), steps("name"), ""}, {steps("current", "averageUtilization"), steps("currentAverageUtilization"), nil},
			{steps("current", "averageValue"), steps("currentAverageValue"), "0"},
		},
	},
	"containerResource": {
		spec: []move{
			{steps("name"), steps("name"), ""}, {steps("container"), steps("container"), ""},
			{steps("target", "averageUtilization"), steps("targetAverageUtilization"), nil},
			{steps("target", "averageValue"), steps("targetAverageValue"), nil},
		},
		current: []move{
			{steps("name"), steps("name"), ""}, {steps("container"), steps("container"), ""},
			{steps("current", "averageUtilization"), steps("currentAverageUtilization"), nil},
			{steps("current", "averageValue"), steps("currentAverageValue"), "0"},
		},
	},
	"external": {
		spec: []move{
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("metricSelector"), nil},
			{steps("target", "value"), steps("targetValue"), nil}, {steps("target", "averageValue"), steps("targetAverageValue"), nil},
		},
		current: []move{
			{steps("metric", "name"), steps("metricName"), ""}, {steps("metric", "selector"), steps("metricSelector"), nil},
			{steps("current", "value"), steps("currentValue"), "0"}, {steps("current", "averageValue"), steps("currentAverageValue"), nil},
		},
	},
}

// metricToV1 and currentToV1 turn a metric, or its value, into what the annotations of v1 hold.
func metricToV1(m object.Object) map[string]any {
	return moveMetric(m, func(source object.Object, name string) object.Object { return toV1(source, metricMoves[name].spec) })
}

func currentToV1(m object.Object) map[string]any {
	return moveMetric(m, func(source object.Object, name string) object.Object { return toV1(source, metricMoves[name].current) })
}

// metricFromV1 and currentFromV1 are the way back.
func metricFromV1(m object.Object) map[string]any {
	return moveMetric(m, func(source object.Object, name string) object.Object {
		out := fromV1(source, metricMoves[name].spec)
		defaultTarget(name, out)
		return out
	})
}

func currentFromV1(m object.Object) map[string]any {
	return moveMetric(m, func(source object.Object, name string) object.Object {
		out := fromV1(source, metricMoves[name].current)
		out.SetDefault(map[string]any{}, "current")
		return out
	})
}

func moveMetric(m object.Object, convert func(source object.Object, name string) object.Object) map[string]any {
	out := map[string]any{"type": m.String("type")}
	for name := range metricMoves { // order does not matter
		if source := m.At(name); source != nil {
			out[name] = map[string]any(convert(source, name))
		}
	}
	return out
}

func toV1(source object.Object, moves []move) object.Object {
	out := object.Object{}
	for _, mv := range moves {
		if v, ok := source.Get(mv.v2...); ok && v != nil {
			out.Set(object.Copy(v), mv.v1...)
		} else if mv.required != nil {
			out.Set(object.Copy(mv.required), mv.v1...)
		}
	}
	return out
}

func fromV1(source object.Object, moves []move) object.Object {
	out := object.Object{}
	for _, mv := range moves {
		if v, ok := source.Get(mv.v1...); ok && v != nil {
			out.Set(object.Copy(v), mv.v2...)
		} else if mv.required != nil {
			out.Set(object.Copy(mv.required), mv.v2...)
		}
	}
	return out
}

// defaultTarget fills in target.type, which v1 does not say.
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
