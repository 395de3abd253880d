package policy

import (
	"math"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/status"
)

// expected returns the number of pods that the budget counts, and the number of them that must be healthy (getExpectedPodCount).
// unmanaged reports that some pods have no controller; they are not counted.
func (s *sync) expected() (expected, desired int64, unmanaged bool, failed *status.Status) {
	if most, ok := s.budget.Get("spec", "maxUnavailable"); ok {
		expected, unmanaged, failed = s.scale()
		return expected, max(expected-workload.Share(most, expected, math.Ceil), 0), unmanaged, failed
	}
	least, ok := s.budget.Get("spec", "minAvailable")
	if n, number := least.(int64); number || !ok {
		if ok {
			expected = int64(len(s.pods))
		}
		return expected, n, false, nil
	}
	expected, unmanaged, failed = s.scale()
	return expected, workload.Share(least, expected, math.Ceil), unmanaged, failed
}

// scale returns the sum of the replicas of the pods' controllers (getExpectedScale).
func (s *sync) scale() (sum int64, unmanaged bool, failed *status.Status) {
	known := map[string]bool{} // UIDs of controllers
	for _, p := range s.pods {
		switch uid := p.Controller().UID; {
		case uid == "":
			unmanaged = true
			continue
		case known[uid]:
			continue
		default:
			known[uid] = true
		}
		uid, replicas, failed := s.replicas(p)
		if failed != nil {
			return 0, unmanaged, failed
		}
		if uid == p.Controller().UID || !known[uid] {
			known[uid] = true
			sum += replicas
		}
	}
	return sum, unmanaged, nil
}

// replicas returns the desired number of pods of a pod's controller, and the controller's UID. For the ReplicaSet of a
// Deployment, it returns those of the Deployment.
func (s *sync) replicas(p *workload.Pod) (uid string, replicas int64, failed *status.Status) {
	ref := p.Controller()
	if ref.Kind == "ReplicaSet" {
		if parent, ok := s.parent(p.Namespace, ref, "apps"); ok {
			ref = parent
		}
	}
	d := s.api.OfKind(ref.APIVersion, ref.Kind)
	if d == nil {
		return "", 0, status.Plain("no matches for kind %q in version %q", ref.Kind, ref.APIVersion)
	}
	if d.Sub("scale") == nil {
		return "", 0, status.Plain("%s does not implement the scale subresource", strings.TrimSuffix(d.Resource+"."+d.Group, "."))
	}
	scale, failed := s.api.Scale(d, controller.Key{Namespace: p.Namespace, Name: ref.Name})
	if failed = workload.Found(failed); failed != nil {
		return "", 0, failed
	}
	if scale.UID() != ref.UID {
		return "", 0, status.Plain("found no controllers for pod %q", p.Name)
	}
	return scale.UID(), scale.Int64("spec", "replicas"), nil
}

// parent returns the reference to the Deployment that controls a ReplicaSet. It returns false if the Deployment or the reference
// does not exist.
func (s *sync) parent(namespace string, ref workload.ControllerRef, group string) (above workload.ControllerRef, ok bool) {
	set := s.api.OfKind(ref.APIVersion, ref.Kind)
	if set == nil || set.Group != group {
		return above, false
	}
	owner := s.api.GetShared(set.Storage, namespace, ref.Name)
	if owner.UID() != ref.UID {
		return above, false
	}
	above = workload.RefOf(owner).Value()
	d := s.api.OfKind(above.APIVersion, above.Kind)
	if d == nil || d.Group != group || d.Kind != "Deployment" {
		return above, false
	}
	return above, s.api.GetShared(d.Storage, namespace, above.Name).UID() == above.UID
}
