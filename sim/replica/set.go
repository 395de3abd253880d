// Package replica has the API servers of a cluster: each is one apiserver.Server with watch caches of its own, over the store that
// all of them share.
//
//	         Set ─ Host: log, history, clock, random numbers, authentication
//	          ├─ Server 1: apiserver ─▶ registry ─▶ Log.Store
//	commit ─▶ │            watch caches ◀─ Committed: all apply a commit, then waiting requests resume
//	          └─ Server 2: …    lags: its caches stand still
//	                            cut: it does not reach the store
//
// A Server of an older release, or with other gates, has a Profile of its own and reads what the others have stored. The
// Cluster's lock guards everything here.
package replica

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/auth/token"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/resource"
)

// Host provides the parts of the cluster that the API servers need.
type Host struct {
	Cluster
	Schedule *clock.Schedule
	Random   *random.Streams
	Lock     Lock
	Nodes    *kubelet.Nodes

	Config *config.Cluster
	Auth   auth.Options
	Tokens *token.Authority // of service accounts
}

// Cluster provides the parts that themselves need the API servers. New does not ask for them.
type Cluster interface {
	Log() *commit.Log
	History() *history.History
	Aggregator() *aggregator.Aggregator
	// Listener observes the servers.
	Listener() Listener
}

// Lock is the Cluster's lock as its servers use it.
type Lock interface {
	sync.Locker
	// Unlocked calls f without the lock, in the middle of a request.
	Unlocked(f func())
	// Wait returns when d of the Cluster's time has passed, or ctx ends. It is called without the lock.
	Wait(ctx context.Context, d time.Duration)
	// Pause lets the time between two writes of one request pass.
	Pause()
}

// Listener observes the servers, which are counted from 1.
type Listener interface {
	// Applied is called when a server has applied a commit, before its watches are notified.
	Applied(server int, c *commit.Commit)
	// Hook returns what observes the requests of a server, or nil if nothing does.
	Hook(server int) apiserver.Hook
	// Asked is called with each decision of a server about what a user may do.
	Asked(server int, at auth.Attributes, allowed bool)
}

// Set is all API servers of a cluster.
type Set struct {
	Host
	Conversions Conversions
	Webhooks    Webhooks

	list   []*Server
	held   map[string]bool // clients whose watch events are kept back
	routes map[string]int  // servers that clients reach, by the beginning of their User-Agent

	started []*Server // since the last TakeStarted
}

// New returns API servers, one of each profile. They serve nothing before they were restarted or loaded.
func New(h Host, profiles []*Profile) *Set {
	s := &Set{Host: h, held: map[string]bool{}, routes: map[string]int{}}
	for i, p := range profiles {
		s.list = append(s.list, newServer(s, i+1, p))
	}
	return s
}

// Len returns how many servers there are.
func (s *Set) Len() int { return len(s.list) }

// At returns server n, counted from 1, or nil.
func (s *Set) At(n int) *Server {
	if n < 1 || n > len(s.list) {
		return nil
	}
	return s.list[n-1]
}

// First is the first server.
func (s *Set) First() *Server { return s.list[0] }

// Leader returns the server whose controllers do the work: the first one that has applied all commits, otherwise the first.
func (s *Set) Leader() *Server {
	for _, r := range s.list {
		if !r.lagsAll && !r.unreachable && len(r.lagging) == 0 {
			return r
		}
	}
	return s.list[0]
}

// Definition implements commit.Definitions: it returns the first server's hub definition of a storage name, or nil.
func (s *Set) Definition(storage string) *resource.Definition { return s.list[0].Definition(storage) }

// Committed implements commit.Listener.
func (s *Set) Committed(c *commit.Commit) {
	for _, r := range s.list {
		r.Apply(c)
	}
	for _, r := range s.list {
		r.wake() // a resumed request may write: all servers apply this commit before the next
	}
}

// Compacted implements history.Caches. A server that is cut learns of the compaction when it resumes.
func (s *Set) Compacted(rev uint64) {
	for _, r := range s.list {
		if !r.unreachable {
			r.compacted(rev)
		}
	}
}

// Forget implements history.Caches.
func (s *Set) Forget() {
	for _, r := range s.list {
		r.forget()
	}
}

// Reset forgets which clients are held and routed, and what webhooks have converted.
func (s *Set) Reset() {
	s.Conversions.memory.Forget()
	s.held, s.routes = map[string]bool{}, map[string]int{}
}

// End answers the waiting reads, as if they had timed out, and ends all watches.
func (s *Set) End() {
	for _, r := range s.list {
		r.end()
	}
}

// Restart restarts all servers when the store was as view.
func (s *Set) Restart(view *mvcc.View) {
	s.started = nil
	for _, r := range s.list {
		r.restartAt(view)
	}
}

// restarted notes that a server has been started over existing data.
func (s *Set) restarted(r *Server) { s.started = append(s.started, r) }

// TakeStarted returns the servers that have been started over existing data since the last call, in this order.
func (s *Set) TakeStarted() []*Server {
	started := s.started
	s.started = nil
	return started
}

// Reread makes every server read stored custom resources again, because their conversion may have changed.
func (s *Set) Reread() {
	s.Conversions.memory.Forget()
	for _, r := range s.list {
		r.redefine()
	}
}

// Adopt copies the registered functions of other servers, before these are loaded.
func (s *Set) Adopt(other *Set) {
	s.Webhooks.adopt(&other.Webhooks)
	s.Conversions.adopt(&other.Conversions)
}

// Rediscover implements aggregator.Servers: it notifies the servers that discovery has changed.
func (s *Set) Rediscover() {
	for _, r := range s.list {
		r.api.Discovery.Changed()
	}
}

// documents are the discovery documents of all servers.
func (s *Set) documents() []*discovery.Documents {
	var all []*discovery.Documents
	for _, r := range s.list {
		all = append(all, r.api.Discovery)
	}
	return all
}

// Hold keeps back the watch events, and the ends of watches, of clients whose User-Agent begins with client, on every
// server and for watches to come, until Release.
func (s *Set) Hold(client string) {
	s.held[client] = true
	for _, r := range s.list {
		for _, w := range r.Watches(client) {
			w.Hold()
		}
	}
}

// Release sends, all at once, the events that Hold of the same client keeps back.
func (s *Set) Release(client string) {
	delete(s.held, client)
	for _, r := range s.list {
		for _, w := range r.Watches(client) {
			w.Release()
		}
	}
}

// Route leads the requests of clients whose User-Agent begins with client to server n from now on.
func (s *Set) Route(client string, n int) { s.routes[client] = n }

// APIServerFor returns the API server that a client with the User-Agent reaches.
func (s *Set) APIServerFor(userAgent string) *apiserver.Server {
	best, n := "", 1
	for _, client := range object.SortedKeys(s.routes) {
		if strings.HasPrefix(userAgent, client) && len(client) >= len(best) {
			best, n = client, s.routes[client]
		}
	}
	return s.list[n-1].api
}
