package kubelet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// A pod is resized in place in three steps (KEP-1287, package allocation of the real kubelet):
//
//	desired: spec ─ the node has room ─▶ allocated: the kubelet's memory ─ a second, or a restart ─▶ actual: the container's
//	              └ no room: PodResizePending until there is some          PodResizeInProgress until then
const (
	resizePending    = "PodResizePending"
	resizeInProgress = "PodResizeInProgress"
)

// relist is the delay until a kubelet observes its own change of a container.
const relist = time.Second

// resizing is a pod condition about a resize.
type resizing struct {
	Reason     string    `json:",omitempty"`
	Message    string    `json:",omitempty"`
	Generation int64     // generation of the pod when it was resized
	Since      time.Time // time of the last change of the reason
	At         time.Time // time of the last check
}

// set returns a condition with a new reason and message. If the reason is unchanged, Since is kept.
func (c *resizing) set(reason, message string, generation int64, now time.Time) *resizing {
	next := &resizing{reason, message, generation, now, now}
	if c != nil && c.Reason == reason {
		next.Since = c.Since
	}
	return next
}

func (c *resizing) condition(kind string) map[string]any {
	m := map[string]any{"type": kind, "status": "True", "observedGeneration": c.Generation, "lastProbeTime": object.Time(c.At),
		"lastTransitionTime": object.Time(c.Since)}
	if c.Reason != "" {
		m["reason"] = c.Reason
	}
	if c.Message != "" {
		m["message"] = c.Message
	}
	return m
}

// resourcesOf returns the resources in a spec, or nil if there are none.
func resourcesOf(spec object.Object) object.Object {
	if m := spec.Map("resources"); len(m) > 0 {
		return m
	}
	return nil
}

// desired calls yield with the resources that each container requests, by name, and with those of the pod as a whole, under the
// empty name. It omits ephemeral containers, which cannot be resized.
func (w *worker) desired(yield func(name string, resources object.Object)) {
	yield("", resourcesOf(w.pod.At("spec")))
	for _, c := range w.containers {
		if c.list != "ephemeralContainers" {
			yield(c.name, resourcesOf(c.spec))
		}
	}
}

// allocate sets the allocated resources of the pod to the resources that it requests.
func (w *worker) allocate() {
	w.rec.Allocated = nil
	w.desired(func(name string, resources object.Object) {
		if resources != nil {
			w.rec.Allocated.set(object.Keep(name), w.k.nodes.kept(resources))
		}
	})
}

// kept returns a copy of resources that may be stored, but not changed. Pods that need the same as the last one share its copy.
func (n *Nodes) kept(resources object.Object) object.Object {
	if !same(n.resources, resources) {
		n.resources = resources.Kept()
	}
	return n.resources
}

// differs reports whether the pod's requests differ from its allocated resources, so that a resize is pending.
func (w *worker) differs() (yes bool) {
	w.desired(func(name string, resources object.Object) { yes = yes || !same(resources, w.rec.Allocated.get(name)) })
	return yes
}

func same(a, b object.Object) bool { return object.Equal(map[string]any(a), map[string]any(b)) }

// allocated returns the allocated resources of the pod, which may differ from its requests.
func (w *worker) allocated() workload.Amounts {
	spec := maps.Clone(w.pod.At("spec"))
	if delete(spec, "resources"); w.rec.Allocated.get("") != nil {
		spec["resources"] = map[string]any(w.rec.Allocated.get(""))
	}
	pod := object.Object{"spec": map[string]any(spec)}
	own := func(c object.Object) resource.Amounts {
		return resource.AmountsAt(w.rec.Allocated.get(c.String("name")), "requests")
	}
	return workload.AmountsOf(podspec.WithOverhead(pod, podspec.AmountsOf(pod, "requests", own), "requests"))
}

// resize tries to allocate the resources that the pod requests, if they differ from the allocated ones
// (Kubelet.HandlePodUpdates).
func (w *worker) resize() {
	if w.differs() {
		w.rec.Resizing = true
		w.k.retryResizes(w.api, w)
	} else {
		w.rec.Resizing, w.rec.Pending = false, nil
	}
}

// retryResizes retries the pending resizes in order of priority (allocation.manager.retryPendingResizes). If one is not nil, it
// is used as the worker for its pod.
func (k *Kubelet) retryResizes(api *controller.Client, one *worker) {
	var names []string
	for name, rec := range k.memory.Pods { // sorted below
		if rec.Resizing {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var all []*worker
	for _, name := range names {
		w := one
		if one == nil || name != one.key().String() {
			namespace, name, _ := strings.Cut(name, "/")
			it := api.Item(pods, namespace, name)
			if it == nil {
				continue
			}
			w = k.worker(api, it.Object())
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, compareResizes)
	for _, w := range all {
		if w.tryResize() && w != one {
			api.Enqueue(w.key())
		}
	}
}

// compareResizes compares the pending resizes of two pods by priority (allocation.manager.sortPendingResizes).
func compareResizes(a, b *worker) int {
	grows := func(w *worker) int {
		now, then := w.requested(), w.rec.Needs
		if now.CPU > then.CPU || now.Memory > then.Memory {
			return 1
		}
		return 0
	}
	guaranteed := func(w *worker) int {
		if w.pod.String("status", "qosClass") == "Guaranteed" {
			return 0
		}
		return 1
	}
	since := func(w *worker) time.Time {
		if w.rec.Pending == nil {
			return w.now
		}
		return w.rec.Pending.Since
	}
	return cmp.Or(grows(a)-grows(b), cmp.Compare(b.pod.Int64("spec", "priority"), a.pod.Int64("spec", "priority")),
		guaranteed(a)-guaranteed(b), since(a).Compare(since(b)))
}

// tryResize allocates the resources that the pod requests if the node has them, and reports whether anything changed
// (allocation.manager.handlePodResourcesResize).
func (w *worker) tryResize() bool {
	generation := w.pod.Generation()
	if why := w.refuses(); why != nil {
		was := w.rec.Pending
		w.rec.Pending = was.set("Deferred", why.Message, generation, w.now)
		if was != nil && was.Generation == generation {
			return was.Message != why.Message
		}
		w.event(nil, "Warning", "ResizeDeferred", w.summary("Pod resize "+why.Reason, generation, why.Message))
		return true
	}
	w.allocate()
	w.rec.Needs.Raise(w.requested())
	w.k.forget()
	w.rec.Resizing, w.rec.Pending = false, nil
	w.rec.InProgress = (*resizing)(nil).set("", "", generation, w.now)
	w.rec.Actuates = w.now.Add(relist)
	w.event(nil, "Normal", "ResizeStarted", w.summary("Pod resize started", generation, ""))
	return true
}

// actuate applies the allocated resources to running containers, with a restart if their resizePolicy requires it
// (kubeGenericRuntimeManager.computePodResizeAction, doPodResizeAction). It reports whether anything changed.
func (w *worker) actuate() (changed bool) {
	p := w.rec.InProgress
	if p == nil {
		return false
	}
	failed, under := w.tooSmall(), !same(w.rec.Level, w.rec.Allocated.get(""))
	for _, c := range w.containers {
		if c.list == "ephemeralContainers" || c.run.State != running && !c.run.Again || same(c.run.Resources, w.rec.Allocated.get(c.name)) {
			continue
		}
		under = true
		if w.restartsToResize(c) && c.run.State == running && c.run.Stopping.IsZero() {
			w.stop(c, "Container "+c.name+" resize requires restart", w.now.Add(w.grace()))
			c.run.Again, changed = true, true
		}
	}
	switch {
	case under && failed != "":
		if p.Message != failed {
			w.rec.InProgress = p.set("Error", failed, p.Generation, w.now)
			w.event(nil, "Warning", "ResizeError", w.summary("Pod resize error", p.Generation, failed))
		}
	case under && w.now.Before(w.rec.Actuates):
		w.at(w.rec.Actuates)
	case under:
		changed = w.takeEffect() || changed
	default:
		w.rec.InProgress, w.rec.Needs = nil, w.allocated()
		w.k.forget()
		w.event(nil, "Normal", "ResizeCompleted", w.summary("Pod resize completed", p.Generation, ""))
		w.k.retryResizes(w.api, w)
	}
	return changed
}

// takeEffect applies the allocated resources to the pod and to the running containers that do not have to be restarted. It reports
// whether anything changed.
func (w *worker) takeEffect() (changed bool) {
	changed = !same(w.rec.Level, w.rec.Allocated.get(""))
	w.rec.Level = w.rec.Allocated.get("")
	for _, c := range w.containers {
		allocated := w.rec.Allocated.get(c.name)
		if c.list != "ephemeralContainers" && c.run.State == running && !w.restartsToResize(c) && !same(c.run.Resources, allocated) {
			c.run.Resources, changed = allocated, true
		}
	}
	return changed
}

// restartsToResize reports whether a container has to be restarted to apply its allocated resources.
func (w *worker) restartsToResize(c *container) bool {
	for _, policy := range c.spec.Objects("resizePolicy") {
		if policy.String("restartPolicy") != "RestartContainer" {
			continue
		}
		for _, side := range []string{"requests", "limits"} {
			name := policy.String("resourceName")
			if c.run.Resources.String(side, name) != w.rec.Allocated.get(c.name).String(side, name) {
				return true
			}
		}
	}
	return false
}

// tooSmall returns an error message if the memory usage of the pod or a container exceeds its new limit, and "" otherwise
// (kubeGenericRuntimeManager.validateMemoryResizeAction).
func (w *worker) tooSmall() string {
	var wrong []string
	var used, now, then quantity.Quantity // the pod's usage, and its old and new limits, which exist if all containers have one
	limited := true
	for _, c := range w.containers {
		if c.list == "ephemeralContainers" || c.init {
			continue
		}
		limit, was := w.rec.Allocated.get(c.name).String("limits", "memory"), c.run.Resources.String("limits", "memory")
		limited = limited && limit != ""
		now, then = now.Add(quantity.Of(was)), then.Add(quantity.Of(limit))
		if c.run.State == running {
			used = used.Add(c.memory())
		}
	}
	if limited && then.Cmp(now) < 0 && used.Cmp(then) >= 0 {
		wrong = append(wrong, fmt.Sprintf("attempting to set pod memory limit (%d) below current usage (%d)", then.Value(), used.Value()))
	}
	for _, c := range w.containers {
		limit, was := w.rec.Allocated.get(c.name).String("limits", "memory"), c.run.Resources.String("limits", "memory")
		if c.run.State != running || limit == "" || w.restartsToResize(c) {
			continue
		}
		if to := quantity.Of(limit); (was == "" || to.Cmp(quantity.Of(was)) < 0) && c.memory().Cmp(to) >= 0 {
			wrong = append(wrong, fmt.Sprintf("attempting to set container %q memory limit (%d) below current usage (%d)", c.name, to.Value(), used.Value()))
		}
	}
	switch len(wrong) {
	case 0:
		return ""
	case 1:
		return "cannot decrease memory limits: " + wrong[0]
	}
	return "cannot decrease memory limits: [" + strings.Join(wrong, ", ") + "]"
}

// memory returns the memory usage of a container.
func (c *container) memory() quantity.Quantity {
	if c.program == nil {
		return quantity.MustParse(containerMemory)
	}
	return quantity.Of(cmp.Or(c.program.Memory, containerMemory))
}

// summary returns the message of an event about a resize (package events of the real kubelet).
func (w *worker) summary(message string, generation int64, failed string) string {
	type requirements struct {
		Limits   any `json:"limits,omitempty"`
		Requests any `json:"requests,omitempty"`
		Claims   any `json:"claims,omitempty"`
	}
	type one struct {
		Name      string       `json:"name"`
		Resources requirements `json:"resources"`
	}
	all := struct {
		InitContainers []one  `json:"initContainers,omitempty"`
		Containers     []one  `json:"containers,omitempty"`
		Generation     int64  `json:"generation"`
		Error          string `json:"error,omitempty"`
	}{Generation: generation, Error: failed}
	for _, c := range w.containers {
		r := resourcesOf(c.spec)
		x := one{c.name, requirements{r["limits"], r["requests"], r["claims"]}}
		switch c.list {
		case "initContainers":
			all.InitContainers = append(all.InitContainers, x)
		case "containers":
			all.Containers = append(all.Containers, x)
		}
	}
	text, err := json.Marshal(all)
	if err != nil {
		return message
	}
	return message + ": " + string(text)
}
