// Package replica contains the API servers of a cluster. Each of them is an apiserver.Server with its own watch caches; all of them
// share one store.
//
//	         Set ─ Host: log, history, clock, random numbers, authentication
//	          ├─ Server 1: apiserver ─▶ registry ─▶ Log.Store
//	commit ─▶ │            watch caches ◀─ Committed: all apply a commit, then waiting requests resume
//	          └─ Server 2: …    lags: its caches are not updated
//	                            cut: it cannot reach the store
//
// A Server of an older release, or with other feature gates, has its own Profile and converts objects that other servers have
// stored. The Cluster's lock guards everything in this package.
package replica

import (
	"context"
	"slices"
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
	"github.com/kubesim/kubesim/sim/schema"
)

// Host connects the API servers to the other parts of the cluster.
type Host struct {
	Cluster
	Schedule *clock.Schedule
	Random   *random.Streams
	Lock     Lock
	Nodes    *kubelet.Nodes

	Config *config.Cluster
	Auth   auth.Options
	Tokens *token.Authority // for service accounts
}

// Cluster provides those parts of the cluster that depend on the API servers themselves. New does not access them.
type Cluster interface {
	Log() *commit.Log
	History() *history.History
	Aggregator() *aggregator.Aggregator
	// Listener returns the object that observes the servers.
	Listener() Listener
}

// Lock is the Cluster's lock.
type Lock interface {
	sync.Locker
	// Unlocked calls f without the lock during a request.
	Unlocked(f func())
	// Wait waits until d has passed on the Cluster's clock or ctx is done. It is called without the lock.
	Wait(ctx context.Context, d time.Duration)
	// Pause waits for the configured time between two writes of one request.
	Pause()
}

// Listener observes the servers. Servers are counted from 1.
type Listener interface {
	// Applied is called after a server has applied a commit and before it notifies its watches.
	Applied(server int, c *commit.Commit)
	// Hook returns the observer of a server's requests, or nil if there is none.
	Hook(server int) apiserver.Hook
	// Asked is called for each authorization decision of a server.
	Asked(server int, at auth.Attributes, allowed bool)
}

// Set contains all API servers of a cluster.
type Set struct {
	Host
	Conversions Conversions
	Webhooks    Webhooks

	list   []*Server
	peers  []*Server       // copies of the API servers in other processes, if a server has PeerProxy
	held   map[string]bool // clients whose watch events are held
	routes map[string]int  // server numbers by prefix of the User-Agent

	auditor apiserver.Auditor // nil if requests are not audited

	started []*Server // servers restarted since the last TakeStarted
}

// New returns an API server for each profile. The servers must be restarted or loaded before they can serve requests.
func New(h Host, profiles []*Profile) *Set {
	s := &Set{Host: h, held: map[string]bool{}, routes: map[string]int{}}
	for i, p := range profiles {
		s.list = append(s.list, newServer(s, i+1, p))
	}
	return s
}

// Audit sets the auditor of requests to all servers.
func (s *Set) Audit(a apiserver.Auditor) { s.auditor = a }

// Len returns the number of servers.
func (s *Set) Len() int { return len(s.list) }

// At returns the server with number n, counted from 1, or nil.
func (s *Set) At(n int) *Server {
	if n < 1 || n > len(s.list) {
		return nil
	}
	return s.list[n-1]
}

// First returns the first server.
func (s *Set) First() *Server { return s.list[0] }

// Leader returns the server that controllers use: the first server that has applied all commits, or else the first server.
func (s *Set) Leader() *Server {
	for _, r := range s.list {
		if !r.lagsAll && !r.unreachable && len(r.lagging) == 0 {
			return r
		}
	}
	return s.list[0]
}

// Definition implements commit.Definitions. It returns the hub definition of a storage name on the first server, or nil.
func (s *Set) Definition(storage string) *resource.Definition { return s.list[0].Definition(storage) }

// GroupVersions returns the group versions of built-in resources that the servers serve. If all of them have the default API, it
// returns nil.
func (s *Set) GroupVersions() (all []schema.GVK) {
	changed := false
	for _, r := range s.list {
		changed = changed || r.profile.flags["runtime-config"] != ""
		for _, d := range r.profile.served {
			if gv := (schema.GVK{Group: d.Group, Version: d.Version}); !slices.Contains(all, gv) {
				all = append(all, gv)
			}
		}
	}
	if !changed {
		return nil
	}
	return all
}

// Committed implements commit.Listener.
func (s *Set) Committed(c *commit.Commit) {
	for _, r := range s.all() {
		r.Apply(c)
	}
	if !s.History().Following() {
		s.Followed() // a resumed request may write: all servers must apply this commit before that write
	}
}

// Followed implements history.Caches. It resumes the reads that waited for the commits.
func (s *Set) Followed() {
	for _, r := range s.all() {
		r.wake()
	}
}

// Compacted implements history.Caches. A server that is cut off is not notified of the compaction until Resume.
func (s *Set) Compacted(rev uint64) {
	for _, r := range s.all() {
		if !r.unreachable {
			r.compacted(rev)
		}
	}
}

// Forget implements history.Caches.
func (s *Set) Forget() {
	for _, r := range s.all() {
		r.forget()
	}
}

// Reset ends all holds and routes of clients, and clears the cached results of conversion webhooks.
func (s *Set) Reset() {
	s.Conversions.memory.Forget()
	s.held, s.routes = map[string]bool{}, map[string]int{}
}

// End makes all waiting reads continue as if they had timed out, and ends all watches.
func (s *Set) End() {
	for _, r := range s.all() {
		r.end()
	}
}

// Restart restarts all servers. Their caches are filled from view.
func (s *Set) Restart(view *mvcc.View) {
	s.started = nil
	for _, r := range s.all() {
		r.restartAt(view)
	}
}

// restarted records that a server was started with existing data.
func (s *Set) restarted(r *Server) { s.started = append(s.started, r) }

// TakeStarted returns the servers that were started with existing data since the last call, in order.
func (s *Set) TakeStarted() []*Server {
	started := s.started
	s.started = nil
	return started
}

// CallWebhooksToConvert reports whether a definition of a server specifies a webhook that converts its objects.
func (s *Set) CallWebhooksToConvert() bool {
	return slices.ContainsFunc(s.list, func(r *Server) bool { return r.custom.CallsWebhook() })
}

// Reread makes all servers read the stored custom resources again. It is called when their conversion may have changed.
func (s *Set) Reread() {
	s.Conversions.memory.Forget()
	for _, r := range s.all() {
		r.redefine()
	}
}

// Adopt copies the registered functions from another Set. It must be called before the servers are loaded.
func (s *Set) Adopt(other *Set) {
	s.Webhooks.adopt(&other.Webhooks)
	s.Conversions.adopt(&other.Conversions)
}

// Rediscover implements aggregator.Servers. It notifies the servers that discovery has changed.
func (s *Set) Rediscover() {
	for _, r := range s.all() {
		r.api.Discovery.Changed()
	}
}

// documents returns the discovery documents of all servers.
func (s *Set) documents() []*discovery.Documents {
	var all []*discovery.Documents
	for _, r := range s.all() {
		all = append(all, r.api.Discovery)
	}
	return all
}

// Hold delays the events and the end of every watch whose User-Agent begins with client, on all servers, until Release. It also
// applies to watches opened later.
func (s *Set) Hold(client string) {
	s.held[client] = true
	for _, r := range s.list {
		for _, w := range r.Watches(client) {
			w.Hold()
		}
	}
}

// Release sends the events that an earlier Hold of the same client has delayed.
func (s *Set) Release(client string) {
	delete(s.held, client)
	for _, r := range s.list {
		for _, w := range r.Watches(client) {
			w.Release()
		}
	}
}

// Route directs further requests of clients whose User-Agent begins with client to server n.
func (s *Set) Route(client string, n int) { s.routes[client] = n }

// APIServerFor returns the API server to which requests with this User-Agent are routed. If several routes match, the longest one
// applies.
func (s *Set) APIServerFor(userAgent string) *apiserver.Server {
	best, n := "", 1
	for _, client := range object.SortedKeys(s.routes) {
		if strings.HasPrefix(userAgent, client) && len(client) >= len(best) {
			best, n = client, s.routes[client]
		}
	}
	return s.list[n-1].api
}
