package kubelet

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Addresses of nodes and pods. A node numbers the addresses of its pods. If the cluster has two IP families, a pod has the same number
// in the node's ranges of both.
//
//	node   172.18.0.2      fc00:172:18::2
//	pods   10.244.0.0/24   fd00:10:244::/64

// perFamily returns the values for the IP families of the cluster, in their order.
func (k *Kubelet) perFamily(v4, v6 string) (all []string) {
	for _, family := range k.nodes.families {
		if family == "IPv6" {
			all = append(all, v6)
		} else {
			all = append(all, v4)
		}
	}
	return all
}

// podRange6 returns the range of the node's IPv6 pod addresses.
func (k *Kubelet) podRange6() netip.Prefix {
	return netip.MustParsePrefix(fmt.Sprintf("fd00:10:244:%x::/64", k.index))
}

// podCIDRs returns the ranges of the node's pod addresses, one of each IP family.
func (k *Kubelet) podCIDRs() []string {
	return k.perFamily(k.podRange()+"0/24", k.podRange6().String())
}

// hostIPs returns the addresses of the node, one of each IP family. An imported node has one address.
func (k *Kubelet) hostIPs() []string {
	if k.memory.Host != "" {
		return []string{k.memory.Host}
	}
	n := k.index + 2
	return k.perFamily(fmt.Sprintf("172.18.%d.%d", n/256, n%256), fmt.Sprintf("fc00:172:18::%x", n))
}

// podIPs returns the addresses of a pod, one of each IP family, or nil if it has none yet. An imported pod has one address.
func (k *Kubelet) podIPs(p *pod, obj object.Object) []string {
	switch {
	case obj.True("spec", "hostNetwork"):
		return k.hostIPs()
	case p.IP != "":
		return []string{p.IP}
	case p.Address == 0:
		return nil
	}
	v6 := k.podRange6().Addr().As16()
	v6[15] = byte(p.Address)
	return k.perFamily(fmt.Sprint(k.podRange(), p.Address), netip.AddrFrom16(v6).String())
}

// podIP returns the first address of a pod, or "" if it has none yet.
func (k *Kubelet) podIP(p *pod, obj object.Object) string {
	if ips := k.podIPs(p, obj); len(ips) > 0 {
		return ips[0]
	}
	return ""
}

// numberOf returns the number of a pod's address in the node's ranges, or 0 if it is in none of them.
func (k *Kubelet) numberOf(ip string) int {
	if rest, ok := strings.CutPrefix(ip, k.podRange()); ok {
		n, _ := strconv.Atoi(rest) // 0 for another address
		return n
	}
	if addr, err := netip.ParseAddr(ip); err == nil && k.podRange6().Contains(addr) {
		return int(addr.As16()[15])
	}
	return 0
}

// ipList returns the value of podIPs and hostIPs in the status of a pod.
func ipList(ips []string) (all []any) {
	for _, ip := range ips {
		all = append(all, map[string]any{"ip": ip})
	}
	return all
}

// podRange returns the prefix of the node's pod addresses. The ranges of nodes are 10.244.0.0/16 to 10.255.0.0/16, followed by
// those from 10.128.0.0/16.
func (k *Kubelet) podRange() string {
	if k.memory.Range != "" {
		return k.memory.Range
	}
	const first, last, next = 244, 255, 128
	second := first + k.index/256
	if second > last {
		second += next - last - 1
	}
	return fmt.Sprintf("10.%d.%d.", second, k.index%256)
}

// addressMax is the last address in a node's pod range.
const addressMax = 254

// address allocates an address for a pod and returns its number in the range, or 0 if there is no free address.
func (k *Kubelet) address() int {
	taken := k.addresses()
	for range addressMax {
		if k.memory.Address++; k.memory.Address > addressMax {
			k.memory.Address = 2
		}
		if n := k.memory.Address; n > 1 && !taken[n] {
			taken[n] = true
			return n
		}
	}
	return 0
}

// addresses returns which addresses the pods of the node have, by number.
func (k *Kubelet) addresses() *[addressMax + 1]bool {
	if k.memory.addresses == nil {
		k.memory.addresses = new([addressMax + 1]bool)
		for _, p := range k.memory.Pods { // order does not matter: a set
			if p.Address > 0 && p.Address <= addressMax { // a client may have written another one
				k.memory.addresses[p.Address] = true
			}
		}
	}
	return k.memory.addresses
}
