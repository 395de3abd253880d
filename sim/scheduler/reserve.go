//go:build !page

package scheduler

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/devices"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// bindClaims writes the allocations for node n to the claims of the pod, and reserves them for the pod (PreBind). If that fails,
// why is the error.
func (c *cycle) bindClaims(n *node) (why string) {
	p := c.claims.podClaims
	if p == nil {
		return ""
	}
	next := 0
	for i, claim := range p.all {
		var allocation object.Object
		if !claim.Has("status", "allocation") {
			if next == len(p.allocations[n.name]) {
				break // the node has the extended resources
			}
			allocation = p.allocations[n.name][next]
			next++
		}
		if i == p.extended.index {
			if why = c.bindExtended(n, allocation); why != "" {
				return why
			}
			continue
		}
		if isReserved(claim, c.pod.uid) {
			continue
		}
		if p.all[i], why = c.bindClaim(claim, allocation); why != "" {
			return why
		}
	}
	if c.s.memory.allocator.Conditions && slices.ContainsFunc(p.all, func(claim object.Object) bool {
		return slices.ContainsFunc(devices.Results(claim), hasConditions)
	}) {
		c.s.recordEvent(c.api, c.pod, nil, "Normal", "BindingConditionsPending", "Scheduling",
			"waiting for binding conditions for device on node "+n.name)
	}
	return ""
}

func hasConditions(result object.Object) bool { return len(result.List("bindingConditions")) > 0 }

// conflictsMax is the number of attempts to write a claim that other clients write, too (retry.DefaultRetry).
const conflictsMax = 5

// bindClaim writes an allocation to a claim, if it has none, and reserves the claim for the pod.
func (c *cycle) bindClaim(claim, allocation object.Object) (bound object.Object, why string) {
	key := claim.Namespace() + "/" + claim.Name()
	for range conflictsMax {
		var s *status.Status
		if bound, why, s = c.tryBind(claim.Copy(), allocation, key); s == nil || s.Reason != status.ReasonConflict {
			return bound, why
		}
		if claim = c.api.Live(devices.Claims, claim.Namespace(), claim.Name()); claim == nil {
			return nil, fmt.Sprintf("get updated claim %s after conflict: resourceclaims.resource.k8s.io %q not found", key, bound.Name())
		}
	}
	return bound, why
}

// tryBind is one attempt of bindClaim. It returns the Status of the write that failed.
func (c *cycle) tryBind(claim, allocation object.Object, key string) (bound object.Object, why string, failed *status.Status) {
	conditions := c.s.memory.allocator.Conditions
	switch {
	case claim.DeletionTimestamp() != "":
		return claim, fmt.Sprintf("claim %s got deleted in the meantime", key), nil
	case allocation != nil && claim.Has("status", "allocation"):
		return claim, fmt.Sprintf("claim %s got allocated elsewhere in the meantime", key), nil
	case allocation == nil && conditions && !claim.Has("status", "allocation"):
		return claim, fmt.Sprintf("claim %s got deallocated elsewhere in the meantime", key), nil
	}
	verb := "add reservation to claim"
	if allocation != nil {
		verb = "add allocation and reservation to claim"
		if !slices.Contains(claim.Finalizers(), devices.Finalizer) {
			claim.SetFinalizers(append(claim.Finalizers(), devices.Finalizer))
			stored, s := c.api.Update(devices.Claims, "", claim)
			if s != nil {
				return claim, fmt.Sprintf("add finalizer to claim %s: %s", key, s.Message), s
			}
			claim = stored.Copy()
			c.s.assume(stored)
		}
		claim.Set(object.Copy(map[string]any(allocation)), "status", "allocation")
	}
	if conditions && !claim.Has("status", "allocation", "allocationTimestamp") {
		claim.Set(object.Time(c.api.Now()), "status", "allocation", "allocationTimestamp")
	}
	claim.Set(append(claim.List("status", "reservedFor"), any(map[string]any{"resource": "pods", "name": c.pod.Name, "uid": c.pod.uid})),
		"status", "reservedFor")
	stored, s := c.api.Update(devices.Claims, "status", claim)
	if s != nil {
		return claim, fmt.Sprintf("%s %s: %s", verb, key, s.Message), s
	}
	c.s.assume(stored)
	return stored, "", nil
}

// unreserve removes the reservations of a pod that could not be bound (Unreserve).
func (s *Scheduler) unreserve(api *controller.Client, p *pod) {
	_, _ = s.deleteExtended(api, p) // if it fails, the next attempt deletes the claim
	all, _ := s.claimsOf(p)
	for _, claim := range all {
		if !claim.Has("status", "allocation") || !isReserved(claim, p.uid) {
			continue
		}
		key := controller.Key{Namespace: claim.Namespace(), Name: claim.Name()}
		_ = api.Patch(devices.Claims, "status", key, func(live object.Object) { // if it fails, the next attempt finds the reservation
			live.Set(slices.DeleteFunc(live.List("status", "reservedFor"), func(r any) bool { return object.As(r).String("uid") == p.uid }),
				"status", "reservedFor")
		})
		if live := api.Live(devices.Claims, key.Namespace, key.Name); live != nil {
			s.assume(live)
		}
	}
}

// devicesReady reports whether the drivers have reported all binding conditions of a pod's devices. If one has failed, or the time
// is over, why is the reason (isPodReadyForBinding).
func (s *Scheduler) devicesReady(api *controller.Client, p *pod) (ready bool, why string) {
	if !s.memory.allocator.Conditions || !s.usesDevices(api, p) {
		return true, ""
	}
	all, why := s.claimsOf(p)
	if why != "" {
		return false, why
	}
	if claim := s.findExtended(p); claim != nil {
		all = append(all, claim)
	}
	for _, claim := range all {
		switch ready, failed := isReady(claim); {
		case failed != "":
			return false, failed
		case !ready && isLate(api, claim):
			return false, "device binding timeout: claim=" + claim.Name()
		case !ready:
			return false, ""
		}
	}
	return true, ""
}

// isReady reports whether all binding conditions of a claim's devices are true. If a failure condition is true, it returns the
// error (isClaimReadyForBinding).
func isReady(claim object.Object) (ready bool, failed string) {
	for _, r := range devices.Results(claim) {
		if !hasConditions(r) {
			continue
		}
		all := claim.Objects("status", "devices")
		i := slices.IndexFunc(all, func(d object.Object) bool { return devices.IDOf(d) == devices.IDOf(r) })
		if i < 0 {
			return false, ""
		}
		status := object.Object{"status": map[string]any(all[i])} // Condition reads status.conditions
		for _, kind := range r.Strings("bindingFailureConditions") {
			if x := status.Condition(kind); x.String("status") == "True" {
				return false, fmt.Sprintf("device binding failed: claim=%s, reason=%s, message=%q", claim.Name(), x.String("reason"), x.String("message"))
			}
		}
		for _, kind := range r.Strings("bindingConditions") {
			if status.Condition(kind).String("status") != "True" {
				return false, ""
			}
		}
	}
	return true, ""
}

// isLate reports whether the drivers of a claim's devices have not reported binding conditions in time (isClaimTimeout).
func isLate(api *controller.Client, claim object.Object) bool {
	since := claim.String("status", "allocation", "allocationTimestamp")
	return since != "" && slices.ContainsFunc(devices.Results(claim), hasConditions) &&
		workload.TimeOf(since).Add(bindMax).Before(api.Now())
}

// isStuck reports whether the devices of an allocated claim cannot be bound, so that the claim may be allocated again.
func (s *Scheduler) isStuck(api *controller.Client, claim object.Object) bool {
	if !s.memory.allocator.Conditions || !claim.Has("status", "allocation") {
		return false
	}
	ready, failed := isReady(claim)
	return failed != "" || !ready && isLate(api, claim)
}

// deallocate releases the devices of a claim that is not available where the pod fits, so that others can be allocated. It returns
// the part of the message that says so (PostFilter).
func (c *cycle) deallocate() string {
	p := c.claims.podClaims
	if p == nil {
		return "no new claims to deallocate"
	}
	for i, claim := range p.all {
		reserved := claim.Objects("status", "reservedFor")
		if i == p.extended.index || !p.unavailable[i] || len(reserved) > 1 || len(reserved) == 1 && !isReserved(claim, c.pod.uid) {
			continue
		}
		claim = claim.Copy()
		for _, field := range []string{"reservedFor", "allocation", "devices"} {
			claim.Remove("status", field)
		}
		stored, failed := c.api.Update(devices.Claims, "status", claim)
		if failed != nil {
			return failed.Message
		}
		c.s.assume(stored)
		return "deallocation of ResourceClaim completed"
	}
	if p.extended.index >= 0 && p.extended.pod == nil {
		switch deleted, failed := c.s.deleteExtended(c.api, c.pod); {
		case failed != "":
			return failed
		case deleted:
			return "deletion of ResourceClaim completed"
		}
	}
	return "still not schedulable"
}
