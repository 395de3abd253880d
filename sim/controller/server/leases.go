package server

import (
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	leases = "leases.coordination.k8s.io"

	// leasePeriod is how often an API server looks for expired leases (kube-apiserver, IdentityLeaseGCPeriod).
	leasePeriod = time.Hour
)

// Leases deletes the leases of API servers that are gone (KEP-1965; kube-apiserver, apiserverleasegc). running reports whether a lease
// is that of a server of the Cluster: the real one renews its lease every 10 s, these never do. The real server looks every hour from
// its start, this controller at each full hour, and only while there is a lease to look at.
func Leases(running func(lease string) bool) controller.Controller {
	c := collector{running}
	return Own("apiserver-lease-garbage-collector", c, controller.Watch{Resource: leases, Keys: c.keys})
}

type collector struct{ running func(lease string) bool }

// keys returns the key of a commit if it is about the lease of an API server that does not run.
func (l collector) keys(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() {
		return nil
	}
	it := c.Item()
	if it.Namespace != "kube-system" || l.running(it.Name) || it.Shared().Labels()[boot.IdentityLabel] != "kube-apiserver" {
		return nil
	}
	return []controller.Key{{Namespace: it.Namespace, Name: it.Name}}
}

// Reconcile implements controller.Reconciler.
func (l collector) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	lease := api.LiveShared(leases, key.Namespace, key.Name)
	if lease == nil || lease.Labels()[boot.IdentityLabel] != "kube-apiserver" {
		return 0, nil
	}
	if left := expiry(lease, api.Now()).Sub(api.Now()); left > 0 {
		return left, nil
	}
	s := api.Delete(leases, key, controller.Preconditions{})
	if s != nil && s.Reason == status.ReasonNotFound {
		s = nil
	}
	return 0, s
}

// expiry returns when a lease is deleted: at the first full hour after it was created and has expired. One without a renewTime or a
// duration has expired from the beginning.
func expiry(lease object.Object, now time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, lease.String("metadata", "creationTimestamp"))
	if err != nil {
		at = now
	}
	renewed, err := time.Parse(time.RFC3339Nano, lease.String("spec", "renewTime"))
	if seconds, ok := lease.Get("spec", "leaseDurationSeconds"); err == nil && ok {
		n, _ := seconds.(int64)
		if expires := renewed.Add(time.Duration(n) * time.Second); expires.After(at) {
			at = expires
		}
	}
	return at.Truncate(leasePeriod).Add(leasePeriod)
}
