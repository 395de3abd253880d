package core

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	evictionRefused   = "Cannot evict pod as it would violate the pod's disruption budget."
	evictionRetry     = 10 // Retry-After in seconds while the disruption controller has not processed the budget
	maxDisruptedPods  = 2000
	budgetStorage     = "poddisruptionbudgets.policy"
	disruptionAllowed = "DisruptionAllowed"
)

// eviction is a request to evict a pod (Kubernetes documentation, "API-initiated eviction").
//
//	pod pending, terminated or being deleted ──▶ delete
//	otherwise: its PodDisruptionBudget ──▶ allows it: use one disruption, then delete
//	                                   └─▶ does not: 429
type eviction struct {
	*resource.Connection
	options object.Object // the DeleteOptions, or nil if the client sent none
	dryRun  bool
}

// evictPod deletes a pod unless a PodDisruptionBudget forbids it.
func evictPod(c *resource.Connection) (object.Object, *status.Status) {
	if c.Body.Name() != c.Name {
		return nil, status.BadRequest("name in URL does not match name in Eviction object")
	}
	options := c.Body.At("deleteOptions")
	if options.True("ignoreStoreReadErrorWithClusterBreakingPotential") {
		p := field.Root("deleteOptions").Child("ignoreStoreReadErrorWithClusterBreakingPotential")
		return nil, status.Invalid(status.Resource{Group: "policy", Resource: "Eviction"}, c.Name,
			field.ErrorList{field.Invalid(p, true, "can not be set for pod eviction, try after removing the option")})
	}
	own := options.List("dryRun")
	if c.DryRun && len(own) > 0 && !object.Equal(own, []any{"All"}) {
		return nil, status.Plain("Non-matching dry-run options in request and content: %v and %v", []string{"All"}, object.Strings(own))
	}
	if s := c.Admit(); s != nil {
		return nil, s
	}
	e := &eviction{Connection: c, options: options.Copy(), dryRun: c.DryRun || len(own) > 0}
	if s := e.evict(); s != nil {
		return nil, s
	}
	return nil, status.Created()
}

func (e *eviction) evict() *status.Status {
	pod := e.Get("pods", e.Namespace, e.Name)
	if pod == nil {
		return status.NotFound(status.Resource{Resource: "pods"}, e.Name)
	}
	switch phase := pod.String("status", "phase"); {
	case phase == "Succeeded", phase == "Failed", pod.DeletionTimestamp() != "":
		return e.delete(e.options)
	case phase == "Pending":
		return e.delete(e.withVersion(pod))
	}
	budgets := e.budgetsOf(pod)
	switch {
	case len(budgets) == 0:
		return e.delete(e.options)
	case len(budgets) > 1:
		return status.Plain("This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.")
	}
	budget := budgets[0]
	if pod.Condition("Ready").String("status") != "True" && unguarded(budget) {
		s := e.delete(e.forceVersion(pod))
		if s != nil && s.Reason == status.ReasonConflict && !e.options.Has("preconditions", "resourceVersion") {
			return budgetRefusal(evictionRetry, stillProcessed(budget.Name()))
		}
		return s
	}
	if s := e.spend(pod, budget); s != nil {
		return s
	}
	return e.delete(e.options)
}

// budgetsOf returns the budgets that select the pod.
func (e *eviction) budgetsOf(pod object.Object) []object.Object {
	return slices.DeleteFunc(e.All(budgetStorage, e.Namespace), func(budget object.Object) bool {
		labels, err := selector.FromLabelSelector(budget.Map("spec", "selector"))
		return err != nil || !labels.Matches(pod.Labels())
	})
}

// unguarded reports whether a budget allows pods that are not ready to be evicted without counting them (KEP-3017).
func unguarded(budget object.Object) bool {
	if budget.String("spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow" {
		return true
	}
	desired := budget.Int64("status", "desiredHealthy")
	return desired > 0 && budget.Int64("status", "currentHealthy") >= desired
}

// spend uses one of the budget's allowed disruptions. If there is none left, it returns an error.
func (e *eviction) spend(pod, budget object.Object) *status.Status {
	name := budget.Name()
	have := budget.At("status")
	allowed := have.Int64("disruptionsAllowed")
	forbidden := status.Resource{Group: "policy", Resource: "poddisruptionbudget"}
	switch {
	case have.Int64("observedGeneration") < budget.Generation():
		return budgetRefusal(evictionRetry, stillProcessed(name))
	case allowed < 0:
		return status.Forbidden(forbidden, name, "pdb disruptions allowed is negative")
	case len(have.Map("disruptedPods")) > maxDisruptedPods:
		return status.Forbidden(forbidden, name, "DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case allowed == 0:
		return budgetRefusal(0, whyNoDisruption(name, have))
	case e.dryRun:
		return nil
	}
	_, s := e.Update(budgetStorage, e.Namespace, name, "status", func(budget object.Object) *status.Status {
		budget.Set(allowed-1, "status", "disruptionsAllowed")
		if allowed == 1 {
			setCondition(budget, object.Time(e.Now), map[string]any{"type": disruptionAllowed, "status": "False", "reason": "InsufficientPods",
				"message": "", "observedGeneration": budget.Int64("status", "observedGeneration")})
		}
		budget.Set(object.Time(e.Now), "status", "disruptedPods", pod.Name())
		return nil
	})
	return s
}

// budgetRefusal returns the 429 for an eviction that a budget does not allow. retry is in seconds.
func budgetRefusal(retry int, why string) *status.Status {
	s := status.TooManyRequests(evictionRefused, retry)
	s.Details.Causes = []status.Cause{{Reason: "DisruptionBudget", Message: why}}
	return s
}

func stillProcessed(budget string) string {
	return "The disruption budget " + budget + " is still being processed by the server."
}

// whyNoDisruption returns the reason why a budget with the status have allows no disruption.
func whyNoDisruption(name string, have object.Object) string {
	reason, message := "", ""
	for _, c := range have.Objects("conditions") {
		if c.String("type") == disruptionAllowed && c.String("status") == "False" {
			reason, message = c.String("reason"), c.String("message")
		}
	}
	current, desired := have.Int64("currentHealthy"), have.Int64("desiredHealthy")
	switch {
	case message != "" && reason == "SyncFailed":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently because it failed sync: %s", name, message)
	case current <= desired:
		return fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", name, desired, current)
	case message != "":
		return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently (%s): %s", name, reason, message)
	}
	return fmt.Sprintf("The disruption budget %s does not allow evicting pods currently", name)
}

// withVersion returns the delete options with the pod's resourceVersion as a precondition, unless they already have such
// a precondition.
func (e *eviction) withVersion(pod object.Object) object.Object {
	if e.options.Has("preconditions", "resourceVersion") {
		return e.options
	}
	return e.forceVersion(pod)
}

func (e *eviction) forceVersion(pod object.Object) object.Object {
	options := e.options.Copy()
	if options == nil {
		options = object.Object{}
	}
	options.Set(pod.ResourceVersion(), "preconditions", "resourceVersion")
	return options
}

// delete adds the condition DisruptionTarget to the pod and deletes it.
func (e *eviction) delete(options object.Object) *status.Status {
	if !e.dryRun {
		pod, s := e.Update("pods", e.Namespace, e.Name, "status", func(pod object.Object) *status.Status {
			if s := deletePreconditions(pod, options); s != nil {
				return s
			}
			setCondition(pod, object.Time(e.Now), map[string]any{"type": "DisruptionTarget", "status": "True",
				"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"})
			return nil
		})
		if s != nil {
			return s
		}
		if options.Has("preconditions", "resourceVersion") {
			options = options.Copy()
			options.Set(pod.ResourceVersion(), "preconditions", "resourceVersion")
		}
	}
	return e.Delete("pods", e.Namespace, e.Name, options)
}

// deletePreconditions returns a conflict if the pod does not meet the preconditions in the delete options.
func deletePreconditions(pod, options object.Object) *status.Status {
	of := status.Resource{Resource: "Pod"}
	if want := options.String("preconditions", "uid"); want != "" && want != pod.UID() {
		return status.Conflict(of, pod.Name(), fmt.Sprintf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", want, pod.UID()))
	}
	if want := options.String("preconditions", "resourceVersion"); want != "" && want != pod.ResourceVersion() {
		return status.Conflict(of, pod.Name(), fmt.Sprintf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). "+
			"The object might have been modified", want, pod.ResourceVersion()))
	}
	return nil
}
