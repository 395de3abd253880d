package main

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/anishathalye/porcupine"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/soak"
)

// Responses to clients of a disturbed cluster are consistent with one order of the requests.
func TestLinearizable(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 15; seed++ {
		is := is.New(t)
		r, err := run(soak.Options{Config: soak.Swarm(seed, 400)})
		is.NoErr(err)
		is.Equal(r.Violations, nil) // no promise is broken, this one included
	}
}

// The check detects a history that no order of requests explains.
func TestNotLinearizable(t *testing.T) {
	t.Parallel()
	a := checker.ID{Resource: "things", Name: "a"}
	call := func(verb string, at int64, code int, rev, based uint64) *checker.Call {
		return &checker.Call{Verb: verb, ID: a, Called: at, Returned: at + 1, Code: code, Rev: rev, Based: based}
	}
	for _, c := range []struct {
		what  string
		calls []*checker.Call
		want  porcupine.CheckResult
	}{
		{"one after the other", []*checker.Call{call("create", 1, 201, 5, 0), call("get", 3, 200, 5, 0),
			call("update", 5, 200, 6, 5), call("delete", 7, 200, 0, 6), call("get", 9, 404, 0, 0)}, porcupine.Ok},
		{"a stale read", []*checker.Call{call("create", 1, 201, 5, 0), call("update", 3, 200, 6, 5), call("get", 5, 200, 5, 0)}, porcupine.Illegal},
		{"a lost update", []*checker.Call{call("create", 1, 201, 5, 0), call("update", 3, 200, 6, 5), call("update", 5, 200, 7, 5)}, porcupine.Illegal},
		{"two creates", []*checker.Call{call("create", 1, 201, 5, 0), call("create", 3, 201, 6, 0)}, porcupine.Illegal},
		{"a write nobody was told of", []*checker.Call{call("create", 1, 504, 0, 0), call("get", 3, 404, 0, 0), call("get", 5, 200, 9, 0)}, porcupine.Ok},
		{"a deletion undone", []*checker.Call{call("create", 1, 201, 5, 0), call("delete", 3, 200, 0, 0), call("get", 5, 200, 5, 0)}, porcupine.Illegal},
	} {
		is := is.New(t)
		is.Equal(linearizable(&checker.History{Calls: c.calls}, true), c.want) // see what
	}
}

// work returns the configuration of a Remote's clients in this test.
func work(seed uint64) soak.Config {
	c := soak.Swarm(seed, 1500)
	c.Clients, c.Calm, c.Names, c.Work = 4, 20, 4, []string{"apply", "create", "delete", "get", "list", "page", "patch", "stop", "update", "watch"}
	return c
}

// judged checks the history of a Remote.
func judged(t *testing.T, r *Remote) {
	is := is.New(t)
	h, err := r.Run()
	is.NoErr(err)
	is.True(len(h.Commits) > 50 && len(h.Streams) > 10) // there was something to see
	is.Equal(checker.Check(h), nil)                     // no promise is broken
	is.True(linearizable(h, false) != porcupine.Illegal)
}

// TestInProcess runs a soak's clients concurrently, over HTTP in process and in virtual time, and checks the recorded
// history.
func TestInProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
		judged(t, &Remote{URL: srv.URL(), Transport: srv.Transport(), Config: work(1)})
	})
}

// TestOverHTTP runs the clients over a socket, as against a real server (go run ./soak -target URL), and checks the
// recorded history.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	l, err := srv.Listen(fake.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	judged(t, &Remote{URL: l.URL(), Transport: http.DefaultTransport, Config: work(2)})
}

// A round of client-go clients over TLS, with faults, violates no promise. The check detects a missing event.
func TestRound(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
	l, err := srv.Listen(fake.ListenOptions{TLS: true})
	is.NoErr(err)
	e := &endurance{server: &child{url: l.URL(), ca: l.CA()}, clients: 6, ops: 40}
	is.NoErr(e.round(1))
	is.True(e.requests > 240 && e.watches >= 6 && e.commits > 20)
	h := e.last
	for _, s := range h.Streams {
		for i, ev := range s.Events {
			if next := i + 1; ev.Type == checker.Modified && next < len(s.Events) && s.Events[next].Object != nil {
				s.Events = slices.Delete(s.Events, i, next) // an event that did not arrive
				is.True(verdict(h) != nil)
				return
			}
		}
	}
	t.Fatal("no client saw a change")
}
