package autoscaling

import (
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// The annotations of autoscaling/v1 objects that contain values without a field in v1, as JSON. Metrics, their current
// values and the conditions have the types of v1, which nothing else uses. The behavior has the API server's in-memory
// form.
//
//	v2 spec.metrics[cpu utilization] ── spec.targetCPUUtilizationPercentage             v1
//	v2 spec.metrics[others]          ── annotation autoscaling.alpha.kubernetes.io/metrics
const (
	annotationMetrics    = "autoscaling.alpha.kubernetes.io/metrics"
	annotationCurrent    = "autoscaling.alpha.kubernetes.io/current-metrics"
	annotationConditions = "autoscaling.alpha.kubernetes.io/conditions"
	annotationBehavior   = "autoscaling.alpha.kubernetes.io/behavior"
)

var roundTripAnnotations = []string{annotationMetrics, annotationCurrent, annotationConditions, annotationBehavior,
	"autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance"}

// dropRoundTrip removes the annotations that contain values without a field in v1.
func dropRoundTrip(obj object.Object) {
	annotations := obj.Map("metadata", "annotations")
	for _, key := range roundTripAnnotations {
		delete(annotations, key)
	}
	if annotations != nil && len(annotations) == 0 {
		obj.Remove("metadata", "annotations")
	}
}

// defaultAutoscalerV1 sets the defaults of autoscaling/v1, which has a separate field for the default metric.
func defaultAutoscalerV1(obj object.Object) {
	obj.SetDefault(int64(1), "spec", "minReplicas")
	if !obj.Has("spec", "targetCPUUtilizationPercentage") && len(annotatedList(obj, annotationMetrics, metricsType)) == 0 {
		obj.Set(int64(defaultCPUUtilization), "spec", "targetCPUUtilizationPercentage")
	}
}

// annotated decodes the JSON in the annotation with the key. It returns nil if the annotation is missing or its JSON does not match
// the type.
func annotated(obj object.Object, key string, t kind.Value) any {
	return t.Read(obj.String("metadata", "annotations", key))
}

// annotatedList is like annotated, but for a list of objects.
func annotatedList(obj object.Object, key string, t kind.Value) []object.Object {
	list, _ := annotated(obj, key, t).([]any)
	return object.ObjectsOf(list)
}

// autoscalerFromV1 converts an object from autoscaling/v1 to v2.
func autoscalerFromV1(obj object.Object) (object.Object, error) {
	obj["apiVersion"] = "autoscaling/v2"
	var metrics []any
	for _, m := range annotatedList(obj, annotationMetrics, metricsType) {
		metrics = append(metrics, metricFromV1(m, false))
	}
	if n, ok := obj.Get("spec", "targetCPUUtilizationPercentage"); ok && n != nil {
		metrics = append(metrics, cpuMetric(n))
	}
	if len(metrics) == 0 {
		metrics = []any{cpuMetric(int64(defaultCPUUtilization))}
	}
	obj.Remove("spec", "targetCPUUtilizationPercentage")
	obj.Set(metrics, "spec", "metrics")
	if behavior := behaviorFromV1(obj); behavior != nil {
		obj.Set(behavior, "spec", "behavior")
	}
	statusFromV1(obj)
	dropRoundTrip(obj)
	return obj, nil
}

func statusFromV1(obj object.Object) {
	var current []any
	if n, ok := obj.Get("status", "currentCPUUtilizationPercentage"); ok && n != nil {
		current = []any{map[string]any{"type": "Resource", "resource": map[string]any{"name": "cpu",
			"current": map[string]any{"averageUtilization": n}}}}
	}
	if list, ok := annotated(obj, annotationCurrent, currentType).([]any); ok {
		current = nil
		for _, m := range object.ObjectsOf(list) {
			current = append(current, metricFromV1(m, true))
		}
	}
	obj.Remove("status", "currentCPUUtilizationPercentage")
	if len(current) > 0 {
		obj.Set(current, "status", "currentMetrics")
	}
	if conditions, _ := annotated(obj, annotationConditions, conditionsType).([]any); len(conditions) > 0 {
		obj.Set(conditions, "status", "conditions")
	}
}

// goName matches a field name in the JSON of the behavior annotation.
var goName = regexp.MustCompile(`"[A-Z]\w*"\s*:`)

// behaviorFromV1 decodes the behavior in the annotation, whose keys are Go names.
func behaviorFromV1(obj object.Object) map[string]any {
	text := goName.ReplaceAllStringFunc(obj.String("metadata", "annotations", annotationBehavior), func(name string) string {
		return strings.ToLower(name[:2]) + name[2:]
	})
	m, _ := behaviorType.Read(text).(map[string]any)
	if !object.Object(m).Has("scaleUp") && !object.Object(m).Has("scaleDown") {
		return nil
	}
	return m
}

// autoscalerToV1 converts an object from autoscaling/v2 to v1.
func autoscalerToV1(obj object.Object) (object.Object, error) {
	obj["apiVersion"] = "autoscaling/v1"
	dropRoundTrip(obj)
	spec, status := obj.At("spec"), obj.At("status")
	var metrics, current, conditions []any
	for _, m := range spec.Objects("metrics") {
		if n, ok := m.Get("resource", "target", "averageUtilization"); ok && m.String("type") == "Resource" && m.String("resource", "name") == "cpu" {
			spec.SetDefault(n, "targetCPUUtilizationPercentage")
			continue
		}
		metrics = append(metrics, metricToV1(m, false))
	}
	for _, m := range status.Objects("currentMetrics") {
		if n, ok := m.Get("resource", "current", "averageUtilization"); ok && m.String("type") == "Resource" && m.String("resource", "name") == "cpu" {
			status["currentCPUUtilizationPercentage"] = n
		}
		current = append(current, metricToV1(m, true))
	}
	for _, c := range status.Objects("conditions") {
		c.SetDefault(nil, "lastTransitionTime")
		conditions = append(conditions, map[string]any(c))
	}
	annotate := func(key, text string, wanted bool) {
		if wanted {
			obj.Set(text, "metadata", "annotations", key)
		}
	}
	annotate(annotationMetrics, string(metricsType.JSON(metrics)), len(metrics) > 0)
	annotate(annotationCurrent, string(currentType.JSON(current)), len(current) > 0)
	annotate(annotationConditions, string(conditionsType.JSON(conditions)), len(conditions) > 0)
	behavior := spec.At("behavior")
	annotate(annotationBehavior, string(gotext.JSON(gotext.HorizontalPodAutoscalerBehavior, behavior)), behavior != nil)
	delete(spec, "metrics")
	delete(spec, "behavior")
	delete(status, "currentMetrics")
	delete(status, "conditions")
	return obj, nil
}

// The types of the annotations, which no kind uses: those of autoscaling/v1, and the behavior with the field names of
// autoscaling/v2.
var (
	aString   = &schema.Type{Kind: schema.String}
	anInt     = &schema.Type{Kind: schema.Int, Bits: 32}
	aQuantity = &schema.Type{Kind: schema.Quantity}
	aRef      = aStruct(of(aString, "kind", "name", "apiVersion"))
	aSelector = aStruct(of(&schema.Type{Kind: schema.Map, Elem: aString}, "matchLabels"),
		of(aList(aStruct(of(aString, "key", "operator"), of(aList(aString), "values"))), "matchExpressions"))

	aTransition = []schema.Field{{Name: "lastTransitionTime", Type: &schema.Type{Kind: schema.Time}}}
	aCondition  = aStruct(of(aString, "type", "status"), aTransition, of(aString, "reason", "message"))
	aScaling    = aStruct(of(anInt, "stabilizationWindowSeconds"), of(aString, "selectPolicy"), of(aQuantity, "tolerance"),
		of(aList(aStruct(of(aString, "type"), of(anInt, "value", "periodSeconds"))), "policies"))
)

// The types of the annotations' contents.
var (
	metricsType, currentType = kind.ValueOf(aList(aMetric(false))), kind.ValueOf(aList(aMetric(true)))
	conditionsType           = kind.ValueOf(aList(aCondition))
	behaviorType             = kind.ValueOf(aStruct(of(aScaling, "scaleUp", "scaleDown")))
)

func aList(elem *schema.Type) *schema.Type { return &schema.Type{Kind: schema.List, Elem: elem} }

func aStruct(fields ...[]schema.Field) *schema.Type {
	return schema.NewStruct("", "", slices.Concat(fields...))
}

// of returns optional fields with the given names, all of type t. They are omitted from JSON if they are unset.
func of(t *schema.Type, names ...string) []schema.Field {
	fields := make([]schema.Field, len(names))
	for i, name := range names {
		fields[i] = schema.Field{Name: name, Type: t, Pointer: true, OmitEmpty: true}
	}
	return fields
}
