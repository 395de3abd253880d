package apps

import (
	"math"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// revise finds or creates the revision of the current template, and makes it the newest one.
func (s *daemonSet) revise() *status.Status {
	h, failed := historyOf(&s.Workload, s.Candidates(controllerRevisions))
	if failed != nil {
		return failed
	}
	data := snapshot(s.Object.Map("spec", "template"))
	var alike history
	for _, r := range h {
		if r.Labels()[revisionHash] == "" {
			r.Set(r.Name(), "metadata", "labels", revisionHash)
			if r, failed = s.API.Update(controllerRevisions, "", r); failed != nil {
				return failed
			}
		}
		if keeps(r, data) {
			alike = append(alike, r)
		} else {
			s.old = append(s.old, r)
		}
	}
	current, failed := s.only(alike)
	if current == nil && failed == nil {
		current, failed = s.newRevision(data)
	}
	if failed != nil {
		return failed
	}
	s.hash = current.Labels()[revisionHash]
	if current.Int64("revision") < s.old.next() {
		_, failed = renumber(s.API, current, s.old.next())
	}
	return failed
}

// only returns the newest of the revisions in alike, which have the same template. It changes the revision label of all pods to
// that revision, and deletes the other revisions.
func (s *daemonSet) only(alike history) (object.Object, *status.Status) {
	if len(alike) <= 1 {
		return append(alike, nil)[0], nil
	}
	newest := alike[len(alike)-1]
	hash := newest.Labels()[revisionHash]
	mine, failed := s.Claim(workload.Pods, s.Candidates(workload.Pods))
	if failed != nil {
		return nil, failed
	}
	for _, p := range workload.PodsOf(mine) {
		if revisionLabel(p) == hash {
			continue
		}
		if failed := s.API.Patch(workload.Pods, "", p.Key(), func(live object.Object) { live.Set(hash, "metadata", "labels", revisionHash) }); failed != nil {
			return nil, failed
		}
	}
	for _, r := range alike[:len(alike)-1] {
		if failed := s.API.Delete(controllerRevisions, controller.Key{Namespace: r.Namespace(), Name: r.Name()}, controller.Preconditions{}); failed != nil {
			return nil, failed
		}
	}
	return newest, nil
}

// newRevision creates a revision. If its name is already taken by a different revision, the next attempt uses another name.
func (s *daemonSet) newRevision(data map[string]any) (object.Object, *status.Status) {
	hash := hashOf(s.Object.Map("spec", "template"), s.Object)
	name := s.Object.Name() + "-" + hash
	made, failed := s.API.Create(controllerRevisions, newRevision(&s.Workload, name, revisionHash, hash, s.old.next(), data))
	if failed == nil {
		return made.Object(), nil
	} else if failed.Reason != status.ReasonAlreadyExists {
		return nil, failed
	}
	if there := s.API.Live(controllerRevisions, s.Object.Namespace(), name); there != nil && keeps(there, data) {
		return there, nil
	}
	live := s.API.Live(daemonSets, s.Object.Namespace(), s.Object.Name())
	if live == nil || live.Int64("status", "collisionCount") != s.Object.Int64("status", "collisionCount") {
		return nil, failed
	}
	live.Set(live.Int64("status", "collisionCount")+1, "status", "collisionCount")
	if _, x := s.API.Update(daemonSets, "status", live); x != nil {
		return nil, x
	}
	return nil, failed
}

// truncate deletes the oldest revisions that are not in use and exceed revisionHistoryLimit.
func (s *daemonSet) truncate() *status.Status {
	live := map[string]bool{}
	for _, p := range s.pods {
		if p.Target != "" {
			live[revisionLabel(p)] = true
		}
	}
	surplus := len(s.old) - int(s.Object.Int64("spec", "revisionHistoryLimit"))
	for _, r := range s.old {
		if surplus <= 0 {
			break
		}
		if live[r.Labels()[revisionHash]] {
			continue
		}
		if failed := s.API.Delete(controllerRevisions, controller.Key{Namespace: r.Namespace(), Name: r.Name()}, controller.Preconditions{}); failed != nil {
			return failed
		}
		surplus--
	}
	return nil
}

// rolling returns a parameter of the strategy RollingUpdate, for the given number of nodes. For other strategies it returns 0.
func (s *daemonSet) rolling(name string, nodes int) int {
	if s.Object.String("spec", "updateStrategy", "type") != "RollingUpdate" {
		return 0
	}
	return int(workload.Share(object.Object(s.Object.Map("spec", "updateStrategy", "rollingUpdate"))[name], int64(nodes), math.Ceil))
}

// surge returns the number of nodes on which a new pod may start before the old pod is deleted.
func (s *daemonSet) surge(nodes int) int { return s.rolling("maxSurge", nodes) }

// roll returns the old pods to delete now, and the nodes that need a new pod in addition to the old one.
func (s *daemonSet) roll() (wrong []*workload.Pod, missing []string, failed *status.Status) {
	var used []*place // nodes that have a pod or need one
	desired := 0
	for _, at := range s.places {
		if at.run {
			desired++
		}
		if at.run || len(at.pods) > 0 {
			used = append(used, at)
		}
	}
	unavailable := s.rolling("maxUnavailable", desired)
	if surge := s.surge(desired); surge > 0 {
		return s.rollBeside(used, desired, surge)
	}
	return s.rollInstead(used, max(unavailable, min(desired, 1))), nil, nil
}

// onNode returns the updated and the old pod on a node, either of which may be nil. ok is false if the node has several updated or
// several old pods.
func (s *daemonSet) onNode(at *place) (newer, older *workload.Pod, ok bool) {
	for _, p := range at.pods {
		if p.Deleting {
			continue
		}
		kept := &older
		if s.isUpdated(p) {
			kept = &newer
		}
		if *kept != nil {
			return nil, nil, false
		}
		*kept = p
	}
	return newer, older, true
}

// rollInstead returns the old pods to delete: all unavailable ones, and as many available ones as maxUnavailable, which is most,
// allows.
func (s *daemonSet) rollInstead(used []*place, most int) []*workload.Pod {
	missing := 0
	var sick, healthy []*workload.Pod
	for _, at := range used {
		newer, older, ok := s.onNode(at)
		switch {
		case !ok, (newer == nil) == (older == nil):
			missing++
		case newer != nil:
			if !s.available(newer) {
				missing++
			}
		case !s.available(older):
			sick = append(sick, older)
			missing++
		case missing < most:
			healthy = append(healthy, older)
		}
	}
	return append(sick, healthy[:min(max(most-missing, 0), len(healthy))]...)
}

// rollBeside returns the old pods that a new pod has replaced, and the nodes that need a new pod: all nodes whose old pod is
// unavailable, and as many others as maxSurge, which is most, allows (KEP-1591).
func (s *daemonSet) rollBeside(used []*place, desired, most int) (wrong []*workload.Pod, missing []string, failed *status.Status) {
	var more []string          // nodes that could have two pods
	var strays []*workload.Pod // available pods on nodes that should not have one
	available, doubled := 0, 0
	for _, at := range used {
		newer, older, ok := s.onNode(at)
		if !ok {
			doubled++
			continue
		}
		if first := append(slices.DeleteFunc([]*workload.Pod{older, newer}, func(p *workload.Pod) bool { return p == nil }), nil)[0]; first != nil && s.available(first) {
			available++
		}
		switch {
		case older == nil:
		case newer != nil && s.available(newer):
			wrong = append(wrong, older)
		case newer != nil:
			doubled++
		case !at.there:
			return nil, nil, status.NotFound(s.API.Definition(workload.Nodes).GroupResource(), at.name)
		case !s.available(older) && !at.run:
			wrong = append(wrong, older)
		case !s.available(older):
			missing = append(missing, at.name)
		case !at.run:
			strays = append(strays, older)
		case doubled < most:
			more = append(more, at.name)
		}
	}
	wrong = append(wrong, strays[:min(max(available-desired, 0), len(strays))]...)
	return wrong, append(missing, more[:min(max(most-doubled, 0), len(more))]...), nil
}
