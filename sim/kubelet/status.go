package kubelet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/kubelet/images"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// ours lists the pod conditions that a kubelet always writes, in this order, after those about resizing.
var ours = []string{"PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"}

// notOurs returns the conditions of a pod that the kubelet does not own.
func notOurs(before object.Object) (all []any) {
	for _, c := range before.Objects("conditions") {
		if kind := c.String("type"); !slices.Contains(ours, kind) && kind != resizePending && kind != resizeInProgress {
			all = append(all, map[string]any(c))
		}
	}
	return all
}

// report writes the status of the pod if it has changed. It returns an error if the write fails.
func (w *worker) report() *status.Status {
	before := w.pod.At("status")
	now := w.status(before)
	w.release(now.String("phase"))
	if w.isAsImported(now) || object.Equal(map[string]any(now), map[string]any(before)) {
		return nil
	}
	s := w.api.Patch(pods, "status", w.key(), func(live object.Object) {
		switch {
		case live.ResourceVersion() == w.pod.ResourceVersion():
			live["status"] = map[string]any(now)
		case live.UID() == w.pod.UID():
			live["status"] = map[string]any(w.status(live.At("status")))
		}
	})
	if s != nil && s.Reason == status.ReasonNotFound {
		return nil
	}
	return s
}

// status returns the status that the kubelet reports for the pod (kubelet.generateAPIPodStatus). before is the previous status,
// from which it copies the fields that other components own.
func (w *worker) status(before object.Object) object.Object {
	if r := w.rec.Refused; r != nil && w.now.Before(r.At) {
		return before
	} else if r != nil {
		return w.refusedStatus(before)
	}
	now := before.Copy()
	if now == nil {
		now = object.Object{}
	}
	generation := w.pod.Generation()
	now["observedGeneration"] = generation
	hosts := w.k.hostIPs()
	now["hostIP"], now["hostIPs"] = hosts[0], ipList(hosts)
	if ips := w.k.podIPs(w.rec, w.pod); len(ips) > 0 && (w.sandboxed() || w.pod.True("spec", "hostNetwork")) {
		now["podIP"], now["podIPs"] = ips[0], ipList(ips)
	}
	if !now.Has("startTime") {
		now["startTime"] = object.Time(w.now)
	}
	over := w.pod.DeletionTimestamp() != "" && !w.active()
	for list, name := range map[string]string{"initContainers": "initContainerStatuses", "containers": "containerStatuses", // order does not matter: the result is a map
		"ephemeralContainers": "ephemeralContainerStatuses"} {
		var all []any
		for _, c := range w.containers {
			if c.list == list {
				all = append(all, map[string]any(w.containerStatus(c, over)))
			}
		}
		if delete(now, name); all != nil {
			now[name] = all
		}
	}
	was := before.String("phase")
	phase := w.phase(over)
	finished := phase == "Failed" || phase == "Succeeded"
	switch {
	case was == "Failed" || was == "Succeeded":
		phase = was
	case finished && w.active(): // status.manager.mergePodStatus: the phase does not change before all containers have ended
		phase = cmp.Or(was, "Running")
	}
	now["phase"] = phase
	if w.rec.Overdue && !w.active() && was != "Succeeded" {
		now["phase"], now["reason"], now["message"] = "Failed", "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	}
	now["conditions"] = w.conditions(before, now, generation)
	return now
}

// sandboxed reports whether the pod's sandbox is visible in the status. After it creates the sandbox, a kubelet does not write
// the status until containers have begun.
func (w *worker) sandboxed() bool {
	return slices.ContainsFunc(w.containers, func(c *container) bool { return c.run.ID != "" || c.run.Why != "" })
}

// containerStatus returns the status of a container. over is set if the pod has ended.
func (w *worker) containerStatus(c *container, over bool) object.Object {
	r := c.run
	s := object.Object{"name": c.name, "image": c.spec.String("image"), "imageID": "", "ready": r.Ready, "started": r.Up,
		"restartCount": int64(r.Restarts), "state": w.state(c, over)}
	switch {
	case c.init:
		s["ready"] = w.ended(c)
	case c.list == "ephemeralContainers":
		s["ready"] = false
	}
	if r.ID != "" {
		s["image"], s["imageID"] = images.Reference(r.Image), images.Untagged(images.Reference(r.Image))+"@sha256:"+digest(images.Reference(r.Image))
		s["containerID"] = "containerd://" + r.ID
		s["resources"] = w.actual(c)
		if requests, ok := w.rec.Allocated.get(c.name).Get("requests"); ok {
			s["allocatedResources"] = object.Copy(requests)
		}
		s["user"] = map[string]any{"linux": w.user(c)}
	}
	if last := r.Last; last != nil {
		s["lastState"] = map[string]any{"terminated": terminated(last.ID, last.Code, last.Started, last.Finished)}
	}
	if r.ID != "" && (r.State == "" || r.State == exited && r.Why != "") { // the container waits for its restart
		s["lastState"] = map[string]any{"terminated": terminated(r.ID, r.Code, r.Started, r.Finished)}
	}
	if mounts := c.spec.Objects("volumeMounts"); len(mounts) > 0 {
		s["volumeMounts"] = mounted(mounts)
	}
	w.setDevices(c, s)
	return s
}

// actual returns the resources that a container has, or would have if it were running.
func (w *worker) actual(c *container) map[string]any {
	has := w.rec.Allocated.get(c.name)
	if c.run.State == running {
		has = c.run.Resources
	}
	all := map[string]any{}
	for _, side := range []string{"limits", "requests"} {
		if v, ok := has.Get(side); ok {
			all[side] = object.Copy(v)
		}
	}
	return all
}

func mounted(mounts []object.Object) (all []any) {
	for _, m := range mounts {
		x := map[string]any{"name": m.String("name"), "mountPath": m.String("mountPath")}
		if m.True("readOnly") {
			x["readOnly"], x["recursiveReadOnly"] = true, "Disabled"
		}
		all = append(all, x)
	}
	return all
}

// userOf returns the user id and the group id of a container's process.
func userOf(pod, container object.Object) (uid, gid int64) {
	number := func(name string) int64 {
		if n, ok := container.Int("securityContext", name); ok {
			return n
		}
		return pod.Int64("spec", "securityContext", name)
	}
	return number("runAsUser"), number("runAsGroup")
}

// user returns the user and groups of a container's process.
func (w *worker) user(c *container) map[string]any {
	uid, gid := userOf(w.pod, c.spec)
	groups := []any{gid}
	if fs, ok := w.pod.Int("spec", "securityContext", "fsGroup"); ok && fs != gid {
		groups = append(groups, fs)
	}
	return map[string]any{"uid": uid, "gid": gid, "supplementalGroups": groups}
}

// state returns the state field of a container status. over is set if the pod has ended.
func (w *worker) state(c *container, over bool) map[string]any {
	r := c.run
	switch {
	case r.State == running || r.Again: // a restart for a resize is not visible as a termination
		return map[string]any{"running": map[string]any{"startedAt": object.Time(r.Started)}}
	case r.State == exited && r.Why == "" || r.State == creating && r.ID != "":
		return map[string]any{"terminated": terminated(r.ID, r.Code, r.Started, r.Finished)}
	case over && (c.list == "containers" && w.hasInitialized() || c.list == "initContainers" && r.ID != ""): // status.manager.TerminatePod
		return map[string]any{"terminated": map[string]any{"exitCode": int64(137), "reason": "ContainerStatusUnknown", "startedAt": nil,
			"finishedAt": nil, "message": "The container could not be located when the pod was terminated"}}
	}
	waiting := map[string]any{"reason": r.Why}
	if r.Why == "" {
		waiting["reason"] = "ContainerCreating"
		if len(w.pod.List("spec", "initContainers")) > 0 {
			waiting["reason"] = "PodInitializing"
		}
	}
	if r.Text != "" {
		waiting["message"] = r.Text
	}
	return map[string]any{"waiting": waiting}
}

// hasInitialized reports whether all init containers have completed successfully.
func (w *worker) hasInitialized() bool {
	return !slices.ContainsFunc(w.containers, func(c *container) bool { return c.init && !w.ended(c) })
}

func terminated(id string, code int, started, finished time.Time) map[string]any {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	return map[string]any{"exitCode": int64(code), "reason": reason, "startedAt": object.Time(started), "finishedAt": object.Time(finished),
		"containerID": "containerd://" + id}
}

// phase returns the phase of the pod (kubelet.getPhase). over is set if the pod has ended.
func (w *worker) phase(over bool) string {
	var pending, waiting, going, stopped, final, succeeded int
	for _, c := range w.containers {
		r := c.run
		ran := r.ID != ""
		switch {
		case c.list == "ephemeralContainers":
		case c.init && (r.State == running || !ran):
			pending++
		case c.init:
		case r.State == running:
			going++
			if c.sidecar && !r.Up && !w.begun() {
				pending++
			}
		case c.sidecar && !ran:
			waiting++
		case c.sidecar:
		case !ran:
			waiting++
		default:
			stopped++
			if !w.restarts(c) {
				final++
			}
			if r.Code == 0 {
				succeeded++
			}
		}
	}
	switch {
	case w.failed():
		return "Failed"
	case over && stopped > 0 && stopped == succeeded && waiting+pending == 0:
		return "Succeeded"
	case over:
		return "Failed"
	case pending+waiting > 0:
		return "Pending"
	case going > 0 || stopped != final:
		return "Running"
	case stopped > 0 && stopped == succeeded:
		return "Succeeded"
	case stopped > 0:
		return "Failed"
	}
	return "Pending"
}

// conditions returns the conditions of the pod: those of other components, followed by the kubelet's own (package status of the
// real kubelet).
func (w *worker) conditions(before, now object.Object, generation int64) (all []any) {
	all = notOurs(before)
	if phase := now.String("phase"); phase != "Failed" && phase != "Succeeded" {
		if c := w.rec.Pending; c != nil {
			all = append(all, c.condition(resizePending))
		}
		if c := w.rec.InProgress; c != nil {
			all = append(all, c.condition(resizeInProgress))
		}
	}
	sandbox := "False"
	if w.sandboxed() {
		sandbox = "True"
	}
	if w.pod.DeletionTimestamp() != "" && !w.active() || now.String("phase") == "Succeeded" || now.String("phase") == "Failed" && !w.active() {
		sandbox = "False"
	}
	phase := now.String("phase")
	initialized := w.initializedCondition(phase)
	containers := w.containersReady(phase)
	ready := containers
	if containers.value == "True" {
		ready = w.gates(all)
	}
	old := object.Object{"status": map[string]any(before)}
	for _, x := range []verdict{{ours[0], sandbox, "", ""}, initialized, ready.of("Ready"), containers, {ours[4], "True", "", ""}} {
		c := object.Object{"type": x.kind, "status": x.value, "observedGeneration": generation,
			"lastTransitionTime": object.Time(w.now)}
		if was := old.Condition(x.kind); was.String("status") == x.value {
			c["lastTransitionTime"] = was["lastTransitionTime"]
		}
		if x.reason != "" {
			c["reason"] = x.reason
		}
		if x.message != "" {
			c["message"] = x.message
		}
		all = append(all, map[string]any(c))
	}
	return all
}

// verdict holds the fields of a condition.
type verdict struct{ kind, value, reason, message string }

func (v verdict) of(kind string) verdict { v.kind = kind; return v }

func (w *worker) initializedCondition(phase string) verdict {
	v := verdict{"Initialized", "True", "", ""}
	if phase == "Succeeded" {
		v.reason = "PodCompleted"
		return v
	}
	var incomplete []string
	for _, c := range w.containers {
		if c.init && !w.ended(c) || c.sidecar && !c.run.Up {
			incomplete = append(incomplete, c.name)
		}
	}
	if len(incomplete) > 0 && !w.begun() {
		return verdict{v.kind, "False", "ContainersNotInitialized", "containers with incomplete status: [" + strings.Join(incomplete, " ") + "]"}
	}
	return v
}

func (w *worker) containersReady(phase string) verdict {
	const kind = "ContainersReady"
	switch phase {
	case "Succeeded":
		return verdict{kind, "False", "PodCompleted", ""}
	case "Failed":
		return verdict{kind, "False", "PodFailed", ""}
	}
	var unready []string
	for _, c := range w.containers {
		if (c.sidecar || c.list == "containers") && !c.run.Ready {
			unready = append(unready, c.name)
		}
	}
	if len(unready) > 0 {
		return verdict{kind, "False", "ContainersNotReady", "containers with unready status: [" + strings.Join(unready, " ") + "]"}
	}
	return verdict{kind, "True", "", ""}
}

// gates returns the Ready condition of a pod whose containers are ready. The result depends on the pod's readiness gates.
func (w *worker) gates(conditions []any) verdict {
	var messages []string
	for _, gate := range w.pod.Objects("spec", "readinessGates") {
		kind := gate.String("conditionType")
		c := object.Object{"status": map[string]any{"conditions": conditions}}.Condition(kind)
		switch {
		case c == nil:
			messages = append(messages, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", kind))
		case c.String("status") != "True":
			messages = append(messages, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v", kind, c.String("status")))
		}
	}
	if len(messages) > 0 {
		return verdict{"Ready", "False", "ReadinessGatesNotReady", strings.Join(messages, ", ")}
	}
	return verdict{"Ready", "True", "", ""}
}
