package resource

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	// rulePrefix precedes the name in the key of a DeviceTaintRule. The key of a pod has no prefix.
	rulePrefix = "rule:"
	// ruleStatusPeriod is the shortest time between two writes of the status of a rule.
	ruleStatusPeriod = 10 * time.Second

	inProgress = "EvictionInProgress"
)

func ruleKey(name string) controller.Key { return controller.Key{Name: rulePrefix + name} }

// syncRule writes the condition EvictionInProgress of a DeviceTaintRule (maybeUpdateRuleStatus).
func (e *eviction) syncRule(api *controller.Client, name string) (again time.Duration, failed *status.Status) {
	rule := api.Get(devices.Rules, "", name)
	if rule == nil || !hasTaintRules(api) {
		return 0, nil
	}
	had := rule.Condition(inProgress)
	if had.Int64("observedGeneration") == rule.Generation() {
		if left := workload.TimeOf(had.String("lastTransitionTime")).Add(ruleStatusPeriod).Sub(api.Now()); had != nil && left > 0 {
			return left, nil
		}
	}
	value, reason, message := e.ruleStatus(api, rule)
	if had.String("status") == value && had.String("reason") == reason && had.String("message") == message &&
		had.Int64("observedGeneration") == rule.Generation() {
		return 0, nil
	}
	_, failed = api.As("device-taint-eviction-controller").Apply(devices.Rules, "status", controller.Key{Name: name},
		object.Object{"status": map[string]any{"conditions": []any{map[string]any{"type": inProgress, "status": value, "reason": reason,
			"message": message, "observedGeneration": rule.Generation(), "lastTransitionTime": object.Time(api.Now())}}}})
	return 0, workload.Found(failed)
}

// count returns a number with a noun in the singular or the plural.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ruleStatus returns the status, the reason and the message of a rule's condition.
func (e *eviction) ruleStatus(api *controller.Client, rule object.Object) (value, reason, message string) {
	evicted := e.memory.Evicted[rule.UID()]
	value = "False"
	switch effect := rule.String("spec", "taint", "effect"); effect {
	case "NoExecute":
		pods, namespaces := e.pending(api, rule)
		switch {
		case pods > 0:
			value, reason = "True", "PodsPendingEviction"
			message = count(pods, "pod needs", "pods need") + " to be evicted in " + count(namespaces, "namespace.", "different namespaces.")
		case evicted > 0:
			reason = "Completed"
		default:
			reason = "NotStarted"
		}
	case "None":
		pods, namespaces := e.pending(api, rule)
		published, allocated := e.selected(api, rule)
		reason = "NoEffect"
		message = count(published, "published device", "published devices") + " selected. " + count(allocated, "allocated device", "allocated devices") +
			" selected. " + count(pods, "pod", "pods") + " would be evicted in " + count(namespaces, "namespace", "different namespaces") +
			" if the effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger an update."
	default:
		reason, message = "OtherEffect", "Eviction only happens for the NoExecute effect."
	}
	if evicted > 0 {
		message = strings.TrimPrefix(message+" "+count(evicted, "pod", "pods")+" evicted since starting the controller.", " ")
	}
	return value, reason, message
}

// pending returns the number of pods that a rule evicts, or would evict if its effect were NoExecute, and of their namespaces.
func (e *eviction) pending(api *controller.Client, rule object.Object) (pods, namespaces int) {
	taint, selector := rule.At("spec", "taint").Copy(), rule.At("spec", "deviceSelector")
	taint["effect"] = "NoExecute"
	seen := map[string]bool{}
	api.Items(workload.Pods, "", func(it *resource.Item) bool {
		if !workload.PodOf(it).UsesResourceClaims || it.Field("spec.nodeName") == "" || it.Shared().DeletionTimestamp() != "" {
			return true
		}
		if slices.ContainsFunc(devicesOf(api, it.Shared()), func(r object.Object) bool {
			_, tolerated := endOf(taint, r.Objects("tolerations"))
			return selector != nil && devices.Selects(selector, devices.IDOf(r)) && !tolerated
		}) {
			pods++
			seen[it.Namespace] = true
		}
		return true
	})
	return pods, len(seen)
}

// selected returns the numbers of published and of allocated devices that a rule selects.
func (e *eviction) selected(api *controller.Client, rule object.Object) (published, allocated int) {
	selector := rule.At("spec", "deviceSelector")
	if selector == nil {
		return 0, 0
	}
	api.Items(devices.Claims, "", func(it *resource.Item) bool {
		for _, r := range devices.Results(it.Shared()) {
			if devices.Selects(selector, devices.IDOf(r)) {
				allocated++
			}
		}
		return true
	})
	return e.catalog.Count(selector), allocated
}

// devicesOf returns the allocated devices of the claims that are reserved for a pod.
func devicesOf(api *controller.Client, pod object.Object) (results []object.Object) {
	for _, entry := range pod.Objects("spec", "resourceClaims") {
		name, generated, found := claimName(pod, entry)
		claim := api.GetShared(devices.Claims, pod.Namespace(), name)
		if found && claim != nil && (!generated || isOwned(claim, pod)) && isReserved(claim, pod.UID()) {
			results = append(results, devices.Results(claim)...)
		}
	}
	extended := api.GetShared(devices.Claims, pod.Namespace(), pod.String("status", "extendedResourceClaimStatus", "resourceClaimName"))
	if extended != nil && isReserved(extended, pod.UID()) {
		results = append(results, devices.Results(extended)...)
	}
	return results
}
