package network

import (
	"net/netip"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	serviceCIDRs = "servicecidrs.networking.k8s.io"
	ipAddresses  = "ipaddresses.networking.k8s.io"

	cidrController = "service-cidr-controller"
	cidrFinalizer  = "networking.k8s.io/service-cidr-finalizer"

	// cidrGrace is the time for which a ServiceCIDR is kept after its deletion, because allocators may not have observed the
	// deletion yet.
	cidrGrace = 10 * time.Second
)

// ServiceCIDR keeps a deleted ServiceCIDR as long as services have addresses that are only in its ranges
// (pkg/controller/servicecidrs).
func ServiceCIDR() controller.Controller {
	c := controller.Account(cidrController, "service-cidrs-controller", controller.Func(keepCIDR),
		controller.Watch{Resource: serviceCIDRs, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			keys := []controller.Key{{Name: c.Name}}
			if !c.Created() {
				return keys
			}
			own := prefixesOf(c.Item())
			return append(keys, rangesWith(api, func(p netip.Prefix) bool { return slices.ContainsFunc(own, p.Overlaps) })...)
		}},
		controller.Watch{Resource: ipAddresses, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
			at, allocated := allocatedAddress(c.Item())
			if !allocated || !c.Created() && !c.Deleted() {
				return nil
			}
			return rangesWith(api, func(p netip.Prefix) bool { return hosts(p, at) })
		}})
	c.Retries = maxRetries
	return c
}

// prefixesOf returns the ranges of a ServiceCIDR.
func prefixesOf(it *resource.Item) []netip.Prefix {
	return resource.Derived(it, func(obj object.Object) (all []netip.Prefix) {
		for _, text := range obj.Strings("spec", "cidrs") {
			if p, err := netip.ParsePrefix(text); err == nil { // always true, because ranges are validated
				all = append(all, p)
			}
		}
		return all
	})
}

// rangesWith returns the keys of the ServiceCIDRs that have a range for which f returns true.
func rangesWith(api *controller.Client, f func(netip.Prefix) bool) (keys []controller.Key) {
	api.Items(serviceCIDRs, "", func(it *resource.Item) bool {
		if slices.ContainsFunc(prefixesOf(it), f) {
			keys = append(keys, controller.Key{Name: it.Name})
		}
		return true
	})
	return keys
}

// allocatedAddress returns the address of an IPAddress, and reports whether an API server has allocated it.
func allocatedAddress(it *resource.Item) (at netip.Addr, ok bool) {
	by, _ := it.Label("ipaddress.kubernetes.io/managed-by")
	at, err := netip.ParseAddr(it.Name)
	return at, err == nil && by == "ipallocator.k8s.io"
}

// hosts reports whether a service may have a given address in a range. The network address and the broadcast address cannot be
// allocated (servicecidr.PrefixContainsIP).
func hosts(p netip.Prefix, at netip.Addr) bool {
	if !p.Contains(at) || p.Masked().Addr() == at {
		return false
	}
	next := at.Next()
	return !at.Is4() || next.IsValid() && p.Contains(next)
}

func keepCIDR(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	it := api.Item(serviceCIDRs, "", key.Name)
	if it == nil {
		return 0, nil
	}
	obj := it.Object()
	held := slices.Contains(obj.Finalizers(), cidrFinalizer)
	if obj.DeletionTimestamp() == "" {
		if !held {
			failed := api.Patch(serviceCIDRs, "", key, func(live object.Object) {
				live.SetFinalizers(append(live.Finalizers(), cidrFinalizer))
			})
			if failed = workload.Found(failed); failed != nil {
				return 0, failed
			}
		}
		failed := reportCIDR(api, obj, "True", "", "Kubernetes Service CIDR is ready")
		if failed != nil {
			_ = api.Event(obj, "Warning", "KubernetesServiceCIDRError", "The ServiceCIDR Status can not be set to Ready=True")
		}
		return 0, failed
	}
	if needed(api, it) {
		return 0, reportCIDR(api, obj, "False", "Terminating",
			"There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR")
	}
	if left := workload.TimeOf(obj.DeletionTimestamp()).Add(cidrGrace).Sub(api.Now()); left > 0 || !held {
		return max(left, 0), nil
	}
	failed := api.Patch(serviceCIDRs, "", key, func(live object.Object) {
		live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(name string) bool { return name == cidrFinalizer }))
	})
	return 0, workload.Found(failed)
}

// needed reports whether services have addresses that are in no range other than those of a ServiceCIDR.
func needed(api *controller.Client, it *resource.Item) bool {
	alone := slices.ContainsFunc(prefixesOf(it), func(own netip.Prefix) bool {
		around := rangesWith(api, func(p netip.Prefix) bool { return p.Overlaps(own) && p.Bits() <= own.Bits() })
		return len(around) < 2 && !slices.ContainsFunc(around, func(k controller.Key) bool { return k.Name != it.Name })
	})
	if !alone {
		return false
	}
	found := false
	api.Items(ipAddresses, "", func(x *resource.Item) bool {
		at, allocated := allocatedAddress(x)
		if !allocated || !slices.ContainsFunc(prefixesOf(it), func(p netip.Prefix) bool { return hosts(p, at) }) {
			return true
		}
		found = len(rangesWith(api, func(p netip.Prefix) bool { return hosts(p, at) })) == 1
		return !found
	})
	return found
}

// reportCIDR sets the condition Ready of a ServiceCIDR with a server-side apply, unless the stored condition is equal.
func reportCIDR(api *controller.Client, obj object.Object, value, reason, message string) *status.Status {
	c := obj.Condition("Ready")
	if c != nil && c.String("status") == value && c.String("reason") == reason && c.String("message") == message {
		return nil
	}
	_, failed := api.As(cidrController).Apply(serviceCIDRs, "status", controller.Key{Name: obj.Name()}, object.Object{"status": map[string]any{
		"conditions": []any{map[string]any{"type": "Ready", "status": value, "reason": reason, "message": message,
			"lastTransitionTime": object.Time(api.Now())}}}})
	return failed
}
