package autoscaling

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/selector"
)

// proposal is the result of evaluating a metric.
type proposal struct {
	replicas int64
	name     string        // name of the metric, for events
	status   object.Object // the entry in status.currentMetrics; empty if the metric could not be measured
	reason   string        // reason in the condition if the metric could not be measured
}

// propose returns the number of replicas that a metric in spec.metrics requires (computeReplicasForMetric).
func (h *autoscaler) propose(spec object.Object) (p proposal, err error) {
	switch kind := spec.String("type"); kind {
	case "Resource":
		p, err = h.byResource(spec.At("resource"), "resource", "Resource", "")
		if err != nil {
			return h.fail("FailedGetResourceMetric", err, "failed to get "+spec.String("resource", "name")+" resource metric value")
		}
	case "ContainerResource":
		at := spec.At("containerResource")
		p, err = h.byResource(at, "containerResource", kind, at.String("container"))
		if err != nil {
			return h.fail("FailedGetContainerResourceMetric", err, "failed to get "+at.String("container")+" container metric value")
		}
	case "Pods":
		if p, err = h.byPods(spec.At("pods")); err != nil {
			return h.fail("FailedGetPodsMetric", err, "failed to get pods metric value")
		}
	case "Object":
		if p, err = h.byObject(spec.At("object")); err != nil {
			return h.fail("FailedGetObjectMetric", err, "failed to get object metric value")
		}
	case "External":
		if p, err = h.byExternal(spec.At("external")); err != nil {
			return h.fail("FailedGetExternalMetric", err, "failed to get "+spec.String("external", "metric", "name")+" external metric value")
		}
	default:
		err = fmt.Errorf("unknown metric source type %q", kind)
		_, _ = h.fail("InvalidMetricSourceType", err, "")
	}
	return p, err
}

// bareError is an error whose text goes into the event and the condition without the prefix that other callers add.
type bareError struct{ inner, outer error }

func (e bareError) Error() string { return e.outer.Error() }

// fail returns the proposal and the error for a metric that could not be measured, and records an event with the reason.
func (h *autoscaler) fail(reason string, err error, failure string) (proposal, error) {
	inner := err
	if s, ok := err.(bareError); ok {
		inner = s.inner
	}
	h.warn(reason, inner.Error())
	if h.invalid == "" {
		h.invalid, h.invalidMessage = reason, "the HPA was unable to compute the replica count: "+inner.Error()
	}
	return proposal{reason: reason}, fmt.Errorf("%s: %w", failure, err)
}

// byResource evaluates the pods' usage of a resource (computeStatusForResourceMetricGeneric).
func (h *autoscaler) byResource(at object.Object, field, kind, container string) (p proposal, err error) {
	name := at.String("name")
	percent, relative := at.Int("target", "averageUtilization")
	t, statistic := target{value: percent}, "utilization"
	if v, ok := at.Get("target", "averageValue"); ok {
		t, statistic, relative = target{value: quantity.Of(v).MilliValue()}, "usage", false
	}
	n, u, err := h.compareUsage(t, relative, name, container)
	if err != nil {
		return p, fmt.Errorf("failed to get %s %s: %w", name, statistic, err)
	}
	format := quantity.DecimalSI
	if name == "memory" {
		format = quantity.BinarySI
	}
	current := map[string]any{"averageValue": quantity.Milli(u.average, format).String()}
	p.name = name + " resource"
	if relative {
		current["averageUtilization"] = u.percent
		p.name = name + strings.Replace(" resource utilization (percentage of request)", " ", map[bool]string{true: " container ", false: " "}[container != ""], 1)
	}
	status := map[string]any{"name": name, "current": current}
	if container != "" {
		status["container"] = container
	}
	p.replicas, p.status = n, object.Object{"type": kind, field: status}
	return p, nil
}

func (h *autoscaler) compareUsage(t target, relative bool, name, container string) (int64, use, error) {
	samples, err := h.usage(name, container)
	if err != nil {
		return 0, use{}, fmt.Errorf("unable to get metrics for resource %s: %w", name, err)
	}
	if len(h.pods) == 0 {
		return 0, use{}, errNoPods
	}
	g := groupPods(h.pods, samples, name, h.api.Now())
	if relative && len(samples) > 0 {
		t.requests = map[string]int64{}
		for _, p := range h.pods {
			if t.requests[p.Name], err = p.request(name, container); err != nil {
				return 0, use{}, err
			}
		}
	}
	return replicas(h.current, t, samples, g, h.tolerance())
}

var errNoPods = errors.New("no pods returned by selector while calculating replica count")

// byPods evaluates a metric of pods (computeStatusForPodsMetric).
func (h *autoscaler) byPods(at object.Object) (p proposal, err error) {
	name := at.String("metric", "name")
	samples, err := h.ofPods(name, h.pick(at))
	if err != nil {
		return p, fmt.Errorf("unable to get metric %s: %w", name, err)
	}
	if len(h.pods) == 0 {
		return p, errNoPods
	}
	t := target{value: quantity.Of(at.At("target")["averageValue"]).MilliValue()}
	n, u, err := replicas(h.current, t, samples, groupPods(h.pods, samples, "", h.api.Now()), h.tolerance())
	if err != nil {
		return p, err
	}
	return proposal{replicas: n, name: "pods metric " + name, status: object.Object{"type": "Pods", "pods": map[string]any{
		"metric": at["metric"], "current": map[string]any{"averageValue": milliText(u.average)}}}}, nil
}

func milliText(n int64) string { return quantity.Milli(n, quantity.DecimalSI).String() }

// pick returns the selector of a metric. If the metric has none, the result matches everything.
func (h *autoscaler) pick(at object.Object) selector.Labels {
	if !at.Has("metric", "selector") {
		return selector.Labels{}
	}
	labels, _ := selector.FromLabelSelector(at.Map("metric", "selector")) // the selector has been validated
	return labels
}

// byObject evaluates a metric of an object (computeStatusForObjectMetric).
func (h *autoscaler) byObject(at object.Object) (p proposal, err error) {
	name, ref := at.String("metric", "name"), at.At("describedObject")
	used, err := h.ofObject(name, ref, h.pick(at))
	if err != nil {
		format := "unable to get metric %s: %s on %s %s/%w" // before 1.37 the real controller mistakes the kind for the error
		if h.api.Since(37) {
			format = "unable to get metric %s on %s %s/%s: %w"
		}
		err = fmt.Errorf(format, name, ref.String("kind"), h.namespace, ref.String("name"), err)
	}
	n, current, err := h.compareTotal(at.At("target"), used, err, fmt.Sprintf("failed to get %s object metric", name))
	if err != nil {
		return p, err
	}
	p = proposal{replicas: n, name: ref.String("kind") + " metric " + name, status: object.Object{"type": "Object", "object": map[string]any{
		"metric": at["metric"], "describedObject": at["describedObject"], "current": current}}}
	if at.String("target", "type") != "Value" {
		p.name = "external metric " + name + "(" + goSelector(at.Map("metric", "selector")) + ")"
	}
	return p, nil
}

// byExternal evaluates an external metric (computeStatusForExternalMetric).
func (h *autoscaler) byExternal(at object.Object) (p proposal, err error) {
	name, labels := at.String("metric", "name"), goSelector(at.Map("metric", "selector"))
	values, err := h.external(name, h.pick(at))
	if err != nil {
		err = fmt.Errorf("unable to get external metric %s/%s/%s: %w", h.namespace, name, labels, err)
	}
	sum := int64(0)
	for _, v := range values {
		if sum += v; sum < 0 {
			sum = math.MaxInt64
			break
		}
	}
	outer := "failed to get external metric " + name
	if at.Has("target", "averageValue") {
		outer = "failed to get " + name + " external metric"
	}
	n, current, err := h.compareTotal(at.At("target"), sum, err, outer)
	if err != nil {
		if _, ok := err.(bareError); !ok {
			err = bareError{err, fmt.Errorf("%s: %w", outer, err)}
		}
		return p, err
	}
	return proposal{replicas: n, name: fmt.Sprintf("external metric %s(%s)", name, labels), status: object.Object{"type": "External",
		"external": map[string]any{"metric": at["metric"], "current": current}}}, nil
}

// compareTotal compares the value of a metric for all pods, or the average value per pod, with its target
// (GetObjectMetricReplicas, GetObjectPerPodMetricReplicas).
func (h *autoscaler) compareTotal(t object.Object, used int64, failed error, outer string) (n int64, current map[string]any, err error) {
	if v, ok := t.Get("averageValue"); ok && t.String("type") != "Value" {
		if failed != nil {
			return 0, nil, bareError{failed, fmt.Errorf("%s: %w", outer, failed)}
		}
		each := float64(quantity.Of(v).MilliValue())
		n = h.have
		if !h.tolerance().within(float64(used) / (each * float64(n))) {
			n = ceil(float64(used) / each)
		}
		return n, map[string]any{"averageValue": milliText(share(used, h.have))}, nil
	}
	if failed != nil {
		return 0, nil, failed
	}
	ratio := float64(used) / float64(quantity.Of(t["value"]).MilliValue())
	current = map[string]any{"value": milliText(used)}
	switch {
	case h.current == 0:
		return ceil(ratio), current, nil
	case h.tolerance().within(ratio):
		return h.current, current, nil
	case len(h.pods) == 0:
		return 0, nil, fmt.Errorf("unable to calculate ready pods: %w", errNoPods)
	}
	ready := 0
	for _, p := range h.pods {
		if p.phase == "Running" && p.condition == "True" {
			ready++
		}
	}
	return ceil(ratio * float64(ready)), current, nil
}

// share returns the average value per pod, rounded up.
func share(used, pods int64) int64 {
	if pods == 0 || used == math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(math.Ceil(float64(used) / float64(pods)))
}

// goSelector formats a metav1.LabelSelector like %+v. The selector may be nil.
func goSelector(labels map[string]any) string {
	if labels == nil {
		return "nil"
	}
	var b strings.Builder
	b.WriteString("&LabelSelector{MatchLabels:map[string]string{")
	match := object.StringMap(object.Object(labels).Map("matchLabels"))
	for _, name := range object.SortedKeys(match) {
		b.WriteString(name + ": " + match[name] + ",")
	}
	b.WriteString("},MatchExpressions:[]LabelSelectorRequirement{")
	for _, e := range object.Object(labels).Objects("matchExpressions") {
		fmt.Fprintf(&b, "LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.String("key"), e.String("operator"), e.Strings("values"))
	}
	b.WriteString("},}")
	return b.String()
}
