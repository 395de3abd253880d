package volume

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// recordUse records in the condition Unused of a bound claim since when no pod has used it, or that a pod uses it now. Pods that are
// not scheduled yet count, and pods that have ended do not (the gate PersistentVolumeClaimUnusedSinceTime, enabled by default since
// 1.37).
func recordUse(api *controller.Client, key controller.Key) *status.Status {
	claim := api.Get(claims.Claims, key.Namespace, key.Name)
	if !api.Since(37) || claim == nil || claim.DeletionTimestamp() != "" || claim.String("status", "phase") != "Bound" {
		return nil
	}
	value, reason, message := "True", "NoPodsUsingPVC", "No pods are currently referencing this PVC"
	if slices.ContainsFunc(podsWith(api, claim), func(it *resource.Item) bool { return !terminated(it) }) {
		value, reason, message = "False", "PodUsingPVC", "A pod is currently referencing this PVC"
	}
	if claim.Condition("Unused").String("status") == value {
		return nil
	}
	controller.SetCondition(claim, api.Now(), "Unused", value, reason, message)
	_, s := api.Update(claims.Claims, "status", claim)
	return workload.Found(s)
}

// terminated reports whether a pod has ended, or is being deleted and has no container that runs (volumeutil.IsPodTerminated).
func terminated(it *resource.Item) bool {
	pod := it.Shared()
	if workload.PodOf(it).Finished() {
		return true
	}
	if pod.DeletionTimestamp() == "" {
		return false
	}
	for _, list := range []string{"initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"} {
		runs := func(s object.Object) bool { return !s.Has("state", "terminated") && !s.Has("state", "waiting") }
		if slices.ContainsFunc(pod.Objects("status", list), runs) {
			return false
		}
	}
	return true
}
