package kubelet

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// recall is what a kubelet knows of a pod that it sees for the first time: nothing of a new one; of one that has run before
// the kubelet was started, what its status says.
func (k *Kubelet) recall(obj object.Object) *pod {
	p := &pod{UID: obj.UID(), Containers: map[string]*run{}}
	if rest, ok := strings.CutPrefix(obj.String("status", "podIP"), k.podRange()); ok {
		for _, c := range rest {
			p.Address = p.Address*10 + int(c-'0')
		}
		p.Mounted = true
	}
	p.Overdue = obj.String("status", "reason") == "DeadlineExceeded"
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		for _, s := range obj.Objects("status", list) {
			p.Containers[s.String("name")] = recallRun(s)
			p.Mounted = p.Mounted || s.String("containerID") != ""
		}
	}
	return p
}

func recallRun(s object.Object) *run {
	r := &run{Restarts: int(s.Int64("restartCount")), ID: idOf(s), Ready: s.True("ready"), Up: s.True("started"), Image: s.String("image")}
	if t := s.At("lastState", "terminated"); t != nil {
		r.Last = &past{idOf(t), int(t.Int64("exitCode")), instant(t, "startedAt"), instant(t, "finishedAt")}
	}
	switch {
	case s.Has("state", "running"):
		r.State, r.Started, r.Code, r.Steps = running, instant(s, "state", "running", "startedAt"), -1, stepsMin
		r.Due = r.Started // to be foreseen
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
	return strings.TrimPrefix(s.String("containerID"), "containerd://")
}

func instant(o object.Object, path ...string) time.Time {
	t, _ := time.Parse(time.RFC3339, o.String(path...))
	return t
}
