package server

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	leases = "leases.coordination.k8s.io"

	// leasePeriod is the interval at which an API server checks for expired leases (kube-apiserver, IdentityLeaseGCPeriod).
	leasePeriod = time.Hour
)

// Leases deletes the leases of API servers that are gone (KEP-1965; kube-apiserver, apiserverleasegc). The lease of an API server that
// runs never expires, although simulated servers do not renew it.
// kube-apiserver checks every hour from its start. This controller checks on the hour, and only while there is a lease to check.
func Leases(m Machines) controller.Controller {
	c := collector{m}
	return Own("apiserver-lease-garbage-collector", c, controller.Watch{Resource: leases, Keys: c.keys})
}

type collector struct{ machines Machines }

// keys returns the key of a lease that does not belong to a running API server.
func (l collector) keys(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() {
		return nil
	}
	it := c.Item()
	if it.Namespace != "kube-system" || l.machines.Holds(it.Name) || it.Shared().Labels()[boot.IdentityLabel] != "kube-apiserver" {
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

// expiry returns the time at which a lease is deleted: the first full hour after its creation and its expiry. A lease without a
// renewTime or a duration counts as expired since its creation.
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

// identity is the name of the controller Identity.
const identity = "apiserver-lease-controller"

// Identity creates the lease of each API server of the Cluster when it starts over existing data, and after the lease was deleted
// (KEP-1965). A real server renews its lease every ten seconds, this controller only creates it.
func Identity(m Machines) controller.Controller {
	return Own(identity, controller.Func(func(api *controller.Client, _ controller.Key) (time.Duration, *status.Status) {
		for _, s := range m.Servers() {
			if api.LiveShared(leases, "kube-system", boot.LeaseName(s.Host)) != nil {
				continue
			}
			if _, failed := api.Create(leases, s.Lease(m.Port(), api.Now())); failed != nil {
				return 0, failed
			}
		}
		return 0, nil
	}), controller.Watch{Resource: leases, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
		if c.Deleted() && c.Namespace == "kube-system" && strings.HasPrefix(c.Name, "apiserver-") {
			return []controller.Key{{}}
		}
		return nil
	}})
}
