package replica

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

// The disturbances of a replica, and their effects on clients:
//
//	          caches        reads of the newest state       writes
//	Lag       not updated   3 s, then the store (lists)      unaffected
//	                        or 504 (watch-list)
//	Cut       not updated   500 at once                      500
//	Restart   refilled      unaffected; watches end          unaffected
//	Resume    catch up      unaffected                       unaffected
//	Unready   being filled  429, or the store                unaffected; watches end
//
// A get without a resourceVersion reads from the store, so Lag does not affect it. Reads with resourceVersion "0", or a revision
// that the caches have reached, always succeed.

// Status is the state of a replica and its current disturbances.
type Status struct {
	Version  string   `json:"version"`
	Revision uint64   `json:"revision"` // last applied revision, except for resources that lag individually
	Cut      bool     `json:"cut"`
	Lagging  []string `json:"lagging"` // storage names of resources; "*" stands for all of them
	Watches  int      `json:"watches"`
	Unready  []string `json:"unready"` // storage names of resources whose caches are being filled; "*" stands for all of them
}

// Status returns the current state of the server.
func (r *Server) Status() Status {
	s := Status{Version: r.profile.release, Revision: r.position.Rev(), Cut: r.unreachable, Lagging: []string{},
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

// Lag stops the replica from applying commits to the given resources, such as "pods" or "deployments.apps", or to all resources.
// Its watches send no events, and its caches do not change. Lag returns an error if the replica does not serve one of the
// resources.
func (r *Server) Lag(resources ...string) error {
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

// storageNames returns the storage names of resources, or an error if the server does not serve one of them.
func (r *Server) storageNames(resources []string) ([]string, error) {
	var names []string
	for _, text := range resources {
		at := len(names)
		for _, d := range r.api.Table.All() {
			if text == d.Resource || text == d.GroupResource().String() || text == d.Storage {
				names = append(names, d.Storage)
			}
		}
		if len(names) == at {
			return nil, fmt.Errorf("the replica serves no resource %q; name one as pods or deployments.apps", text)
		}
	}
	return names, nil
}

// Cut disconnects the replica from the store. Watches stay open, and the caches can still be read.
func (r *Server) Cut() { r.unreachable = true }

// Resume ends Lag and Cut: the replica applies all missed commits in order and sends the events to its watches. If the store has
// compacted some of these commits, the caches are refilled and the watches end.
func (r *Server) Resume() {
	alone := object.SortedKeys(r.lagging)
	r.lagsAll, r.unreachable, r.lagging = false, false, map[string]bool{}
	for _, name := range alone { // these caches first catch up with the replica's position
		own := &watchcache.Position{View: r.caches[name].View()}
		r.caches[name].Follow(own)
		whole := r.replay(own, r.position.Rev(), func(storage string) bool { return storage == name })
		r.caches[name].Follow(r.position)
		if !whole {
			r.refill(name)
		}
	}
	if !r.replay(r.position, r.set.Log().Store.Rev(), func(string) bool { return true }) {
		r.refillAll()
	}
	if floor, known := r.set.History().Floor(); known { // a replica that was cut off has not been notified of compactions
		r.compacted(floor)
	}
	r.wake()
}

// replay applies the commits after a position and up to a revision. It applies only those for whose storage name concerns returns
// true. If the store has compacted some of the commits, it returns false.
func (r *Server) replay(p *watchcache.Position, until uint64, concerns func(storage string) bool) bool {
	store, now := r.set.Log().Store, r.set.Schedule.Now()
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
		if x := commit.Of(e, view, now, r.set); concerns(x.Storage) {
			r.take(x)
		}
	}
	return true
}

// refill refills the cache of a resource at the replica's position. Its watches end.
func (r *Server) refill(name string) {
	r.caches[name].Refill()
	r.flow = nil
	if name == crd.Storage {
		r.redefine()
	}
}

// refillAll refills all caches at the newest revision. All watches end.
func (r *Server) refillAll() {
	r.position.View = r.set.Log().Newest()
	r.filled, r.flow = r.position.Rev(), nil
	for _, name := range r.cacheNames() {
		r.caches[name].Refill()
	}
	r.redefine()
}

// Restart restarts the replica: its watches end, its caches are refilled, and it can reach the store.
func (r *Server) Restart() {
	r.restartAt(r.set.Log().Newest())
	r.set.restarted(r)
}

// Stall silences the replica's open watches: their connections stay open but carry no more data. After d they break, as if the
// client had noticed that pings remain unanswered (client-go: after 30 s and 15 s). If d is 0, they never break.
func (r *Server) Stall(d time.Duration) {
	for _, w := range r.Watches("") {
		w.Stall()
		if d > 0 {
			r.set.Schedule.After(d, w.Break)
		}
	}
}

// CloseWatches ends the replica's open watches gracefully, after the events that are already queued.
func (r *Server) CloseWatches() {
	for _, w := range r.Watches("") {
		w.End()
	}
}

// Watching implements apiserver.Host. It records an open watch.
func (r apiHost) Watching(e *apiserver.Exchange, w *watchcache.Watch) {
	if len(r.open) >= r.prune {
		r.open = slices.DeleteFunc(r.open, OpenWatch.Over)
		r.prune = 2*len(r.open) + 16
	}
	r.open = append(r.open, OpenWatch{w, e})
	for _, client := range object.SortedKeys(r.set.held) {
		if strings.HasPrefix(e.UserAgent, client) {
			w.Hold()
		}
	}
}

// Watches returns the open watches of clients whose User-Agent begins with client. It includes watches that have ended but whose
// end Hold delays.
func (r *Server) Watches(client string) []OpenWatch {
	var out []OpenWatch
	for _, w := range r.open {
		if !w.Over() && strings.HasPrefix(w.Exchange.UserAgent, client) {
			out = append(out, w)
		}
	}
	return out
}
