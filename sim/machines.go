package sim

import (
	"cmp"
	"errors"
	"slices"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/controller/server"
)

// Peer is an API server in another process that shares the store.
type Peer = config.Peer

// machines knows the machines of all API servers over the store: those of the Cluster, and peers.
type machines struct {
	options *Options
	own     int // number of the Cluster's servers
	peers   []Peer
}

// SetPeers replaces the API servers in other processes that share the store. It returns an error if the configuration of one is
// invalid.
func (c *Cluster) SetPeers(peers []Peer) (err error) {
	c.do(func() {
		if err = c.servers.SetPeers(peers); err == nil {
			c.machines.peers = slices.Clone(peers)
			c.controllers.Add(server.KubernetesService, server.MembersKey)
		}
	})
	return err
}

// errShared is the error of operations that replace the whole store.
var errShared = errors.New("the store cannot be replaced while other API servers share it")

// alone returns an error if API servers in other processes share the store.
func (c *Cluster) alone() error {
	return under(c, func() error {
		if len(c.machines.peers) > 0 {
			return errShared
		}
		return nil
	})
}

// Leave removes what belongs to the API servers of the Cluster while they run: with the endpoint reconciler master-count, their
// addresses from the endpoints of the Service kubernetes. Other reconcilers leave it to the remaining servers.
func (c *Cluster) Leave() {
	if c.options.EndpointReconciler == "master-count" {
		c.do(func() { c.controllers.Add(server.KubernetesService, server.StopKey) })
	}
}

// host returns the name of the machine of a server of the Cluster. Servers are counted from 0 here.
func (m *machines) host(i int) string { return boot.HostName(m.number(i)) }

// number returns the number of a server of the Cluster among all servers over the store.
func (m *machines) number(i int) int { return max(m.options.Number, 1) + i }

// address returns the advertised address of a server of the Cluster.
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
