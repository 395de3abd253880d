package sim

import (
	"errors"

	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
)

// Shared connects the store of a Cluster to its copies in other processes.
type Shared = history.Shared

// Change is a change to a store that several processes share.
type Change = history.Change

// Share connects the store to x from now on, and publishes the commits after a revision, which the other processes do not have. It
// returns an error if they are compacted. Each process has its own API servers, controllers and caches: see Options.Number.
func (c *Cluster) Share(x Shared, since uint64) (err error) {
	c.do(func() { err = c.history.Share(x, since) })
	return err
}

// Yield calls f when no request is being processed. It does not call Shared.Acquire: f allows another process to write.
func (c *Cluster) Yield(f func()) { c.lock.yield(f) }

// Lead starts the controllers and kubelets of a Cluster with Options.Standby, after the process in which they ran has ended.
func (c *Cluster) Lead() { c.do(c.controllers.Lead) }

// SetPeers replaces the API servers in other processes that share the store. It returns an error if the configuration of one is
// invalid.
func (c *Cluster) SetPeers(peers []Peer) (err error) {
	c.do(func() {
		if err = c.servers.SetPeers(peers); err == nil {
			c.machines.peers = peers
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
// addresses from the endpoints of the Service kubernetes, and their leadership of coordinated leader election.
func (c *Cluster) Leave() {
	c.do(func() {
		c.controllers.Add(server.Leadership, server.StopKey)
		if c.options.EndpointReconciler == "master-count" {
			c.controllers.Add(server.KubernetesService, server.StopKey)
		}
	})
}
