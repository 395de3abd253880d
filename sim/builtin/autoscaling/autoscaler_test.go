package autoscaling

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

const scalerJSON = `{"apiVersion":"autoscaling/v2","metadata":{"name":"h","namespace":"n"},
	"spec":{"maxReplicas":3,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}}`

var scaler = kindtest.Rules{Kinds: served, Storage: "horizontalpodautoscalers.autoscaling", Version: "v2", Base: scalerJSON}

func TestAutoscalerDefaults(t *testing.T) {
	is := is.New(t)
	obj := scaler.Make(t, `{"spec":{"behavior":{"scaleUp":{"policies":[{"type":"Pods","value":1,"periodSeconds":60}]}}}}`)
	again := obj.Copy()
	defaultAutoscaler(again)
	is.Equal(again, obj) // defaults are idempotent
	is.Equal(string(object.JSON(obj["spec"])), `{"behavior":{"scaleDown":{"policies":[{"periodSeconds":15,"type":"Percent","value":100}],"selectPolicy":"Max"},`+
		`"scaleUp":{"policies":[{"periodSeconds":60,"type":"Pods","value":1}],"selectPolicy":"Max","stabilizationWindowSeconds":0}},"maxReplicas":3,`+
		`"metrics":[{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}],"minReplicas":1,`+
		`"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"}}`) // same defaults as the real server
}

func TestAutoscalerRules(t *testing.T) {
	scaler.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "replicas", Patch: `{"spec":{"minReplicas":0,"maxReplicas":0}}`,
			Want: "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1\n" +
				"spec.maxReplicas: Required value: must be set and greater than 0\n" +
				"spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas"},
		{Name: "crossed", Patch: `{"spec":{"minReplicas":5}}`, Want: "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"},
		{Name: "negative", Patch: `{"spec":{"maxReplicas":-1}}`, Want: "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1\n" +
			"spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`"},
		{Name: "reference", Patch: `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"","name":"a/b"}}}`,
			Want: "spec.scaleTargetRef.kind: Required value\n" + `spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'` + "\n" +
				`spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group`},
		{Name: "controller", Patch: `{"spec":{"scaleTargetRef":{"apiVersion":"v1","kind":"ReplicationController"}}}`},
		{Name: "old reference", Old: `{"spec":{"scaleTargetRef":{"apiVersion":"v1"}}}`, Patch: `{"spec":{"scaleTargetRef":{"apiVersion":"v1"}}}`},
		{Name: "no type", Patch: `{"spec":{"metrics":[{}]}}`,
			Want: "spec.metrics[0].type: Required value: must specify a metric source type\n" +
				`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"` + "\n" +
				`spec.metrics[0].type: Unsupported value: "": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`},
		{Name: "no source", Patch: `{"spec":{"metrics":[{"type":"Pods"}]}}`, Want: "spec.metrics[0].pods: Required value: must populate information for the given metric source"},
		{Name: "two sources", Patch: `{"spec":{"metrics":[{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":0}},"pods":{}}]}}`,
			Want: "spec.metrics[0].pods.metric.name: Required value: must specify a metric name\n" +
				"spec.metrics[0].pods.target.type: Required value: must specify a metric target type\n" +
				`spec.metrics[0].pods.target.type: Invalid value: "": must be either Utilization, Value, or AverageValue` + "\n" +
				"spec.metrics[0].pods.target.averageValue: Required value: must specify a positive target averageValue\n" +
				"spec.metrics[0].pods: Forbidden: must populate the given metric source only"},
		{Name: "resource", Patch: `{"spec":{"metrics":[{"type":"Resource","resource":{"name":"","target":{"type":"Value"}}}]}}`,
			Want: "spec.metrics[0].resource.name: Required value: must specify a resource name\n" +
				"spec.metrics[0].resource.target.averageUtilization: Required value: must set either a target raw value or a target utilization"},
		{Name: "values", Patch: `{"spec":{"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"type":"Value","value":"0","averageValue":"-1"}}}]}}`,
			Want: `spec.metrics[0].external.target.value: Invalid value: "0": must be positive` + "\n" +
				`spec.metrics[0].external.target.averageValue: Invalid value: "-1": must be positive` + "\n" +
				"spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and a per-pod target"},
		{Name: "behavior", Patch: `{"spec":{"behavior":{"scaleUp":{"selectPolicy":"Any","stabilizationWindowSeconds":3601,"policies":[]},"scaleDown":{"policies":[{"type":"X","value":0,"periodSeconds":1801}]}}}}`,
			Want: "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600\n" +
				`spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max", "Min"` + "\n" +
				"spec.behavior.scaleUp.policies: Required value: must specify at least one Policy\n" +
				`spec.behavior.scaleDown.policies[0].type: Unsupported value: "X": supported values: "Percent", "Pods"` + "\n" +
				"spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero\n" +
				"spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800"},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"currentReplicas":-1}}`,
			Want: "status.currentReplicas: Invalid value: -1: must be greater than or equal to 0"},
	})
}

// scalerFull is an autoscaler that uses everything that autoscaling/v1 lacks.
const scalerFull = `{"spec":{"minReplicas":2,"metrics":[
	{"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"100Mi"}}},
	{"type":"Object","object":{"describedObject":{"apiVersion":"v1","kind":"Service","name":"s"},"metric":{"name":"hits","selector":{"matchLabels":{"type":"x","a":"b"}}},"target":{"type":"Value","value":"10"}}},
	{"type":"External","external":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"5"}}},
	{"type":"Pods","pods":{"metric":{"name":"tps"},"target":{"type":"AverageValue","averageValue":"1k"}}},
	{"type":"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":50}}},
	{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":60}}}],
	"behavior":{"scaleDown":{"stabilizationWindowSeconds":60,"policies":[{"type":"Percent","value":10,"periodSeconds":15}],"tolerance":"50m"}}},
	"status":{"desiredReplicas":2,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu","current":{"averageUtilization":40,"averageValue":"4m"}}},
	{"type":"External","external":{"metric":{"name":"queue"},"current":{"value":"0","averageValue":"3"}}}],
	"conditions":[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"m"}]}}`

func TestAutoscalerRoundTrip(t *testing.T) {
	is := is.New(t)
	obj := scaler.Make(t, scalerFull)
	v1, err := autoscalerToV1(obj.Copy())
	is.NoErr(err)                                                                                                                                                                               // always converts
	is.Equal(string(object.JSON(v1["spec"])), `{"maxReplicas":3,"minReplicas":2,"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},"targetCPUUtilizationPercentage":60}`) // the fields that v1 has
	is.Equal(string(object.JSON(v1["status"])), `{"currentCPUUtilizationPercentage":40,"desiredReplicas":2}`)                                                                                   // status too
	annotations := v1.Annotations()
	is.Equal(annotations[annotationMetrics], `[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"100Mi"}},`+
		`{"type":"Object","object":{"target":{"kind":"Service","name":"s","apiVersion":"v1"},"metricName":"hits","targetValue":"10","selector":{"matchLabels":{"a":"b","type":"x"}}}},`+
		`{"type":"External","external":{"metricName":"queue","targetAverageValue":"5"}},{"type":"Pods","pods":{"metricName":"tps","targetAverageValue":"1k"}},`+
		`{"type":"ContainerResource","containerResource":{"name":"cpu","targetAverageUtilization":50,"container":"c"}}]`) // in the order of the Go types
	is.Equal(annotations[annotationCurrent], `[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"4m"}},`+
		`{"type":"External","external":{"metricName":"queue","currentValue":"0","currentAverageValue":"3"}}]`) // the current values
	is.Equal(annotations[annotationConditions], `[{"type":"AbleToScale","status":"True","lastTransitionTime":"2026-01-01T00:00:00Z","reason":"R","message":"m"}]`) // conditions
	is.Equal(annotations[annotationBehavior], `{"ScaleUp":{"StabilizationWindowSeconds":0,"SelectPolicy":"Max","Policies":[{"Type":"Pods","Value":4,"PeriodSeconds":15},{"Type":"Percent","Value":100,"PeriodSeconds":15}],"Tolerance":null},`+
		`"ScaleDown":{"StabilizationWindowSeconds":60,"SelectPolicy":"Max","Policies":[{"Type":"Percent","Value":10,"PeriodSeconds":15}],"Tolerance":"50m"}}`) // in the in-memory form
	defaultAutoscalerV1(v1)
	back, err := autoscalerFromV1(v1)
	is.NoErr(err)                                                 // always converts
	is.Equal(string(object.JSON(back)), string(object.JSON(obj))) // the conversion loses nothing
}

func TestAutoscalerFromPlainV1(t *testing.T) {
	is := is.New(t)
	v1 := kindtest.Rules{Kinds: served, Storage: scaler.Storage, Version: "v1", Base: scalerJSON}.Make(t, "")
	is.Equal(v1.Int64("spec", "targetCPUUtilizationPercentage"), int64(80)) // v1 shows the default
	v1.Set("not JSON", "metadata", "annotations", annotationMetrics)
	v1.Set("[1]", "metadata", "annotations", annotationBehavior)
	v1.Set("kept", "metadata", "annotations", "a")
	hub, err := autoscalerFromV1(v1)
	is.NoErr(err)                                               // invalid annotations are ignored
	is.Equal(hub.Annotations(), map[string]string{"a": "kept"}) // and the annotations are dropped
	is.Equal(len(hub.List("spec", "metrics")), 1)               // the CPU metric from the spec of v1 is kept
}

func TestAutoscalerAnnotations(t *testing.T) {
	read := func(key, text string) object.Object {
		v1 := kindtest.Rules{Kinds: served, Storage: scaler.Storage, Version: "v1", Base: scalerJSON}.Make(t, "")
		v1.Remove("spec", "targetCPUUtilizationPercentage")
		v1.Set(text, "metadata", "annotations", key)
		hub, err := autoscalerFromV1(v1)
		if err != nil {
			t.Fatal(err)
		}
		return hub
	}
	const fallback = `[{"resource":{"name":"cpu","target":{"averageUtilization":80,"type":"Utilization"}},"type":"Resource"}]`
	is := is.New(t)
	for text, want := range map[string]string{ // order does not matter
		`[{"type":"Pods","pods":{"metricName":{"x":1}}}]`:                   fallback, // wrong types
		`[{"type":"Resource","resource":{"targetAverageUtilization":"5"}}]`: fallback,
		`[{"type":"Pods","pods":{"targetAverageValue":"many"}}]`:            fallback,
		`{"type":"Pods"}`: fallback,
		`[{"type":"Pods","pods":{"metricName":"x","targetAverageValue":"1000m","no":1}}]`: `[{"pods":{"metric":{"name":"x"},"target":{"averageValue":"1","type":"AverageValue"}},"type":"Pods"}]`,
		`[{"type":"External","external":{"metricName":"x","targetValue":5}}]`:             `[{"external":{"metric":{"name":"x"},"target":{"type":"Value","value":"5"}},"type":"External"}]`,
		`[null]`: `[{"type":""}]`,
	} {
		is.Equal(string(object.JSON(read(annotationMetrics, text).List("spec", "metrics"))), want) // ignored unless it matches the types
	}
	is.True(!read(annotationBehavior, `{"ScaleUp":{"Policies":[1]}}`).Has("spec", "behavior"))                            // wrong types
	is.True(!read(annotationConditions, `[{"lastTransitionTime":"now"}]`).Has("status", "conditions"))                    // no time
	is.Equal(len(read(annotationConditions, `[{"lastTransitionTime":null,"type":"A"}]`).List("status", "conditions")), 1) // null is allowed
}

func TestAutoscalerCells(t *testing.T) {
	is := is.New(t)
	is.Equal(scaler.Cells(t, `{"status":{"currentReplicas":2}}`), `["h","Deployment/d","cpu: <unknown>/80%","1",3,2,"60s"]`) // default metric
	is.Equal(scaler.Cells(t, scalerFull), `["h","Deployment/d","memory: 4m/100Mi, <unknown>/10 + 4 more...","2",3,0,"60s"]`) // the first two
	is.Equal(scaler.Cells(t, `{"spec":{"metrics":[{"type":"External","external":{"metric":{"name":"q"},"target":{"averageValue":"5"}}},{"type":"Pods","pods":{"target":{"averageValue":"1k"}}}]},`+
		`"status":{"currentMetrics":[{"external":{"current":{"averageValue":"3"}}}]}}`), `["h","Deployment/d","3/5 (avg), <unknown>/1k","1",3,0,"60s"]`) // average values per pod
}

// TestShapesOfAutoscaling runs every rule on objects with missing values.
func TestShapesOfAutoscaling(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		scaler,
		{Kinds: served, Storage: "horizontalpodautoscalers.autoscaling", Version: "v2", Base: scalerFull},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
