package policy

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	budgets = "poddisruptionbudgets.policy"

	disruptionAllowed = "DisruptionAllowed"
	disruptionTarget  = "DisruptionTarget"

	// disruptionTimeout is the time within which a pod must be deleted after it was evicted or marked as about to be disrupted.
	disruptionTimeout = 2 * time.Minute

	// ofPod precedes the names of pods in keys. It distinguishes them from the keys of budgets.
	ofPod = "pod/"
)

// Disruption maintains the status of PodDisruptionBudgets, which evictions read. It also resets the condition DisruptionTarget of
// pods that were not disrupted in time (pkg/controller/disruption).
func Disruption() controller.Controller {
	c := controller.Account("disruption-controller", "disruption-controller", controller.Func(disrupt),
		controller.Watch{Resource: budgets}, controller.Watch{Resource: workload.Pods, Keys: ofBudgets},
		controller.Watch{Resource: workload.Pods, Keys: stale})
	c.Component = "controllermanager"
	return c
}

// budget holds the fields of a PodDisruptionBudget that the controller reads. It is shared and must not be modified.
type budget struct{ selector selector.Labels }

func budgetOf(it *resource.Item) *budget {
	return resource.Derived(it, func(obj object.Object) *budget {
		labels, err := selector.FromLabelSelector(obj.Map("spec", "selector"))
		if err != nil {
			labels = selector.Nothing()
		}
		return &budget{labels}
	})
}

// ofBudgets returns the key of the budget that selects a pod. If several do, it returns the first one and records an event.
func ofBudgets(api *controller.Client, c *commit.Commit) []controller.Key {
	var keys []controller.Key
	pod := c.Item()
	api.Items(budgets, c.Namespace, func(it *resource.Item) bool {
		if budgetOf(it).selector.Match(pod.Label) {
			keys = append(keys, keyOf(it))
		}
		return true
	})
	if len(keys) > 1 {
		_ = api.Event(pod.Object(), "Warning", "MultiplePodDisruptionBudgets",
			fmt.Sprintf("Pod %q/%q matches multiple PodDisruptionBudgets.  Chose %q arbitrarily.", pod.Namespace, pod.Name, keys[0].Name))
		keys = keys[:1]
	}
	return keys
}

// stale returns the key of a pod that is marked as about to be disrupted.
func stale(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || resource.Derived(c.Item(), markedAt) == (marked{}) {
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: ofPod + c.Name}}
}

// marked is the time at which a pod was marked as about to be disrupted. It is empty if the pod is not marked, was marked by its
// kubelet, has ended, or is being deleted.
type marked struct{ at string }

func markedAt(pod object.Object) marked {
	c, phase := pod.Condition(disruptionTarget), pod.String("status", "phase")
	if c.String("status") != "True" || c.String("reason") == "TerminationByKubelet" || pod.DeletionTimestamp() != "" ||
		phase == "Succeeded" || phase == "Failed" {
		return marked{}
	}
	return marked{c.String("lastTransitionTime")}
}

func disrupt(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if name, ok := strings.CutPrefix(key.Name, ofPod); ok {
		return unmark(api, controller.Key{Namespace: key.Namespace, Name: name})
	}
	it := api.Item(budgets, key.Namespace, key.Name)
	if it == nil {
		return 0, nil
	}
	s := sync{api: api, budget: it.Object()}
	api.Items(workload.Pods, key.Namespace, func(pod *resource.Item) bool {
		if budgetOf(it).selector.Match(pod.Label) {
			s.pods = append(s.pods, workload.PodOf(pod))
		}
		return true
	})
	again, failed := s.sync()
	if failed == nil || failed.Reason == status.ReasonConflict {
		return again, failed
	}
	s.budget.Set(int64(0), "status", "disruptionsAllowed")
	s.setCondition("False", "SyncFailed", failed.Message, s.budget.Int64("status", "observedGeneration"))
	_, failed = api.Update(budgets, "status", s.budget)
	return 0, failed
}

// unmark resets the condition DisruptionTarget of a pod after disruptionTimeout.
func unmark(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	it := api.Item(workload.Pods, key.Namespace, key.Name)
	if it == nil {
		return 0, nil
	}
	at := resource.Derived(it, markedAt)
	if at == (marked{}) {
		return 0, nil
	}
	if left := workload.TimeOf(at.at).Add(disruptionTimeout).Sub(api.Now()); left > 0 {
		return left, nil
	}
	pod := it.Object()
	c := pod.Condition(disruptionTarget)
	for _, name := range []string{"reason", "message", "lastProbeTime"} {
		delete(c, name)
	}
	c["status"], c["lastTransitionTime"], c["observedGeneration"] = "False", object.Time(api.Now()), pod.Generation()
	_, failed := api.Update(workload.Pods, "status", pod)
	return 0, failed
}

// sync is one reconcile of a budget: it computes the status from the pods that the budget selects.
type sync struct {
	api    *controller.Client
	budget object.Object
	pods   []*workload.Pod
}

// sync updates the status of the budget. again is the delay until the next evicted pod that has not been deleted exceeds its
// timeout.
func (s *sync) sync() (again time.Duration, failed *status.Status) {
	if len(s.pods) == 0 {
		s.say("Normal", "NoPods", "No matching pods found")
	}
	expected, desired, unmanaged, failed := s.expected()
	if failed != nil {
		s.say("Warning", "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: "+failed.Message)
		return 0, failed
	}
	if unmanaged {
		s.say("Warning", "UnmanagedPods", fmt.Sprintf("Pods selected by this PodDisruptionBudget (selector: %s) were found to be unmanaged. "+
			"As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods "+
			"please set \".spec.minAvailable\" field of the PDB to an integer value.", gotext.SelectorString(s.budget.At("spec", "selector"))))
	}
	disrupted, again := s.disrupted()
	healthy := int64(0)
	for _, p := range s.pods {
		if _, gone := disrupted[p.Name]; !gone && !p.Deleting && p.Ready {
			healthy++
		}
	}
	return again, s.write(expected, desired, healthy, disrupted)
}

// say records an event about the budget. Errors are ignored.
func (s *sync) say(kind, reason, message string) { _ = s.api.Event(s.budget, kind, reason, message) }

// disrupted returns the pods that were evicted and are not being deleted yet, in the format of status.disruptedPods, and the
// delay until the first of them exceeds its timeout.
func (s *sync) disrupted() (left map[string]any, again time.Duration) {
	left = map[string]any{}
	evicted := s.budget.Map("status", "disruptedPods")
	for _, p := range s.pods {
		at, ok := evicted[p.Name].(string)
		if !ok || p.Deleting {
			continue
		}
		remains := workload.TimeOf(at).Add(disruptionTimeout).Sub(s.api.Now())
		if remains < 0 {
			_ = s.api.Event(p.Object(), "Warning", "NotDeleted", fmt.Sprintf("Pod was expected by PDB %[1]s/%[1]s to be deleted but it wasn't",
				s.budget.Namespace()))
			continue
		}
		if left[p.Name] = at; again == 0 || remains < again {
			again = max(remains, time.Nanosecond)
		}
	}
	return left, again
}

// write updates the status of the budget, unless the stored status is equal.
func (s *sync) write(expected, desired, healthy int64, disrupted map[string]any) *status.Status {
	allowed := max(healthy-desired, 0)
	if expected <= 0 {
		allowed = 0
	}
	value, reason := "False", "InsufficientPods"
	if allowed > 0 {
		value, reason = "True", "SufficientPods"
	}
	before, c := s.budget.At("status"), s.budget.Condition(disruptionAllowed)
	if before.Int64("currentHealthy") == healthy && before.Int64("desiredHealthy") == desired && before.Int64("expectedPods") == expected &&
		before.Int64("disruptionsAllowed") == allowed && object.SemanticEqual(before.Map("disruptedPods"), disrupted) &&
		before.Int64("observedGeneration") == s.budget.Generation() && c.String("status") == value && c.String("reason") == reason {
		return nil
	}
	now := map[string]any{"currentHealthy": healthy, "desiredHealthy": desired, "expectedPods": expected, "disruptionsAllowed": allowed,
		"observedGeneration": s.budget.Generation()}
	if len(disrupted) > 0 {
		now["disruptedPods"] = disrupted
	}
	if conditions := before.List("conditions"); conditions != nil {
		now["conditions"] = conditions
	}
	s.budget["status"] = now
	s.setCondition(value, reason, "", s.budget.Generation())
	_, failed := s.api.Update(budgets, "status", s.budget)
	return failed
}

// setCondition sets the condition DisruptionAllowed (meta.SetStatusCondition).
func (s *sync) setCondition(value, reason, message string, generation int64) {
	controller.SetCondition(s.budget, s.api.Now(), disruptionAllowed, value, reason, message)
	if c := s.budget.Condition(disruptionAllowed); generation > 0 {
		c["observedGeneration"] = generation
	} else {
		delete(c, "observedGeneration")
	}
}
