package sim

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
)

// Peer is an API server in another process that shares the store.
type Peer = config.Peer

// machines describes the machines of all API servers over the store: those of a Cluster, and peers.
type machines struct {
	options *Options
	own     int // number of the Cluster's servers
	peers   []Peer
}

// host returns the name of the machine of one of the own servers. Servers are counted from 0 here.
func (m *machines) host(i int) string { return boot.HostName(m.number(i)) }

// number returns the number of one of the own servers among all servers over the store.
func (m *machines) number(i int) int { return max(m.options.Number, 1) + i }

// address returns the advertised address of one of the own servers.
func (m *machines) address(i int) string {
	address := boot.Address(m.options.ServicePrefixes(), m.number(i)-1)
	if i == 0 {
		address = cmp.Or(m.options.Advertise, address)
	}
	return address
}

// Servers implements server.Machines.
func (m *machines) Servers() (all []boot.Server) {
	for i := range m.own {
		all = append(all, boot.Server{Host: m.host(i), Address: m.address(i)})
	}
	return all
}

// Holds implements server.Machines. It reports whether a lease belongs to an API server over the store.
func (m *machines) Holds(lease string) bool {
	for i := range m.own {
		if lease == boot.LeaseName(m.host(i)) {
			return true
		}
	}
	return slices.ContainsFunc(m.peers, func(p Peer) bool { return lease == boot.LeaseName(boot.HostName(p.Number)) })
}

// Port implements server.Machines.
func (m *machines) Port() int { return cmp.Or(m.options.Port, boot.Port) }

// PeerAddresses implements server.Machines.
func (m *machines) PeerAddresses() (all []string) {
	for _, p := range m.peers {
		if p.EndpointReconciler == "" || p.EndpointReconciler == "lease" {
			all = append(all, cmp.Or(p.Address, boot.Address(m.options.ServicePrefixes(), p.Number-1)))
		}
	}
	return all
}
