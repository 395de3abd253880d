package kubelet

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// recordOf creates the record of a pod that the kubelet processes for the first time. The record of a new pod is empty. If the pod
// ran before the kubelet started, its record is derived from its status.
func (k *Kubelet) recordOf(obj object.Object) *pod {
	p := &pod{UID: strings.Clone(obj.UID())}
	if n := k.numberOf(obj.String("status", "podIP")); n > 0 {
		p.Address, p.Mounted = n, true
	} else if k.imported {
		p.IP = strings.Clone(obj.String("status", "podIP"))
	}
	p.Overdue = obj.String("status", "reason") == "DeadlineExceeded"
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for _, s := range obj.Objects("status", list) {
			p.Containers.set(object.Keep(s.String("name")), recallRun(s))
			p.Mounted = p.Mounted || s.String("containerID") != ""
		}
	}
	return p
}

// readmit restores the resource allocation of a pod from its status. A real kubelet reads it from a file.
func (w *worker) readmit() {
	phase := w.pod.String("status", "phase")
	w.rec.Over = phase == "Failed" || phase == "Succeeded"
	if w.rec.Over || !w.pod.Has("status", "startTime") {
		return
	}
	w.rec.Admitted = true
	w.k.forget()
	w.allocate()
	for _, list := range []string{"initContainerStatuses", "containerStatuses"} {
		for _, s := range w.pod.Objects("status", list) {
			w.reallocate(s)
		}
	}
	w.rec.Level = w.rec.Allocated.get("")
	w.rec.Needs, w.rec.Ports = w.allocated(), workload.HostPortsOf(w.pod.At("spec"))
	w.rec.Pending, w.rec.InProgress = recallResizing(w.pod, resizePending), recallResizing(w.pod, resizeInProgress)
}

// reallocate restores the allocated and actual resources of a container from its status.
func (w *worker) reallocate(s object.Object) {
	name := s.String("name")
	has := resourcesOf(s)
	if w.rec.Containers.get(name).Resources = has; w.rec.Allocated.get(name) == nil || !s.Has("allocatedResources") {
		return
	}
	allocated := has.Copy()
	allocated.Set(object.Copy(s.Map("allocatedResources")), "requests")
	w.rec.Allocated.set(name, allocated)
}

func recallResizing(pod object.Object, kind string) *resizing {
	c := pod.Condition(kind)
	if c == nil {
		return nil
	}
	return &resizing{c.String("reason"), c.String("message"), c.Int64("observedGeneration"), instant(c, "lastTransitionTime"), instant(c, "lastProbeTime")}
}

func recallRun(s object.Object) *run {
	r := &run{Restarts: int(s.Int64("restartCount")), ID: idOf(s), Ready: s.True("ready"), Up: s.True("started"), Image: s.String("image")}
	if t := s.At("lastState", "terminated"); t != nil {
		r.Last = &past{idOf(t), int(t.Int64("exitCode")), instant(t, "startedAt"), instant(t, "finishedAt")}
	}
	switch {
	case s.Has("state", "running"):
		r.State, r.Started, r.Code, r.Steps = running, instant(s, "state", "running", "startedAt"), -1, stepsMin
		r.Due = r.Started // elapse will call scheduleExit at once
	case s.Has("state", "terminated"):
		t := s.At("state", "terminated")
		r.State, r.Code, r.Started, r.Finished = exited, int(t.Int64("exitCode")), instant(t, "startedAt"), instant(t, "finishedAt")
	case s.String("state", "waiting", "reason") == crashBackOff && r.Last != nil:
		r.State, r.Why, r.Text = exited, crashBackOff, s.String("state", "waiting", "message")
		r.ID, r.Code, r.Started, r.Finished, r.Last = r.Last.ID, r.Last.Code, r.Last.Started, r.Last.Finished, nil
		r.Pause = pause{pauseMin, r.Finished}
	}
	return r
}

func idOf(s object.Object) string {
	_, id, _ := strings.Cut(s.String("containerID"), "://") // the part before it is the runtime
	return id
}

func instant(o object.Object, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339, o.String(path...))
	return t
}
