package sim

import "github.com/kubesim/kubesim/sim/history"

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
func (c *Cluster) Yield(f func()) {
	c.lock.mu.Lock()
	defer c.lock.mu.Unlock()
	f()
}

// Lead starts the controllers and kubelets of a Cluster with Options.Standby, after the process in which they ran has ended.
func (c *Cluster) Lead() { c.do(c.controllers.Lead) }
