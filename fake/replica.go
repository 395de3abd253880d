package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/trouble"
)

// ReplicaOptions say what one of several API servers is like.
type ReplicaOptions = sim.ReplicaOptions

// ReplicaState is what a replica is like and what has happened to it.
type ReplicaState = sim.ReplicaState

// Replica is one API server of several over the same store.
type Replica struct {
	*sim.Replica
	srv *Server
	n   int
}

// Replica returns replica n, counted from 1. There is one, or as many as Options.Replicas says.
func (s *Server) Replica(n int) *Replica {
	r := s.cluster.Replica(n)
	if r == nil {
		s.fail("there is no replica %d: there are %d, counted from 1", n, s.cluster.Replicas())
		return nil
	}
	return &Replica{r, s, n}
}

// Replicas returns how many replicas there are.
func (s *Server) Replicas() int { return s.cluster.Replicas() }

// fail ends the test, or the program where there is none: the caller has made a mistake.
func (s *Server) fail(format string, args ...any) {
	if s.fatalf == nil {
		panic("kubesim: " + fmt.Sprintf(format, args...))
	}
	s.fatalf("kubesim: "+format, args...)
}

// URL is the Host of a client configuration that leads to this replica, whoever the client is. Requests go through
// Server.Transport.
func (r *Replica) URL() string { return r.srv.ReplicaURL(r.n) }

// Transport carries requests to this replica, whatever their URL names and whoever the client is.
func (r *Replica) Transport() http.RoundTripper {
	t := *r.srv.transport
	t.pick, t.pinned = func(*http.Request) *apiserver.Server { return r.srv.cluster.Server(r.n) }, true
	return &t
}

// Lag stops the replica from applying commits to the resources, named as "pods" or "deployments.apps", or to all of them.
// Its watches fall silent and its caches grow stale; what a consistent read does about that is the real server's.
func (r *Replica) Lag(resources ...string) {
	if err := r.Replica.Lag(resources...); err != nil {
		r.srv.fail("Lag: %v", err)
	}
}

// Unready makes the replica fill the watch caches of the resources anew, or all of them, which takes d: watches end, and
// until then watches and most lists get 429 with a Retry-After.
func (r *Replica) Unready(d time.Duration, resources ...string) {
	if err := r.Replica.Unready(d, resources...); err != nil {
		r.srv.fail("Unready: %v", err)
	}
}

// ReplicaURL is Replica(n).URL().
func (s *Server) ReplicaURL(n int) string {
	return "http://" + replicaHost + strconv.Itoa(n) + ".kubesim.invalid"
}

const replicaHost = "replica-"

// Route leads the requests of clients whose User-Agent begins with client to replica n from now on. Open watches stay
// where they are. Without a route, requests go to replica 1.
func (s *Server) Route(client string, n int) {
	if err := s.cluster.Route(client, n); err != nil {
		s.fail("Route: %v", err)
	}
}

// Hold keeps back the watch events of clients whose User-Agent begins with client, on every replica and for watches to
// come, until Release lets them go all at once.
func (s *Server) Hold(client string) { s.cluster.Hold(client) }

// Release ends Hold of the same client.
func (s *Server) Release(client string) { s.cluster.Release(client) }

// Restore takes the store back to an older revision that it still has, as an etcd restored from a backup; the API servers
// are restarted.
func (s *Server) Restore(rev uint64) error {
	return errors.Join(s.cluster.Restore(rev), s.rewriteJournal())
}

// pick returns the API server that a request reaches: the one its URL names, or the one its client is routed to.
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
	return s.cluster.Routed(r.Header.Get("User-Agent"))
}

// controlReplicas adds what is done to replicas:
//
//	GET  replicas                          what each is like
//	POST replicas/{i}/lag?resource=pods    lag, cut, resume, restart, unready?for=30s, stall?after=45s, close
//	POST hold?client=UA, release?client=UA, route?client=UA&replica=2, restore?revision=N
func (s *Server) controlReplicas(control *http.ServeMux) {
	control.HandleFunc("GET "+controlPrefix+"replicas", func(w http.ResponseWriter, _ *http.Request) { s.serveReplicas(w) })
	control.HandleFunc("POST "+controlPrefix+"replicas/{i}/{action}", s.serveReplica)
	control.HandleFunc("POST "+controlPrefix+"hold", func(_ http.ResponseWriter, r *http.Request) { s.Hold(r.FormValue("client")) })
	control.HandleFunc("POST "+controlPrefix+"release", func(_ http.ResponseWriter, r *http.Request) { s.Release(r.FormValue("client")) })
	control.HandleFunc("POST "+controlPrefix+"route", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.FormValue("replica")) // 0 is no replica
		refuse(w, "route", s.cluster.Route(r.FormValue("client"), n))
	})
	control.HandleFunc("POST "+controlPrefix+"restore", func(w http.ResponseWriter, r *http.Request) {
		rev, err := strconv.ParseUint(r.FormValue("revision"), 10, 64)
		if err != nil || rev == 0 {
			err = fmt.Errorf("revision=%q is not a resourceVersion", r.FormValue("revision"))
		} else {
			err = s.Restore(rev)
		}
		refuse(w, "restore", err)
	})
}

// refuse answers with an error if there is one.
func refuse(w http.ResponseWriter, subject string, err error) {
	if err != nil {
		http.Error(w, "kubesim: "+subject+": "+err.Error(), http.StatusBadRequest)
	}
}

func (s *Server) serveReplicas(w http.ResponseWriter) {
	list := make([]ReplicaState, s.cluster.Replicas())
	for i := range list {
		list[i] = s.cluster.Replica(i + 1).State()
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"replicas": list})
}

func (s *Server) serveReplica(w http.ResponseWriter, q *http.Request) {
	n, _ := strconv.Atoi(q.PathValue("i")) // 0 is no replica
	r := s.cluster.Replica(n)
	if r == nil {
		http.Error(w, fmt.Sprintf("kubesim: there is no replica %s: there are %d, counted from 1", q.PathValue("i"), s.cluster.Replicas()), http.StatusNotFound)
		return
	}
	refuse(w, "replicas", treat(r, q))
}

// treat does to a replica what a control request says.
func treat(r *sim.Replica, q *http.Request) error {
	t, err := parseTrouble(q, q.PathValue("i"), (*trouble.Kind).OfReplicas)
	if err != nil {
		return err
	}
	return t.Do(r)
}

// parseTrouble reads what a control request says is to be done to somebody, of the kinds that can be.
func parseTrouble(q *http.Request, to string, can func(*trouble.Kind) bool) (t trouble.Trouble, err error) {
	k := trouble.Find(q.PathValue("action"))
	if k == nil || !can(k) {
		var names []string
		for _, k := range trouble.Kinds {
			if can(k) {
				names = append(names, k.Name)
			}
		}
		last := len(names) - 1
		return t, fmt.Errorf("there are %s and %s", strings.Join(names[:last], ", "), names[last])
	}
	words := []string{to}
	if d := q.FormValue(k.Duration); k.Duration != "" && d != "" {
		words = append(words, d)
	}
	if k.Resources {
		words = append(words, q.URL.Query()["resource"]...)
	}
	return k.Parse(words)
}
