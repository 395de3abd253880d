package apps

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// These labels identify a pod of a StatefulSet.
const (
	podNameLabel  = "statefulset.kubernetes.io/pod-name"
	podIndexLabel = "apps.kubernetes.io/pod-index"
)

// parentAndOrdinal splits the name of a pod into the name of its set and its ordinal: web-0 is ordinal 0 of web. The parent of a
// name without a number is "". If the number is too large, the ordinal is -1.
func parentAndOrdinal(name string) (parent string, ordinal int64) {
	at := strings.LastIndexByte(name, '-')
	digits := name[at+1:]
	if at < 0 || digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", -1
	}
	ordinal, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		ordinal = -1
	}
	return name[:at], ordinal
}

// missing returns a replica without a pod.
func (s *statefulSet) missing(ordinal int64) *replica {
	return &replica{name: s.Object.Name() + "-" + strconv.FormatInt(ordinal, 10), ordinal: ordinal}
}

// revisionFor returns the revision of a new pod. Below the partition it is the current revision.
func (s *statefulSet) revisionFor(r *replica) object.Object {
	strategy := object.Object(s.Object.Map("spec", "updateStrategy"))
	kept := int64(0)
	if rolling := strategy.Map("rollingUpdate"); rolling != nil {
		kept = object.Object(rolling).Int64("partition")
	} else if strategy.String("type") == "RollingUpdate" {
		kept = s.Object.Int64("status", "currentReplicas")
	}
	if r.ordinal < s.start()+kept {
		return s.current
	}
	return s.update
}

// keep creates a missing pod, deletes a pod that has ended, and repairs the identity of a pod. It reports whether the next pod has
// to wait.
func (s *statefulSet) keep(r *replica) (wait bool, failed *status.Status) {
	switch {
	case r.Pod == nil:
		if s.stale(r) {
			return true, nil
		}
		return s.monotonic(), s.create(r)
	case r.Finished():
		if !r.Deleting {
			failed = s.delete(r)
		}
		return true, failed // a new pod is created once the old one has been removed
	}
	if r.Phase == "Pending" {
		if failed := s.createClaims(r); failed != nil {
			return true, failed
		}
		if failed := s.updateClaims(r); failed != nil {
			s.recordPodEvent("Update", r, failed)
			return true, failed
		}
	}
	if s.monotonic() && (r.Deleting || r.Phase != "Running" || !s.available(r)) {
		return true, nil
	}
	if s.consistent(r) {
		return false, nil
	}
	failed = s.repairPod(r)
	return failed != nil, failed
}

// keepClaims sets the owners of a condemned pod's claims according to the retention policy.
func (s *statefulSet) keepClaims(r *replica) (wait bool, failed *status.Status) {
	if s.claimsMatch(r) {
		return false, nil
	}
	failed = s.updateClaims(r)
	return failed != nil, failed
}

// condemn deletes a condemned pod. Sequential deletion requires that the pod is available, unless it is the first unavailable
// one.
func (s *statefulSet) condemn(r *replica) (wait bool, failed *status.Status) {
	switch {
	case r.Deleting:
		return s.monotonic(), nil
	case s.monotonic() && r != s.sick && (r.Phase != "Running" || !s.available(r)):
		return true, nil
	}
	return true, s.delete(r)
}

// create creates the pod of a replica after its claims, and records an event about the result.
func (s *statefulSet) create(r *replica) *status.Status {
	if failed := s.createClaims(r); failed != nil {
		s.recordPodEvent("Create", r, failed)
		return failed
	}
	_, failed := s.API.Create(workload.Pods, s.podOf(r))
	if failed != nil && failed.Reason == status.ReasonAlreadyExists {
		return failed
	}
	if failed := s.updateClaims(r); failed != nil {
		s.recordPodEvent("Update", r, failed)
		return failed
	}
	s.recordPodEvent("Create", r, failed)
	return failed
}

// podOf returns the pod of a replica from the template of its revision, with its identity and its claims.
func (s *statefulSet) podOf(r *replica) object.Object {
	revision := s.revisionFor(r)
	pod := s.NewPod(templateOf(revision))
	pod.SetMeta("name", r.name)
	s.identify(pod, r)
	pod.Set(revision.Name(), "metadata", "labels", revisionHash)
	pod.Set(r.name, "spec", "hostname")
	if service := s.Object.String("spec", "serviceName"); service != "" {
		pod.Set(service, "spec", "subdomain")
	} else {
		pod.Remove("spec", "subdomain")
	}
	s.mount(pod, r)
	return pod
}

// identified reports whether a pod's label contains its own name.
func (s *statefulSet) identified(r *replica) bool {
	name, _ := r.Label(podNameLabel)
	return name == r.name
}

func (s *statefulSet) identify(pod object.Object, r *replica) {
	pod.Set(r.name, "metadata", "labels", podNameLabel)
	pod.Set(strconv.FormatInt(r.ordinal, 10), "metadata", "labels", podIndexLabel)
}

// consistent reports whether a pod has its identity, its volumes, and claims with the right owners.
func (s *statefulSet) consistent(r *replica) bool {
	return s.identified(r) && s.stored(r) && s.claimsMatch(r)
}

// repairPod sets the identity and the volumes of a pod, and the owners of its claims. After a conflict, for example because the pod
// has just been adopted, it reads the pod again and retries (StatefulPodControl.UpdateStatefulPod).
func (s *statefulSet) repairPod(r *replica) *status.Status {
	pod := r.Object()
	if !s.identified(r) {
		s.identify(pod, r)
	}
	if !s.stored(r) {
		s.mount(pod, r)
		if failed := s.createClaims(r); failed != nil {
			s.recordPodEvent("Update", r, failed)
			return failed
		}
	}
	failed := s.updateClaims(r)
	if failed == nil {
		_, failed = s.API.Update(workload.Pods, "", pod)
	}
	if failed != nil && failed.Reason == status.ReasonConflict && s.newer(r) {
		if !s.consistent(r) {
			return s.repairPod(r)
		}
		failed = nil
	}
	s.recordPodEvent("Update", r, failed)
	return failed
}

// newer replaces the pod of a replica by a newer version from the cache, and reports whether there is one.
func (s *statefulSet) newer(r *replica) bool {
	it := s.API.Item(workload.Pods, s.Object.Namespace(), r.name)
	if it == nil || it.Rev == r.Item.Rev {
		return false
	}
	r.Pod = workload.PodOf(it)
	return true
}

// delete deletes a pod. It succeeds if the pod does not exist.
func (s *statefulSet) delete(r *replica) *status.Status {
	failed := workload.Found(s.API.Delete(workload.Pods, controller.Key{Namespace: s.Object.Namespace(), Name: r.name}, controller.Preconditions{}))
	s.recordPodEvent("Delete", r, failed)
	return failed
}

// recordPodEvent records an event about the action verb on a pod, or about its failure.
func (s *statefulSet) recordPodEvent(verb string, r *replica, failed *status.Status) {
	s.recordEvent(verb, fmt.Sprintf("%s Pod %s in StatefulSet %s", verb, r.name, s.Object.Name()), "successful", failed)
}

func (s *statefulSet) recordEvent(verb, action, done string, failed *status.Status) {
	if failed == nil {
		_ = s.API.Event(s.Object, "Normal", "Successful"+verb, action+" "+done) // failed events are not retried
		return
	}
	_ = s.API.Event(s.Object, "Warning", "Failed"+verb, action+" failed error: "+failed.Message)
}
