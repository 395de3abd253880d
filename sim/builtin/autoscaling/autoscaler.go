// Package autoscaling defines the HorizontalPodAutoscaler. It is stored as v2. An object in v1 contains the fields that v1
// lacks in annotations.
package autoscaling

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// docAutoscaling is the prefix of the definition names of types in autoscaling/v2, the stored version.
const docAutoscaling = "io.k8s.api.autoscaling.v2."

// Kinds returns the kinds of autoscaling.
func Kinds() []kind.Kind {
	spec := func(name, field string) table.Column {
		return table.Doc(name, docAutoscaling+"HorizontalPodAutoscalerSpec", field)
	}
	return []kind.Kind{{
		Storage: "horizontalpodautoscalers.autoscaling",
		Gates: []kind.Gate{
			{Name: "HPAConfigurableTolerance", Fields: []string{"spec.behavior.scaleUp.tolerance", "spec.behavior.scaleDown.tolerance"}},
			{Name: "HPAGeneration", Changed: kind.Semantically.Of("spec")},
		},
		Strategy: resource.Strategy{HasStatus: true},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateAutoscaler(ctx, at.Child("spec")) },
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) {
			if ctx.Since(37) {
				for condition := range at.Each("status", "conditions") {
					kind.NonNegative(condition, "observedGeneration")
				}
			}
			kind.NonNegative(at.Child("status"), "currentReplicas", "desiredReplicas")
		},
		Defaults: map[string]func(object.Object){"v1": defaultAutoscalerV1, "v2": defaultAutoscaler},
		Convert:  map[string]kind.Conversion{"autoscaling/v1": {ToHub: autoscalerFromV1, FromHub: autoscalerToV1}},
		Columns: []table.Column{
			table.Name(), spec("Reference", "scaleTargetRef").Cell(cellTarget), spec("Targets", "metrics").Cell(cellMetrics),
			spec("MinPods", "minReplicas").Given(table.Unset, "spec", "minReplicas"), spec("MaxPods", "maxReplicas").Int("spec", "maxReplicas").Of("string"),
			table.Doc("Replicas", docAutoscaling+"HorizontalPodAutoscalerStatus", "currentReplicas").Int("status", "currentReplicas").Of("string"),
			table.Age(),
		},
	}}
}

func cellTarget(obj object.Object) any {
	ref := obj.At("spec", "scaleTargetRef")
	return ref.String("kind") + "/" + ref.String("name")
}

// defaultCPUUtilization is the target of an autoscaler without metrics, as a percentage.
const defaultCPUUtilization = 80

func cpuMetric(utilization any) map[string]any {
	return map[string]any{"type": "Resource", "resource": map[string]any{"name": "cpu",
		"target": map[string]any{"type": "Utilization", "averageUtilization": utilization}}}
}

// defaultAutoscaler sets the defaults of autoscaling/v2. It also drops the annotations in which autoscaling/v1 stores
// fields of v2.
func defaultAutoscaler(obj object.Object) {
	dropRoundTrip(obj)
	obj.SetDefault(int64(1), "spec", "minReplicas")
	spec := obj.At("spec")
	if len(spec.List("metrics")) == 0 {
		spec["metrics"] = []any{cpuMetric(int64(defaultCPUUtilization))}
	}
	if behavior := spec.At("behavior"); behavior != nil {
		percent := map[string]any{"type": "Percent", "value": int64(100), "periodSeconds": int64(15)}
		pods := map[string]any{"type": "Pods", "value": int64(4), "periodSeconds": int64(15)}
		behavior.SetDefault(int64(0), "scaleUp", "stabilizationWindowSeconds")
		defaultScaling(behavior, "scaleUp", pods, percent)
		defaultScaling(behavior, "scaleDown", percent)
	}
}

func defaultScaling(behavior object.Object, direction string, policies ...any) {
	behavior.SetDefault("Max", direction, "selectPolicy")
	behavior.SetDefault(object.Copy(policies), direction, "policies")
}

// cellMetrics returns a cell that shows the current and target values of the metrics: cpu: 10%/80%.
func cellMetrics(obj object.Object) any {
	current := obj.Objects("status", "currentMetrics")
	var list []string
	for i, metric := range obj.Objects("spec", "metrics") {
		var now object.Object
		if i < len(current) {
			now = current[i]
		}
		list = append(list, cellMetric(metric, now))
	}
	return cmp.Or(table.FirstCell(list, 2, ", "), table.None)
}

// metricFields are the fields that contain the source of a metric, by metric type.
var metricFields = map[string]string{"External": "external", "Pods": "pods", "Object": "object", "Resource": "resource",
	"ContainerResource": "containerResource"}

func cellMetric(metric, current object.Object) string {
	kind := metric.String("type")
	name, ok := metricFields[kind]
	if !ok {
		return "<unknown type>"
	}
	source, now := metric.At(name), current.At(name, "current")
	known := current.At(name) != nil
	average, perPod := source.Get("target", "averageValue")
	switch kind {
	case "Pods":
		return cellQuantity(now, "averageValue", known) + "/" + quantity.Of(average).String()
	case "External", "Object":
		if perPod {
			return cellQuantity(now, "averageValue", known && now.Has("averageValue")) + "/" + quantity.Of(average).String() + " (avg)"
		}
		value, _ := source.Get("target", "value")
		return cellQuantity(now, "value", known) + "/" + quantity.Of(value).String()
	}
	if perPod {
		return source.String("name") + ": " + cellQuantity(now, "averageValue", known) + "/" + quantity.Of(average).String()
	}
	return source.String("name") + ": " + cellPercent(now, table.Unknown) + "/" + cellPercent(source.At("target"), "<auto>")
}

// cellQuantity returns the quantity in the named field of o, or <unknown> if known is false.
func cellQuantity(o object.Object, name string, known bool) string {
	if !known {
		return table.Unknown
	}
	return quantity.Of(o[name]).String()
}

func cellPercent(o object.Object, none string) string {
	if n, ok := o.Int("averageUtilization"); ok {
		return strconv.FormatInt(n, 10) + "%"
	}
	return none
}
