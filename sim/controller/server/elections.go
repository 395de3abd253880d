//go:build !page

package server

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Coordinated leader election (KEP-4355; kube-apiserver, pkg/controlplane/controller/leaderelection), with the feature gate
// CoordinatedLeaderElection:
//
//	Leadership  one API server over the store is the leader: it holds the Lease leader-election-controller
//	Elections   the leader selects the holder of each Lease that LeaseCandidates name
//	            candidate ─ pingTime ─▶ it renews itself ─▶ the best one becomes holderIdentity or preferredHolder
//	Candidates  the leader deletes expired LeaseCandidates
const (
	elections      = "coordinated-leader-election"
	candidateGC    = "leasecandidate-garbage-collector"
	leaseCandidate = "leasecandidates.coordination.k8s.io"

	electionInterval = 5 * time.Second  // defaultRequeueInterval
	electionDuration = 5 * time.Second  // for candidates to renew themselves
	candidateValid   = 30 * time.Minute // leaseCandidateValidDuration
	oldestEmulation  = "OldestEmulationVersion"
	leaderSeconds    = 5 // defaultLeaseDurationSeconds
)

// Elections selects the holders of Leases while leader is the leader.
func Elections(leader *leadership) controller.Controller {
	c := Own(elections, electing{leader}, controller.Watch{Resource: leases}, controller.Watch{Resource: leaseCandidate, Keys: electionKeys})
	c.Admitted, c.Upkeep = true, true
	return c
}

// electionKeys returns the key of the Lease of a candidate, unless the candidate has yet to answer a ping.
func electionKeys(_ *controller.Client, c *commit.Commit) []controller.Key {
	spec := c.Item().Shared().At("spec")
	if ping, ok := microTime(spec, "pingTime"); ok && renewed(spec).Before(ping) {
		return nil
	}
	return []controller.Key{{Namespace: c.Namespace, Name: spec.String("leaseName")}}
}

type electing struct{ leader *leadership }

// Reconcile implements controller.Reconciler. It performs a step of the election for a Lease (Controller.reconcileElectionStep).
func (e electing) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	candidates := admissible(api, key)
	lease := api.Live(leases, key.Namespace, key.Name)
	switch {
	case len(candidates) == 0:
		return 0, nil
	case !e.leader.memory.Leading || !electionNeeded(candidates, lease, api.Now()):
		return electionInterval, nil
	}
	if asked, ok := ping(api, candidates); !ok || asked {
		return electionInterval, nil
	}
	now := api.Now()
	var acked []object.Object
	for _, c := range candidates {
		at := renewed(c.At("spec"))
		if ping, ok := microTime(c.At("spec"), "pingTime"); ok && at.Before(ping) && ping.Add(electionDuration).After(now) {
			return 0, nil // its answer queues the key
		}
		if at.Add(electionDuration).After(now) {
			acked = append(acked, c)
		}
	}
	strategy, ok := bestStrategy(acked)
	if !ok {
		return 0, nil
	}
	holder := ""
	if strategy == oldestEmulation {
		holder = bestCandidate(acked).Name()
	}
	if lease == nil {
		_, _ = api.Create(leases, newLease(key, strategy, holder, now)) // after an error it is tried again
		return electionInterval, nil
	}
	if elect(lease, strategy, holder, now) {
		_, _ = api.Update(leases, "", lease) // after an error it is tried again
	}
	return electionInterval, nil
}

// admissible returns copies of the candidates for a Lease that have not expired.
func admissible(api *controller.Client, key controller.Key) (all []object.Object) {
	for _, c := range api.All(leaseCandidate, key.Namespace) {
		if c.String("spec", "leaseName") == key.Name && !renewed(c.At("spec")).Add(candidateValid).Before(api.Now()) {
			all = append(all, c.Copy())
		}
	}
	return all
}

// electionNeeded reports whether a Lease, which may be nil, needs another holder.
func electionNeeded(candidates []object.Object, lease object.Object, now time.Time) bool {
	if lease == nil || isExpired(lease, now) || lease.String("spec", "holderIdentity") == "" {
		return true
	}
	for _, c := range candidates {
		if renewed(c.At("spec")).Add(candidateValid / 2).Before(now) {
			return true
		}
	}
	strategy, ok := bestStrategy(candidates)
	return ok && strategy == oldestEmulation && bestCandidate(candidates).Name() != lease.String("spec", "holderIdentity")
}

// ping asks candidates to renew themselves. asked reports whether one of them has yet to do so. ok is false if a write failed.
func ping(api *controller.Client, candidates []object.Object) (asked, ok bool) {
	now, ok := api.Now(), true
	for _, c := range candidates {
		spec := c.At("spec")
		at := renewed(spec)
		pinged, ever := microTime(spec, "pingTime")
		switch {
		case ever && pinged.Add(electionDuration).After(now) && at.Before(pinged):
			asked = true
		case at.Add(electionDuration).After(now):
		case !ever || pinged.Add(electionDuration).Before(now) && !at.Before(pinged):
			c.Set(now.UTC().Format(microLayout), "spec", "pingTime")
			_, failed := api.Update(leaseCandidate, "", c)
			asked, ok = true, ok && failed == nil
		}
	}
	return asked, ok
}

// elect sets the strategy and the holder of a Lease. It reports whether that changes the Lease. holder is empty if another controller
// selects the holder.
func elect(lease object.Object, strategy, holder string, now time.Time) (changed bool) {
	current := lease.String("spec", "holderIdentity")
	if changed = lease.String("spec", "strategy") != strategy; changed {
		lease.Set(strategy, "spec", "strategy")
	}
	switch {
	case holder == "" || holder == current:
		return changed
	case current == "" || isExpired(lease, now):
		spec := lease.Map("spec")
		delete(spec, "preferredHolder")
		delete(spec, "acquireTime")
		spec["holderIdentity"], spec["renewTime"], spec["leaseDurationSeconds"] = holder, now.UTC().Format(microLayout), int64(leaderSeconds)
	default:
		changed = changed || lease.String("spec", "preferredHolder") != holder
		lease.Set(holder, "spec", "preferredHolder")
		return changed
	}
	return true
}

func newLease(key controller.Key, strategy, holder string, now time.Time) object.Object {
	spec := map[string]any{"strategy": strategy, "leaseDurationSeconds": int64(leaderSeconds), "renewTime": now.UTC().Format(microLayout)}
	if holder != "" {
		spec["holderIdentity"] = holder
	}
	return object.Object{"metadata": map[string]any{"namespace": key.Namespace, "name": key.Name}, "spec": spec}
}

// bestStrategy returns the strategy of the candidates with the newest binary version. ok is false if there are none, or if they differ.
func bestStrategy(candidates []object.Object) (strategy string, ok bool) {
	newest := ""
	for i, c := range candidates {
		version, own := c.String("spec", "binaryVersion"), c.String("spec", "strategy")
		switch order := kind.CompareSemver(version, newest); {
		case i == 0 || order > 0:
			newest, strategy = version, own
		case order == 0 && own != strategy:
			return "", false
		}
	}
	return strategy, len(candidates) > 0
}

// bestCandidate returns the candidate with the oldest emulation version, then the oldest binary version, then the oldest one.
func bestCandidate(candidates []object.Object) (best object.Object) {
	for _, c := range candidates {
		if best == nil || compareCandidates(best, c) > 0 {
			best = c
		}
	}
	return best
}

func compareCandidates(a, b object.Object) int {
	for _, field := range []string{"emulationVersion", "binaryVersion"} {
		if order := kind.CompareSemver(a.String("spec", field), b.String("spec", field)); order != 0 {
			return order
		}
	}
	return strings.Compare(a.String("metadata", "creationTimestamp"), b.String("metadata", "creationTimestamp"))
}

const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// microTime returns a time in a spec. ok is false if there is none.
func microTime(spec object.Object, field string) (at time.Time, ok bool) {
	at, err := time.Parse(time.RFC3339Nano, spec.String(field))
	return at, err == nil
}

// renewed returns the renewTime in a spec, or the zero time.
func renewed(spec object.Object) time.Time {
	at, _ := microTime(spec, "renewTime")
	return at
}

// isExpired reports whether a Lease has expired or has no duration.
func isExpired(lease object.Object, now time.Time) bool {
	seconds, ok := lease.Get("spec", "leaseDurationSeconds")
	n, _ := seconds.(int64)
	return !ok || renewed(lease.At("spec")).Add(time.Duration(n)*time.Second).Before(now)
}

// Candidates deletes expired LeaseCandidates while leader is the leader. As in the real server, the first check follows as soon as the
// leader's caches are filled, which takes a second here, and the others every half hour.
func Candidates(leader *leadership) controller.Controller {
	c := Own(candidateGC, controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
		candidate := api.LiveShared(leaseCandidate, key.Namespace, key.Name)
		if candidate == nil {
			return 0, nil
		}
		first, now := leader.memory.Since.Add(time.Second), api.Now()
		check := first
		if expires := renewed(candidate.At("spec")).Add(candidateValid); expires.After(first) {
			check = first.Add((expires.Sub(first)/candidateValid + 1) * candidateValid)
		}
		if created, err := time.Parse(time.RFC3339, candidate.String("metadata", "creationTimestamp")); err == nil && created.After(check) {
			check = first.Add((created.Sub(first)/candidateValid + 1) * candidateValid)
		}
		switch left := check.Sub(now); {
		case !leader.memory.Leading:
			return candidateValid, nil
		case left > 0:
			return left, nil
		}
		return 0, api.Delete(leaseCandidate, key, controller.Preconditions{})
	}), controller.Watch{Resource: leaseCandidate})
	c.Admitted, c.Upkeep = true, true
	return c
}
