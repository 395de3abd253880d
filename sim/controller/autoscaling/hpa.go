// Package autoscaling implements horizontal-pod-autoscaler-controller.
//
//	Scale of the target ─▶ propose: each metric ─▶ the highest number ─▶ decide: recent recommendations, bounds, policies ─▶ Scale
//	        Metrics ───────────┘                                           └─ history
package autoscaling

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	// Name is the name of the controller.
	Name = "horizontal-pod-autoscaler-controller"

	autoscalers = "horizontalpodautoscalers.autoscaling"

	// syncPeriod is the interval at which each HorizontalPodAutoscaler is processed (--horizontal-pod-autoscaler-sync-period).
	syncPeriod = 15 * time.Second
)

// HorizontalPodAutoscaler scales the targets of HorizontalPodAutoscalers by metrics (pkg/controller/podautoscaler). It processes
// each HorizontalPodAutoscaler every 15 seconds, and from 1.37 on also when it is created or its spec changes. If there are none, it
// is idle.
func HorizontalPodAutoscaler(kubelets Kubelets) controller.Controller {
	c := controller.Account(Name, "horizontal-pod-autoscaler", &Controller{kubelets: kubelets},
		controller.Watch{Resource: autoscalers, After: syncPeriod, Keys: func(api *controller.Client, x *commit.Commit) []controller.Key {
			if x.Deleted() || x.Created() && !api.Since(37) {
				return []controller.Key{{Namespace: x.Namespace, Name: x.Name}}
			}
			return nil // no key, because the period determines when it is due
		}},
		controller.Watch{Resource: autoscalers, Keys: func(api *controller.Client, x *commit.Commit) []controller.Key {
			if api.Since(37) && !x.Deleted() && (x.Created() || x.Item().Shared().Generation() != x.Before().Shared().Generation()) {
				return []controller.Key{{Namespace: x.Namespace, Name: x.Name}}
			}
			return nil
		}})
	c.Component, c.Upkeep = "horizontal-pod-autoscaler", true
	c.ReadsWrites, c.ReadsWritesSince = []string{autoscalers}, 37
	return c
}

// Controller is the Reconciler of horizontal-pod-autoscaler-controller.
type Controller struct {
	memory   memory
	kubelets Kubelets // may be nil
}

type memory struct {
	Metrics   Metrics             `json:",omitempty"`
	Histories map[string]*history `json:",omitempty"` // histories by the key of the HorizontalPodAutoscaler
}

// Memory implements controller.Rememberer.
func (c *Controller) Memory() any { return &c.memory }

// Set adds, replaces or removes a metric like Metrics.Set.
func (c *Controller) Set(m Metric) error { return c.memory.Metrics.Set(m) }

// Reconcile implements controller.Reconciler.
func (c *Controller) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	name := key.String()
	obj := api.Get(autoscalers, key.Namespace, key.Name)
	if obj == nil {
		delete(c.memory.Histories, name)
		return 0, nil
	}
	if c.memory.Histories == nil {
		c.memory.Histories = map[string]*history{}
	}
	if c.memory.Histories[name] == nil {
		c.memory.Histories[name] = &history{}
	}
	h := &autoscaler{memory: &c.memory, Object: obj, history: c.memory.Histories[name], status: object.Object(obj.Map("status")).Copy(),
		measurement: measurement{api: api, metrics: c.memory.Metrics, kubelets: c.kubelets, namespace: key.Namespace}}
	if h.status == nil {
		h.status = object.Object{}
	}
	h.reconcile()
	return syncPeriod, nil // also after an error
}

// autoscaler is a HorizontalPodAutoscaler that is being reconciled.
type autoscaler struct {
	*memory
	measurement
	object.Object
	history *history
	status  object.Object // the new status

	target        *resource.Definition
	scale         object.Object
	current, have int64 // the target's desired and actual replicas

	invalid, invalidMessage string // the reason and message of the condition, from the first metric that cannot be measured
}

func (h *autoscaler) warn(reason, message string) {
	_ = h.api.Event(h.Object, "Warning", reason, message) // failed events are not retried
}

// set sets a condition.
func (h *autoscaler) set(kind, value, reason, message string) {
	controller.SetCondition(object.Object{"status": map[string]any(h.status)}, h.api.Now(), kind, value, reason, message)
}

// reconcile reads the target's Scale, measures the metrics, and scales the target (reconcileAutoscaler).
func (h *autoscaler) reconcile() {
	if err := h.find(); err != nil {
		h.warn("FailedGetScale", err.Error())
		h.set("AbleToScale", "False", "FailedGetScale", "the HPA controller was unable to get the target's current scale: "+err.Error())
		h.write()
		return
	}
	h.set("AbleToScale", "True", "SucceededGetScale", "the HPA controller was able to get the target's current scale")
	h.current, h.have = h.scale.Int64("spec", "replicas"), h.scale.Int64("status", "replicas")
	if h.history.Recommendations == nil {
		h.history.Recommendations = []entry{{h.current, h.api.Now()}}
	}
	least, most := int64(1), h.Int64("spec", "maxReplicas")
	if n, ok := h.Int("spec", "minReplicas"); ok {
		least = n
	}
	l := limits{history: h.history, now: h.api.Now(), min: least, max: most, current: h.current,
		up: h.At("spec", "behavior", "scaleUp"), down: h.At("spec", "behavior", "scaleDown")}
	switch {
	case h.current == 0 && !h.wakes(least):
		h.set("ScalingActive", "False", "ScalingDisabled", "scaling is disabled since the replica count of the target is zero")
		if !h.enabled(scaleToZeroGate) {
			h.unset(scaledToZero)
		}
		h.report(0, nil, false)
	case h.current == 0:
		h.measure(l)
	case h.current > most:
		h.rescale(l, most, "Current number of replicas above Spec.MaxReplicas", nil)
	case h.current < least:
		h.rescale(l, least, belowMinimum, nil)
	default:
		h.measure(l)
	}
}

// measure scales the target according to its metrics.
func (h *autoscaler) measure(l limits) {
	want, name, statuses, err := h.proposeAll()
	if err != nil {
		h.report(h.status.Int64("desiredReplicas"), statuses, false)
		h.warn("FailedComputeMetricsReplicas", err.Error())
		return
	}
	d := l.decide(want)
	if d.held {
		h.set("AbleToScale", "True", d.heldFor, d.heldBy)
	} else {
		h.set("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
	}
	limited := map[bool]string{true: "True", false: "False"}[d.limited]
	h.set("ScalingLimited", limited, d.reason, d.message)
	reason := ""
	switch {
	case want > h.current:
		reason = name + " above target"
	case want < h.current:
		reason = "All metrics below target"
	}
	if h.current == 0 && d.replicas < l.min { // the minimum has been raised since the target was scaled to zero
		d.replicas, reason = l.min, cmp.Or(reason, belowMinimum)
	}
	if d.replicas == h.current {
		h.report(h.current, statuses, false)
		return
	}
	h.rescale(l, d.replicas, reason, statuses)
}

// find reads the target's Scale. It returns an error if the target does not exist or has no Scale.
func (h *autoscaler) find() error {
	ref := h.At("spec", "scaleTargetRef")
	group, _, versioned := strings.Cut(ref.String("apiVersion"), "/")
	if !versioned {
		group = ""
	}
	if strings.Count(ref.String("apiVersion"), "/") > 1 {
		return errors.New("unexpected GroupVersion string: " + ref.String("apiVersion"))
	}
	for _, d := range h.api.Resources() {
		if d.Group == group && d.Kind == ref.String("kind") {
			h.target = d
			break
		}
	}
	if h.target == nil {
		return fmt.Errorf("no matches for kind %q in group %q", ref.String("kind"), group)
	}
	scale, s := h.api.Scale(h.target, controller.Key{Namespace: h.namespace, Name: ref.String("name")})
	if s != nil {
		return s
	}
	h.scale = scale
	return nil
}

// proposeAll returns the highest number of replicas that any metric requires, and the name of that metric. It fails if no metric
// can be measured, or if some cannot and the others require fewer replicas than there are (computeReplicasForMetrics).
func (h *autoscaler) proposeAll() (want int64, name string, statuses []any, err error) {
	if err := h.selectPods(); err != nil {
		return 0, "", nil, err
	}
	specs := h.Objects("spec", "metrics")
	failed := 0
	var first error
	for _, spec := range specs {
		p, err := h.propose(spec)
		if err != nil {
			if failed++; first == nil {
				first = err
			}
			p.status = object.Object{"type": ""}
		} else if want == 0 || p.replicas > want {
			want, name = p.replicas, p.name
		}
		statuses = append(statuses, map[string]any(p.status))
	}
	if failed == len(specs) || failed > 0 && want < h.current {
		h.set("ScalingActive", "False", h.invalid, h.invalidMessage)
		return 0, "", statuses, fmt.Errorf("invalid metrics (%d invalid out of %d), first error is: %w", failed, len(specs), first)
	}
	h.set("ScalingActive", "True", "ValidMetricFound", "the HPA was able to successfully calculate a replica count from "+name)
	return want, name, statuses, nil
}

// selectPods finds the pods of the target. It fails if another HorizontalPodAutoscaler selects one of them
// (validateAndParseSelector).
func (h *autoscaler) selectPods() (err error) {
	text := h.scale.String("status", "selector")
	if text == "" {
		h.warn("SelectorRequired", "selector is required")
		h.set("ScalingActive", "False", "InvalidSelector", "the HPA target's scale is missing a selector")
		return errors.New("selector is required")
	}
	if h.labels, err = selector.ParseLabels(text); err != nil {
		return h.refuse("InvalidSelector", fmt.Sprintf("couldn't convert selector into a corresponding internal selector object: %v", err))
	}
	h.history.Selector = text
	h.api.Items(workload.Pods, h.namespace, func(it *resource.Item) bool {
		if h.labels.Match(it.Label) {
			h.pods = append(h.pods, podOf(it))
		}
		return true
	})
	if rivals := h.rivals(); len(rivals) > 1 {
		format := "pods by selector %s are controlled by multiple HPAs: %s"
		if h.api.Since(37) {
			format, rivals = "pods by selector %s are controlled by more than one HPA (e.g. %s)", rivals[:2]
		}
		return h.refuse("AmbiguousSelector", fmt.Sprintf(format, text, rivals))
	}
	return nil
}

func (h *autoscaler) refuse(reason, message string) error {
	h.warn(reason, message)
	h.set("ScalingActive", "False", reason, message)
	return errors.New(message)
}

// rivals returns all HorizontalPodAutoscalers that select one of the pods, including this one.
func (h *autoscaler) rivals() (all []string) {
	for _, key := range object.SortedKeys(h.Histories) {
		namespace, name, _ := strings.Cut(key, "/")
		labels, err := selector.ParseLabels(h.Histories[key].Selector)
		if namespace == h.namespace && err == nil && !labels.Empty() &&
			slices.ContainsFunc(h.pods, func(p *pod) bool { return labels.Match(p.Label) }) {
			all = append(all, namespace+"/"+name)
		}
	}
	return all
}

// tolerance returns the deviation of the usage from its target within which the number of replicas is not changed.
func (h *autoscaler) tolerance() tolerance {
	of := func(direction string) float64 {
		if v, ok := h.Get("spec", "behavior", direction, "tolerance"); ok {
			return float64(quantity.Of(v).MilliValue()) / 1000
		}
		return defaultTolerance
	}
	return tolerance{down: of("scaleDown"), up: of("scaleUp")}
}

// rescale updates the number of replicas, with retries after conflicts.
func (h *autoscaler) rescale(l limits, to int64, reason string, statuses []any) {
	var s *status.Status
	for range 5 { // retry.DefaultRetry
		h.scale.Set(to, "spec", "replicas")
		if s = h.api.SetScale(h.target, h.scale); s == nil || s.Reason != status.ReasonConflict {
			break
		}
		key := controller.Key{Namespace: h.namespace, Name: h.scale.Name()}
		if latest, s := h.api.Scale(h.target, key); s == nil {
			h.scale = latest
		}
	}
	if s != nil {
		h.warn("FailedRescale", fmt.Sprintf("New size: %d; reason: %s; error: %s", to, reason, s.Message))
		h.set("AbleToScale", "False", "FailedUpdateScale", "the HPA controller was unable to update the target scale: "+s.Message)
		h.report(h.status.Int64("desiredReplicas"), statuses, false)
		return
	}
	h.set("AbleToScale", "True", "SucceededRescale", fmt.Sprintf("the HPA controller was able to update the target scale to %d", to))
	_ = h.api.Event(h.Object, "Normal", "SuccessfulRescale", fmt.Sprintf("New size: %d; reason: %s", to, reason))
	l.scaled(to)
	h.noteZero(l, to)
	h.report(to, statuses, true)
}

// report updates the status with the desired number of replicas and the evaluated metrics. rescaled reports that the target was
// scaled just now.
func (h *autoscaler) report(desired int64, statuses []any, rescaled bool) {
	now := object.Object{"desiredReplicas": desired, "currentMetrics": nil}
	if h.enabled("HPAGeneration") {
		now["observedGeneration"] = h.Generation()
	}
	for _, name := range []string{"lastScaleTime", "conditions"} {
		if v, ok := h.status[name]; ok {
			now[name] = v
		}
	}
	workload.SetCounts(now, map[string]int64{"currentReplicas": h.current})
	if len(statuses) > 0 {
		now["currentMetrics"] = statuses
	}
	if rescaled {
		now["lastScaleTime"] = object.Time(h.api.Now())
	}
	h.status = now
	h.write()
}

// write writes the status if it has changed.
func (h *autoscaler) write() {
	if object.SemanticEqual(map[string]any(h.status), h.Map("status")) {
		return
	}
	h.Set(map[string]any(h.status), "status")
	if _, s := h.api.Update(autoscalers, "status", h.Object); s != nil {
		h.warn("FailedUpdateStatus", s.Message)
	}
}
