//go:build !page

package node

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// IPAMController is the name of the controller that IPAM returns. kube-controller-manager runs it with --allocate-node-cidrs.
const IPAMController = "node-ipam-controller"

// podCIDRs is the number of ranges in the range of a cluster: 10.244.0.0/16 or fd00:10:244::/56 (--cluster-cidr).
const podCIDRs = 256

// IPAM gives each node without podCIDR a range for the addresses of its pods, of each IP family (pkg/controller/nodeipam). Simulated
// nodes get theirs when their kubelets register them.
//
//	10.244.0.0/24, 10.244.1.0/24, …   fd00:10:244::/64, fd00:10:244:1::/64, …
func IPAM(families []string) controller.Controller {
	c := controller.Account(IPAMController, "node-controller", &ipam{families: families}, controller.Watch{Resource: nodeObjects})
	c.Component = "cidrAllocator"
	return c
}

type ipam struct {
	families []string
	memory   struct {
		Next map[string]int `json:",omitempty"` // by family: number of the range at which the next search begins
	}
}

// Memory implements controller.Rememberer.
func (r *ipam) Memory() any { return &r.memory }

// podCIDR returns range n of a family.
func podCIDR(family string, n int) netip.Prefix {
	if family == "IPv6" {
		return netip.MustParsePrefix(fmt.Sprintf("fd00:10:244:%x::/64", n))
	}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(n), 0}), 24)
}

// Reconcile implements controller.Reconciler.
func (r *ipam) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	node := api.GetShared(nodeObjects, "", key.Name)
	if node == nil || len(node.List("spec", "podCIDRs")) > 0 {
		return 0, nil
	}
	used := usedRanges(api)
	if r.memory.Next == nil {
		r.memory.Next = map[string]int{}
	}
	var all []string
	for i, family := range r.families {
		n, ok := r.next(family, used)
		if !ok {
			recordNodeEvent(api, key.Name, node.UID(), "CIDRNotAvailable", fmt.Sprintf("Node %s status is now: CIDRNotAvailable", key.Name))
			return 0, status.Internal(fmt.Errorf("failed to allocate cidr from cluster cidr at idx:%d: CIDR allocation failed; "+
				"there are no remaining CIDRs left to allocate in the accepted range", i))
		}
		r.memory.Next[family] = (n + 1) % podCIDRs
		all = append(all, podCIDR(family, n).String())
	}
	return 0, api.Patch(nodeObjects, "", key, func(live object.Object) {
		live.Set(all[0], "spec", "podCIDR")
		live.Set(object.FromStrings(all), "spec", "podCIDRs")
	})
}

// next returns the number of the next free range of a family.
func (r *ipam) next(family string, used []netip.Prefix) (n int, ok bool) {
	taken := map[int]bool{}
	for _, p := range used {
		for i := range podCIDRs {
			if podCIDR(family, i).Overlaps(p) {
				taken[i] = true
			}
		}
	}
	for i := range podCIDRs {
		if n = (r.memory.Next[family] + i) % podCIDRs; !taken[n] {
			return n, true
		}
	}
	return 0, false
}

// usedRanges returns the ranges of all nodes.
func usedRanges(api *controller.Client) (used []netip.Prefix) {
	api.Items(nodeObjects, "", func(it *resource.Item) bool {
		for _, text := range it.Shared().Strings("spec", "podCIDRs") {
			if p, err := netip.ParsePrefix(text); err == nil { // always true, because ranges are validated
				used = append(used, p)
			}
		}
		return true
	})
	return used
}
