//go:build !page

package server

import (
	"cmp"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Leadership is the name of the controller that makes one API server the leader of coordinated leader election.
const Leadership = "leader-election-controller"

var leadershipKey = controller.Key{Namespace: "kube-system", Name: Leadership}

// gateElections is the feature gate of coordinated leader election.
const gateElections = "CoordinatedLeaderElection"

// leadership renews or acquires the Lease of the leader, every RetryPeriod (client-go, tools/leaderelection). A real server adds up to
// 120 % at random to the period in which it waits for the Lease.
type leadership struct {
	identity string
	options  config.LeaderElection
	memory   struct {
		Leading    bool
		Since      time.Time `json:",omitzero"` // when it became the leader
		Renewed    time.Time `json:",omitzero"` // the last successful write
		Observed   string    // holder and renewTime of the Lease
		ObservedAt time.Time `json:",omitzero"` // when Observed changed
	}
}

// leaderElection returns the controllers of coordinated leader election, or nil if no API server has the gate.
func leaderElection(o *config.Cluster, m Machines) []controller.Controller {
	if !slices.ContainsFunc(o.Replicas, func(s config.Server) bool { return s.FeatureGates[gateElections] }) {
		return nil
	}
	l := &leadership{identity: m.Servers()[0].Identity(), options: o.LeaderElection}
	l.options.LeaseDuration = cmp.Or(l.options.LeaseDuration, 15*time.Second)
	l.options.RenewDeadline = cmp.Or(l.options.RenewDeadline, 10*time.Second)
	l.options.RetryPeriod = cmp.Or(l.options.RetryPeriod, 2*time.Second)
	c := Own(Leadership, l)
	c.Admitted, c.Upkeep = true, true
	return []controller.Controller{c, Elections(l), Candidates(l)}
}

// Memory implements controller.Rememberer.
func (l *leadership) Memory() any { return &l.memory }

// Reconcile implements controller.Reconciler.
func (l *leadership) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	lease := api.Live(leases, leadershipKey.Namespace, leadershipKey.Name)
	holder, now := lease.String("spec", "holderIdentity"), api.Now()
	switch {
	case key == StopKey && holder == l.identity:
		l.release(api)
		return 0, nil
	case key == StopKey:
		return 0, nil
	case lease == nil || holder == l.identity && l.memory.Leading:
	case !l.isFree(lease, holder, now):
		return l.options.RetryPeriod, nil
	}
	switch {
	case l.write(api, lease, holder, now):
		if !l.memory.Leading {
			l.memory.Leading, l.memory.Since = true, now
		}
		l.memory.Renewed = now
	case l.memory.Leading && !now.Before(l.memory.Renewed.Add(l.options.RenewDeadline)):
		l.release(api)
	}
	return l.options.RetryPeriod, nil
}

// isFree reports whether the Lease has no holder, or one that has not renewed it for LeaseDuration, as far as this server has observed.
func (l *leadership) isFree(lease object.Object, holder string, now time.Time) bool {
	l.memory.Leading = false
	if seen := holder + " " + lease.String("spec", "renewTime"); seen != l.memory.Observed {
		l.memory.Observed, l.memory.ObservedAt = seen, now
	}
	return holder == "" || holder == l.identity || !l.memory.ObservedAt.Add(l.options.LeaseDuration).After(now)
}

// write makes this server the holder of the Lease, or renews it. It returns false if the write failed.
func (l *leadership) write(api *controller.Client, lease object.Object, holder string, now time.Time) bool {
	at := now.UTC().Format(microLayout)
	spec := map[string]any{"holderIdentity": l.identity, "leaseDurationSeconds": int64(l.options.LeaseDuration / time.Second), "renewTime": at,
		"acquireTime": at, "leaseTransitions": int64(0)}
	if lease == nil {
		_, failed := api.Create(leases, object.Object{"metadata": map[string]any{"namespace": leadershipKey.Namespace, "name": leadershipKey.Name}, "spec": spec})
		return failed == nil
	}
	transitions, _ := lease.Get("spec", "leaseTransitions")
	n, _ := transitions.(int64)
	if holder == l.identity {
		spec["acquireTime"] = lease.String("spec", "acquireTime")
	} else {
		n++
	}
	spec["leaseTransitions"] = n
	lease["spec"] = spec
	_, failed := api.Update(leases, "", lease)
	return failed == nil
}

// release removes the holder from the Lease, if that is possible.
func (l *leadership) release(api *controller.Client) {
	l.memory.Leading = false
	at := api.Now().UTC().Format(microLayout)
	live := api.Live(leases, leadershipKey.Namespace, leadershipKey.Name)
	if live == nil {
		return
	}
	transitions, _ := live.Get("spec", "leaseTransitions")
	live["spec"] = map[string]any{"holderIdentity": "", "leaseDurationSeconds": int64(1), "renewTime": at, "acquireTime": at, "leaseTransitions": transitions}
	_, _ = api.Update(leases, "", live) // otherwise the Lease expires
}
