package apps

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	// templateGeneration is an annotation that stores a field of older API versions. The corresponding label of pods is
	// templateGenerationLabel.
	templateGeneration      = "deprecated.daemonset.template.generation"
	templateGenerationLabel = "pod-template-generation"

	failedBackoffMin = time.Second
	failedBackoffMax = 15 * time.Minute
)

// tolerateDaemon adds the tolerations of DaemonSet pods to a pod spec (daemon/util.AddOrUpdateDaemonPodTolerations).
func tolerateDaemon(spec object.Object) {
	tolerate := func(taint, effect string) {
		all := slices.Clone(spec.List("tolerations"))
		ours := map[string]any{"key": "node.kubernetes.io/" + taint, "operator": "Exists", "effect": effect}
		i := slices.IndexFunc(all, func(v any) bool {
			t := object.As(v)
			return t.String("key") == ours["key"] && t.String("effect") == effect && t.String("operator") == "Exists" && t.String("value") == ""
		})
		if i >= 0 {
			all[i] = ours
		} else {
			all = append(all, ours)
		}
		spec["tolerations"] = all
	}
	tolerate("not-ready", "NoExecute")
	tolerate("unreachable", "NoExecute")
	for _, taint := range []string{"disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"} {
		tolerate(taint, "NoSchedule")
	}
	if spec.True("hostNetwork") {
		tolerate("network-unavailable", "NoSchedule")
	}
}

// daemonPod returns a function that prepares a pod of the template for a node. The pod's affinity makes the scheduler bind it to
// that node.
func (s *daemonSet) daemonPod(node string) func(pod object.Object) {
	return func(pod object.Object) {
		pod.Set(s.hash, "metadata", "labels", revisionHash)
		if generation, ok := s.generation(); ok {
			pod.Set(generation, "metadata", "labels", templateGenerationLabel)
		}
		tolerateDaemon(pod.At("spec"))
		named := map[string]any{"key": "metadata.name", "operator": "In", "values": []any{node}}
		pod.Set([]any{map[string]any{"matchFields": []any{named}}},
			"spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	}
}

// generation returns the template's number in the annotation for older API versions. It returns false if the annotation is missing
// or is not a number.
func (s *daemonSet) generation() (string, bool) {
	n, err := strconv.ParseInt(s.Object.Annotations()[templateGeneration], 10, 64)
	return strconv.FormatInt(n, 10), err == nil
}

// isUpdated reports whether a pod has the newest template.
func (s *daemonSet) isUpdated(p *workload.Pod) bool {
	if revisionLabel(p) == s.hash {
		return true
	}
	generation, ok := s.generation()
	has, _ := p.Label(templateGenerationLabel)
	return ok && has == generation
}

// manage returns the pods to delete, and the nodes that need a pod.
func (s *daemonSet) manage() (wrong []*workload.Pod, missing []string) {
	for _, at := range s.places {
		switch {
		case !at.there:
			continue
		case at.run && len(at.pods) == 0:
			missing = append(missing, at.name)
		case at.stay:
			more, needed := s.manageNode(at)
			wrong = append(wrong, more...)
			if needed {
				missing = append(missing, at.name)
			}
		default:
			wrong = append(wrong, slices.DeleteFunc(slices.Clone(at.pods), func(p *workload.Pod) bool { return p.Deleting })...)
		}
	}
	for _, at := range s.places {
		if !at.there { // the pods that are not bound yet and whose node no longer exists
			wrong = append(wrong, slices.DeleteFunc(slices.Clone(at.pods), func(p *workload.Pod) bool { return p.Node != "" })...)
		}
	}
	return wrong, missing
}

// manageNode returns the pods to delete on a node that keeps its pod, and reports whether the node needs another pod. A node has
// at most one pod of each template. It has two only if the strategy allows a new pod to start before the old one is deleted.
func (s *daemonSet) manageNode(at *place) (wrong []*workload.Pod, needed bool) {
	wrong, running := s.ended(at)
	switch {
	case s.surge(1) == 0:
		return append(wrong, running[min(1, len(running)):]...), false
	case len(running) <= 1:
		return wrong, len(running) == 0 && at.run
	}
	var newer, older *workload.Pod
	for _, p := range running {
		kept := &older
		if revisionLabel(p) == s.hash {
			kept = &newer
		}
		if *kept == nil {
			*kept = p
		} else {
			wrong = append(wrong, p)
		}
	}
	if newer != nil && older != nil && (!older.Ready || s.available(newer)) {
		wrong = append(wrong, older)
	}
	return wrong, false
}

// ended returns the pods of a node that have ended and should be deleted, and the remaining pods. Failed pods are deleted with an
// exponential backoff.
func (s *daemonSet) ended(at *place) (gone, running []*workload.Pod) {
	for _, p := range at.pods {
		switch {
		case p.Deleting:
		case p.Phase == "Failed":
			key := fmt.Sprintf("%s/%d/%s", s.Object.UID(), s.Object.Int64("status", "observedGeneration"), at.name)
			if wait, ok := s.failed.next(key, s.API.Now()); !ok {
				s.backoff = wait
				continue
			}
			_ = s.API.Event(s.Object, "Warning", "FailedDaemonPod", fmt.Sprintf("Found failed daemon pod %s/%s on node %s, will try to kill it", p.Namespace, p.Name, at.name))
			gone = append(gone, p)
		case p.Phase == "Succeeded":
			_ = s.API.Event(s.Object, "Normal", "SucceededDaemonPod", fmt.Sprintf("Found succeeded daemon pod %s/%s on node %s, will try to delete it", p.Namespace, p.Name, at.name))
			gone = append(gone, p)
		default:
			running = append(running, p)
		}
	}
	return gone, running
}

// failures records the failures of pods by DaemonSet, generation and node (flowcontrol.Backoff).
type failures map[string]failure

type failure struct {
	At   time.Time
	Wait time.Duration
}

// next reports whether a failed pod may be deleted now. If not, it returns the backoff, which doubles with each failure and is
// reset after a long time without one.
func (f *failures) next(key string, now time.Time) (wait time.Duration, ok bool) {
	last, known := (*f)[key]
	since := now.Sub(last.At)
	switch {
	case known && since < last.Wait:
		return last.Wait, false
	case !known || since > 2*failedBackoffMax:
		wait = failedBackoffMin
	default:
		wait = min(2*last.Wait, failedBackoffMax)
	}
	if *f == nil {
		*f = failures{}
	}
	for k, x := range *f { // order does not matter
		if now.Sub(x.At) > 2*failedBackoffMax {
			delete(*f, k)
		}
	}
	(*f)[key] = failure{now, wait}
	return 0, true
}
