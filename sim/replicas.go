package sim

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// What can happen to a replica, and what its clients see of it:
//
//	          caches        reads of the newest state       writes
//	Lag       stand still   3 s, then the store (lists)      as ever
//	                        or 504 (watch-list)
//	Cut       stand still   500 at once                      500
//	Restart   filled anew   as ever; watches end             as ever
//	Resume    catch up      as ever                          as ever
//	Unready   being filled  429, or the store                as ever; watches end
//
// A get without a resourceVersion asks the store, so Lag does not concern it. Reads that ask for "0", or for a revision
// that the caches have, are answered all the time.

// Replica returns replica n, counted from 1, or nil.
func (c *Cluster) Replica(n int) *Replica {
	if n < 1 || n > len(c.replicas) {
		return nil
	}
	return c.replicas[n-1]
}

// Replicas returns how many replicas there are.
func (c *Cluster) Replicas() int { return len(c.replicas) }

// ReplicaState is what a replica is like and what has happened to it.
type ReplicaState struct {
	Version  string   `json:"version"`
	Revision uint64   `json:"revision"` // up to which it knows everything, resources aside that lag on their own
	Cut      bool     `json:"cut"`
	Lagging  []string `json:"lagging"` // storage names of resources; "*" is everything
	Watches  int      `json:"watches"`
	Unready  []string `json:"unready"` // storage names of resources whose caches are being filled; "*" is everything
}

// State returns what the replica is like now.
func (r *Replica) State() ReplicaState {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	s := ReplicaState{Version: r.profile.release, Revision: r.position.Rev(), Cut: r.unreachable, Lagging: []string{},
		Unready: r.notReady()}
	if r.lagsAll {
		s.Lagging = append(s.Lagging, "*")
	}
	s.Lagging = append(s.Lagging, object.SortedKeys(r.lagging)...)
	for _, w := range r.open {
		if !w.Ended() {
			s.Watches++
		}
	}
	return s
}

// Lag stops the replica from applying commits to the resources, named as "pods" or "deployments.apps", or to all. Its
// watches fall silent, and its caches stay as they are.
func (r *Replica) Lag(resources ...string) error {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	return r.lag(resources...)
}

func (r *Replica) lag(resources ...string) error {
	if len(resources) == 0 {
		r.lagsAll = true
		return nil
	}
	names, err := r.storageNames(resources)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !r.lagging[name] {
			r.cache(name).Follow(&watchcache.Position{View: r.position.View})
			r.lagging[name] = true
		}
	}
	return nil
}

// storageNames returns where resources are stored.
func (r *Replica) storageNames(resources []string) ([]string, error) {
	var names []string
	for _, text := range resources {
		at := len(names)
		for _, d := range r.server.Table.All() {
			if text == d.Resource || text == d.Resourced().String() || text == d.Storage {
				names = append(names, d.Storage)
			}
		}
		if len(names) == at {
			return nil, fmt.Errorf("the replica serves no resource %q; name one as pods or deployments.apps", text)
		}
	}
	return names, nil
}

// Cut takes the store out of the replica's reach. Watches stay open, and what the caches have is still served.
func (r *Replica) Cut() {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	r.cut()
}

func (r *Replica) cut() { r.unreachable = true }

// Resume ends Lag and Cut: the replica applies all that it has missed, in order, and its watches tell of it. Where the
// store has forgotten some of it, the caches are filled anew and the watches end.
func (r *Replica) Resume() {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	r.resume()
}

func (r *Replica) resume() {
	alone := object.SortedKeys(r.lagging)
	r.lagsAll, r.unreachable, r.lagging = false, false, map[string]bool{}
	for _, name := range alone { // these have their own way to go, up to where the others are
		own := &watchcache.Position{View: r.caches[name].View()}
		r.caches[name].Follow(own)
		if r.replay(own, r.position.Rev(), func(storage string) bool { return storage == name }) {
			r.caches[name].Follow(r.position)
		} else {
			r.caches[name].Follow(r.position)
			r.refill(name)
		}
	}
	if !r.replay(r.position, r.cluster.log.Store.Rev(), func(string) bool { return true }) {
		r.refillAll()
	}
	if floor, known := r.cluster.history.Floor(); known { // a replica that was cut has not heard of compactions
		for _, name := range r.cacheNames() {
			r.caches[name].Compacted(floor)
		}
	}
	r.wake()
}

// replay applies the commits from a position up to a revision, those that concern the caller. It reports false when the
// store has forgotten some of them.
func (r *Replica) replay(p *watchcache.Position, until uint64, concerns func(storage string) bool) bool {
	store, now := r.cluster.log.Store, r.cluster.now()
	var events []*mvcc.Event
	err := store.Events(p.Rev(), func(e *mvcc.Event) bool {
		if e.Rev <= until {
			events = append(events, e)
		}
		return e.Rev < until
	})
	if err != nil {
		return false
	}
	for _, e := range events {
		view, err := store.At(e.Rev)
		if err != nil {
			return false
		}
		p.View = view
		if x := commit.Of(e, view, now, definitions{r.cluster}); concerns(x.Storage) {
			r.take(x)
		}
	}
	return true
}

// refill fills the cache of a resource anew at the replica's position; its watches end.
func (r *Replica) refill(name string) {
	r.caches[name].EndAll()
	r.caches[name].Forget()
	r.flow = nil
	if name == crd.Storage {
		r.redefine()
	}
}

// refillAll fills all caches anew at the newest revision; all watches end.
func (r *Replica) refillAll() {
	r.position.View = r.cluster.log.Newest()
	r.filled, r.flow = r.position.Rev(), nil
	for _, name := range r.cacheNames() {
		r.caches[name].EndAll()
		r.caches[name].Forget()
	}
	r.redefine()
}

// Restart restarts the replica: its watches end, and its caches are filled anew. It reaches the store afterwards.
func (r *Replica) Restart() {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	r.restart()
}

// Stall silences the replica's open watches: their connections stay open and carry nothing any more. After d they break,
// as a client notices that pings get no answer (client-go: 30 s and 15 s); d of 0 is never.
func (r *Replica) Stall(d time.Duration) {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	for _, w := range r.watches("") {
		w.Stall()
		if d > 0 {
			r.cluster.schedule.After(d, w.Break)
		}
	}
}

// CloseWatches ends the replica's open watches in an orderly way.
func (r *Replica) CloseWatches() {
	r.cluster.door.Lock()
	defer r.cluster.door.Unlock()
	for _, w := range r.watches("") {
		w.End()
	}
}

// opened is told of each watch.
func (r *Replica) opened(e *apiserver.Exchange, w *watchcache.Watch) {
	if len(r.open) >= r.prune {
		r.open = slices.DeleteFunc(r.open, (*watchcache.Watch).Over)
		r.prune = 2*len(r.open) + 16
	}
	r.open = append(r.open, w)
	for _, client := range object.SortedKeys(r.cluster.held) {
		if strings.HasPrefix(e.UserAgent, client) {
			w.Hold()
		}
	}
}

// watches returns the open watches of clients whose User-Agent begins with client, and those whose end is held back.
func (r *Replica) watches(client string) []*watchcache.Watch {
	var out []*watchcache.Watch
	for _, w := range r.open {
		e, ok := w.Owner.(*apiserver.Exchange)
		if !w.Over() && ok && strings.HasPrefix(e.UserAgent, client) {
			out = append(out, w)
		}
	}
	return out
}

// Hold keeps back the watch events, and the ends of watches, of clients whose User-Agent begins with client, on every
// replica and for watches to come, until Release.
func (c *Cluster) Hold(client string) {
	c.door.Lock()
	defer c.door.Unlock()
	c.held[client] = true
	for _, r := range c.replicas {
		for _, w := range r.watches(client) {
			w.Hold()
		}
	}
}

// Release lets go, all at once, what Hold of the same client keeps back.
func (c *Cluster) Release(client string) {
	c.door.Lock()
	defer c.door.Unlock()
	delete(c.held, client)
	for _, r := range c.replicas {
		for _, w := range r.watches(client) {
			w.Release()
		}
	}
}

// Route leads the requests of clients whose User-Agent begins with client to replica n from now on. Open watches stay
// where they are. The longest such client counts; without one it is replica 1.
func (c *Cluster) Route(client string, n int) error {
	if c.Replica(n) == nil {
		return fmt.Errorf("there is no replica %d: there are %d, counted from 1", n, len(c.replicas))
	}
	c.door.Lock()
	defer c.door.Unlock()
	c.routes[client] = n
	return nil
}

// Routed returns the API server that a client with the User-Agent reaches.
func (c *Cluster) Routed(userAgent string) *apiserver.Server {
	if len(c.replicas) == 1 {
		return c.replicas[0].server
	}
	c.door.Lock()
	defer c.door.Unlock()
	best, n := "", 1
	for _, client := range object.SortedKeys(c.routes) {
		if strings.HasPrefix(userAgent, client) && len(client) >= len(best) {
			best, n = client, c.routes[client]
		}
	}
	return c.replicas[n-1].server
}

// Restore takes the store back to an older revision that it still has, as an etcd restored from a backup, and restarts
// the API servers: what was written since then has never happened, and its revisions are given out again.
func (c *Cluster) Restore(rev uint64) error {
	c.door.Lock()
	defer c.door.Unlock()
	if err := c.history.Restore(rev); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	for _, r := range c.replicas {
		r.restart()
	}
	return nil
}
