package sim

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/replica"
)

// Replica is an API server of a Cluster. It has its own watch caches.
type Replica struct {
	c *Cluster
	r *replica.Server
}

// Replica returns the replica with number n, counted from 1, or nil.
func (c *Cluster) Replica(n int) *Replica {
	if r := c.servers.At(n); r != nil {
		return &Replica{c, r}
	}
	return nil
}

// Replicas returns the number of replicas.
func (c *Cluster) Replicas() int { return c.servers.Len() }

// Server returns the API server of the replica with number n, counted from 1. It panics if there is no such replica.
func (c *Cluster) Server(n int) *apiserver.Server { return c.servers.At(n).API() }

// State returns the current state of the replica.
func (r *Replica) State() ReplicaState { return under(r.c, r.r.Status) }

// Lag stops the replica from applying commits to the given resources, such as "pods" or "deployments.apps", or to all resources.
// Its watches send no events, and its caches do not change. Lag returns an error if the replica does not serve one of the
// resources.
func (r *Replica) Lag(resources ...string) (err error) {
	r.c.do(func() { err = r.r.Lag(resources...) })
	return err
}

// Cut disconnects the replica from the store. Watches stay open, and the caches can still be read.
func (r *Replica) Cut() { r.c.do(r.r.Cut) }

// Resume ends Lag and Cut: the replica applies all missed commits in order and sends the events to its watches. If the store has
// compacted some of these commits, the caches are refilled and the watches end.
func (r *Replica) Resume() { r.c.do(r.r.Resume) }

// Restart restarts the replica: its watches end, its caches are refilled, and it can reach the store.
func (r *Replica) Restart() { r.c.do(r.r.Restart) }

// Unready makes the replica refill the watch caches of the given resources, or all of its caches. That takes the time d. Their
// watches end. Until the caches are ready, new watches and most lists are rejected with 429. Clients observe this in the first
// seconds after an API server restarts, and for a resource whose definition is new.
func (r *Replica) Unready(d time.Duration, resources ...string) (err error) {
	r.c.do(func() { err = r.r.Unready(d, resources...) })
	return err
}

// Stall silences the replica's open watches: their connections stay open but carry no more data. After d they break, as if the
// client had noticed that pings remain unanswered (client-go: after 30 s and 15 s). If d is 0, they never break.
func (r *Replica) Stall(d time.Duration) { r.c.do(func() { r.r.Stall(d) }) }

// CloseWatches ends the replica's open watches gracefully, after the events that are already queued.
func (r *Replica) CloseWatches() { r.c.do(r.r.CloseWatches) }

// Hold delays the events and the end of every watch whose User-Agent begins with client, on all replicas, until Release. It also
// applies to watches opened later.
func (c *Cluster) Hold(client string) { c.do(func() { c.servers.Hold(client) }) }

// Release sends the events that an earlier Hold of the same client has delayed.
func (c *Cluster) Release(client string) { c.do(func() { c.servers.Release(client) }) }

// Route directs further requests of clients whose User-Agent begins with client to replica n. Open watches are not moved. If
// several routes match, the one with the longest prefix applies. If none matches, requests go to replica 1. Route returns an error
// if there is no such replica.
func (c *Cluster) Route(client string, n int) error {
	if c.Replica(n) == nil {
		return fmt.Errorf("there is no replica %d: the number of replicas is %d", n, c.Replicas())
	}
	c.do(func() { c.servers.Route(client, n) })
	return nil
}

// APIServerFor returns the API server to which requests with this User-Agent are routed.
func (c *Cluster) APIServerFor(userAgent string) (api *apiserver.Server) {
	if c.servers.Len() == 1 {
		return c.servers.First().API()
	}
	c.do(func() { api = c.servers.APIServerFor(userAgent) })
	return api
}
