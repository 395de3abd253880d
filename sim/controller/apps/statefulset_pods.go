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

// Labels by which a pod of a StatefulSet is known.
const (
	podNameLabel  = "statefulset.kubernetes.io/pod-name"
	podIndexLabel = "apps.kubernetes.io/pod-index"
)

// parentAndOrdinal splits the name of a pod: web-0 is ordinal 0 of web. A name without a number has no parent; a number that is too large
// gives the ordinal -1.
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

// missing returns the pod of an ordinal that has none.
func (s *statefulSet) missing(ordinal int64) *replica {
	return &replica{name: s.Object.Name() + "-" + strconv.FormatInt(ordinal, 10), ordinal: ordinal}
}

// revisionFor is the revision that a new pod gets: below the partition that which the others have.
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

// keep makes a pod that is missing, deletes one that has ended, and gives one its identity. It reports whether the next one
// has to wait.
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
		return true, failed // a new one is made when it is gone
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
	if s.identified(r) && s.stored(r) && s.claimsMatch(r) {
		return false, nil
	}
	failed = s.repairPod(r)
	return failed != nil, failed
}

// keepClaims makes claims of a pod that is to go belong to whom the retention policy says.
func (s *statefulSet) keepClaims(r *replica) (wait bool, failed *status.Status) {
	if s.claimsMatch(r) {
		return false, nil
	}
	failed = s.updateClaims(r)
	return failed != nil, failed
}

// condemn deletes a pod above the replicas. One after the other: each when the others are available, or if it is the one
// that is not.
func (s *statefulSet) condemn(r *replica) (wait bool, failed *status.Status) {
	switch {
	case r.Deleting:
		return s.monotonic(), nil
	case s.monotonic() && r != s.sick && (r.Phase != "Running" || !s.available(r)):
		return true, nil
	}
	return true, s.delete(r)
}

// create makes a pod, its claims first.
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

// podOf returns the pod of a replica: that of the template of its revision, with its identity and its claims.
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

// identified reports whether a pod has the labels of its identity.
func (s *statefulSet) identified(r *replica) bool {
	name, _ := r.Label(podNameLabel)
	return name == r.name
}

func (s *statefulSet) identify(pod object.Object, r *replica) {
	pod.Set(r.name, "metadata", "labels", podNameLabel)
	pod.Set(strconv.FormatInt(r.ordinal, 10), "metadata", "labels", podIndexLabel)
}

// repairPod gives a pod its identity, its volumes, and its claims their owners.
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
	s.recordPodEvent("Update", r, failed)
	return failed
}

// delete deletes a pod. One that is gone already counts.
func (s *statefulSet) delete(r *replica) *status.Status {
	failed := workload.Found(s.API.Delete(workload.Pods, controller.Key{Namespace: s.Object.Namespace(), Name: r.name}, controller.Preconditions{}))
	s.recordPodEvent("Delete", r, failed)
	return failed
}

// recordPodEvent records an event for an action on a pod.
func (s *statefulSet) recordPodEvent(verb string, r *replica, failed *status.Status) {
	s.say(verb, fmt.Sprintf("%s Pod %s in StatefulSet %s", verb, r.name, s.Object.Name()), "successful", failed)
}

func (s *statefulSet) say(verb, action, done string, failed *status.Status) {
	if failed == nil {
		_ = s.API.Event(s.Object, "Normal", "Successful"+verb, action+" "+done) // a lost event is not recorded again
		return
	}
	_ = s.API.Event(s.Object, "Warning", "Failed"+verb, action+" failed error: "+failed.Message)
}
