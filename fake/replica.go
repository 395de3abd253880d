package fake

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
)

// ReplicaOptions configure one of several API servers.
type ReplicaOptions = sim.ReplicaOptions

// ReplicaState is the state of a replica.
type ReplicaState = sim.ReplicaState

// Replica is one of several API servers over the same store.
type Replica struct {
	*sim.Replica
	srv *Server
	n   int
}

// Replica returns replica n, counted from 1. If n is out of range, it ends the test, or panics without a test. There is
// one replica, or one for each element of Options.Replicas.
func (s *Server) Replica(n int) *Replica {
	r := s.cluster.Replica(n)
	if r == nil {
		s.fail("there is no replica %d: the number of replicas is %d", n, s.cluster.Replicas())
		return nil
	}
	return &Replica{r, s, n}
}

// Replicas returns the number of replicas.
func (s *Server) Replicas() int { return s.cluster.Replicas() }

// fail ends the test, or panics without a test, because the caller has made a mistake.
func (s *Server) fail(format string, args ...any) {
	if s.test == nil {
		panic("kubesim: " + fmt.Sprintf(format, args...))
	}
	s.test.Fatalf("kubesim: "+format, args...)
}

// URL returns the Host of a client configuration for this replica, for any client. Requests must go through
// Server.Transport.
func (r *Replica) URL() string { return r.srv.ReplicaURL(r.n) }

// Transport returns a transport that sends all requests to this replica, regardless of their URL and their client.
func (r *Replica) Transport() http.RoundTripper {
	t := *r.srv.transport
	t.pick, t.pinned = func(*http.Request) *apiserver.Server { return r.srv.cluster.Server(r.n) }, true
	return &t
}

// Lag stops the replica from applying commits to the given resources, such as "pods" or "deployments.apps", or to all
// resources. Its watches deliver no events and its caches become stale. A consistent read waits for the cache for up to
// three seconds, as on a real server. An unknown resource ends the test, or panics without a test.
func (r *Replica) Lag(resources ...string) {
	if err := r.Replica.Lag(resources...); err != nil {
		r.srv.fail("Lag: %v", err)
	}
}

// Unready makes the replica refill the watch caches of the given resources, or of all resources, which takes d. Watches
// end, and until the caches are filled, watches and most lists get 429 with a Retry-After.
func (r *Replica) Unready(d time.Duration, resources ...string) {
	if err := r.Replica.Unready(d, resources...); err != nil {
		r.srv.fail("Unready: %v", err)
	}
}

// ReplicaURL returns Replica(n).URL().
func (s *Server) ReplicaURL(n int) string {
	return "http://" + replicaHost + strconv.Itoa(n) + ".kubesim.invalid"
}

const replicaHost = "replica-"

// Route sends all further requests of clients whose User-Agent begins with client to replica n. It does not affect open
// watches. Without a route, requests go to replica 1. An unknown replica ends the test, or panics without a test.
func (s *Server) Route(client string, n int) {
	if err := s.cluster.Route(client, n); err != nil {
		s.fail("Route: %v", err)
	}
}

// Hold delays the watch events of clients whose User-Agent begins with client, on all replicas, until Release delivers
// them. It also applies to watches opened later.
func (s *Server) Hold(client string) { s.cluster.Hold(client) }

// Release ends the Hold of the same client.
func (s *Server) Release(client string) { s.cluster.Release(client) }

// Restore resets the store to an older revision that it still has, like an etcd restored from a backup, and restarts
// the API servers. It returns an error if the store does not have the revision.
func (s *Server) Restore(rev uint64) error {
	return errors.Join(s.cluster.Restore(rev), s.journal.rewrite(s.cluster))
}

// pick returns the API server for a request: the one in its URL, or else the one to which its client is routed.
func (s *Server) pick(r *http.Request) *apiserver.Server {
	if s.cluster.Replicas() == 1 {
		return s.cluster.Server(1)
	}
	name, _, _ := strings.Cut(r.URL.Host, ".")
	if text, ok := strings.CutPrefix(name, replicaHost); ok {
		if n, err := strconv.Atoi(text); err == nil && s.cluster.Replica(n) != nil {
			return s.cluster.Server(n)
		}
	}
	return s.cluster.APIServerFor(r.Header.Get("User-Agent"))
}
