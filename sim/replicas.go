package sim

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/replica"
)

// Replica is one API server of a Cluster with watch caches of its own.
type Replica struct {
	c *Cluster
	r *replica.Server
}

// Replica returns replica n, counted from 1, or nil.
func (c *Cluster) Replica(n int) *Replica {
	if r := c.servers.At(n); r != nil {
		return &Replica{c, r}
	}
	return nil
}

// Replicas returns how many replicas there are.
func (c *Cluster) Replicas() int { return c.servers.Len() }

// Server returns the API server of replica n, counted from 1.
func (c *Cluster) Server(n int) *apiserver.Server { return c.servers.At(n).API() }

// State returns the current state of the replica.
func (r *Replica) State() ReplicaState { return under(r.c, r.r.Status) }

// Lag stops the replica from applying commits to the resources, named as "pods" or "deployments.apps", or to all. Its
// watches fall silent, and its caches stay as they are.
func (r *Replica) Lag(resources ...string) (err error) {
	r.c.do(func() { err = r.r.Lag(resources...) })
	return err
}

// Cut disconnects the replica from the store. Watches stay open, and the contents of the caches are still served.
func (r *Replica) Cut() { r.c.do(r.r.Cut) }

// Resume ends Lag and Cut: the replica applies all missed commits, in order, and sends them to its watches. If the store has
// compacted some of them, the caches are filled again and the watches end.
func (r *Replica) Resume() { r.c.do(r.r.Resume) }

// Restart restarts the replica: its watches end, and its caches are filled again. Afterwards it reaches the store.
func (r *Replica) Restart() { r.c.do(r.r.Restart) }

// Unready makes the replica refill the watch caches of the resources, or all of them, which takes d: their watches end, and until
// then no watch of them begins and most lists are refused, with 429. Clients see this from an API server in the first seconds after
// a restart, and for a resource whose definition is new.
func (r *Replica) Unready(d time.Duration, resources ...string) (err error) {
	r.c.do(func() { err = r.r.Unready(d, resources...) })
	return err
}

// Stall silences the replica's open watches: their connections stay open and carry nothing any more. After d they break,
// as a client notices that pings get no answer (client-go: 30 s and 15 s); d of 0 is never.
func (r *Replica) Stall(d time.Duration) { r.c.do(func() { r.r.Stall(d) }) }

// CloseWatches ends the replica's open watches in an orderly way.
func (r *Replica) CloseWatches() { r.c.do(r.r.CloseWatches) }

// Hold keeps back the watch events, and the ends of watches, of clients whose User-Agent begins with client, on every
// replica and for watches to come, until Release.
func (c *Cluster) Hold(client string) { c.do(func() { c.servers.Hold(client) }) }

// Release sends, all at once, the events that Hold of the same client keeps back.
func (c *Cluster) Release(client string) { c.do(func() { c.servers.Release(client) }) }

// Route leads the requests of clients whose User-Agent begins with client to replica n from now on. Open watches stay
// where they are. The longest such client counts; without one it is replica 1.
func (c *Cluster) Route(client string, n int) error {
	if c.Replica(n) == nil {
		return fmt.Errorf("there is no replica %d: there are %d, counted from 1", n, c.Replicas())
	}
	c.do(func() { c.servers.Route(client, n) })
	return nil
}

// APIServerFor returns the API server that a client with the User-Agent reaches.
func (c *Cluster) APIServerFor(userAgent string) (api *apiserver.Server) {
	if c.servers.Len() == 1 {
		return c.servers.First().API()
	}
	c.do(func() { api = c.servers.APIServerFor(userAgent) })
	return api
}
