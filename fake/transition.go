package fake

import (
	"cmp"
	"time"

	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/sim/object"
)

// Transition checks that the final state of an operator's objects depends only on the last spec of a custom resource, and not on an
// earlier one: an object that is created and then edited must end like an object that is created with the edit. This is the differential
// oracle of Acto (Gu et al., Acto: Automatic End-to-End Testing for Operation Correctness of Cloud System Management, SOSP 2023).
//
//	Manifest ─ edit ─▶ A ─ edit ─▶ B
//	srv:          create A, wait, apply B, wait ─▶ state ─┐
//	a fork of it:              create B, wait ─▶ state ───┴▶ equal
//
// The edits are drawn from the OpenAPI schema of the definition, with the seed of the run. The server decides which of them are valid:
// if it rejects an edit, another one is drawn.
//
//	fake.Explore(t, fake.ExploreOptions{Faults: -1, Prepare: …}, func(t fake.T, srv *fake.Server) {
//		start := func(srv *fake.Server) { ctrl.Start(t, srv, setup) }
//		fake.Transition{Manifest: site}.Check(t, srv, start, "sites", "deployments")
//	})
type Transition struct {
	// Manifest is a custom resource with a name and a valid spec, as YAML or JSON.
	Manifest string
	// Wait is the time that the operator gets after each write. The default is five minutes. After the last write it also gets the
	// time that it needs to come to rest (Oracles.AtRest).
	Wait time.Duration
	// Keep are the names of fields in the spec that edits do not change, because by design they keep a part of an earlier spec, such as the
	// partition of a rolling update.
	Keep []string
	// Without are the names of fields that may differ by design, as in Outcome.
	Without []string
}

const (
	// transitionWait is the default of Transition.Wait.
	transitionWait = 5 * time.Minute
	// healed is the time after which work queues have tried again what failed under faults: they wait for at most 1,000 seconds.
	healed = 20 * time.Minute
)

// Check fails the test if the states of the given resources differ (Oracles.State). start starts the operator for a server. It is called
// for srv and, when the processes of srv have ended, for a fork with the state that srv had at the beginning. Only srv may have faults.
// Check is for a testing/synctest bubble, such as those of Explore.
func (x Transition) Check(t TB, srv *Server, start func(*Server), resources ...string) {
	t.Helper()
	fresh := srv.Fork()
	fresh.Heal()
	start(srv)
	wait := cmp.Or(x.Wait, transitionWait)
	e, err := newEditor(srv, &x)
	if err == nil {
		err = e.editTwice(wait)
	}
	if err != nil {
		t.Fatalf("kubesim: Transition: %v", err)
		return
	}
	srv.sleep(wait)
	srv.Heal()
	srv.sleep(healed)
	srv.AtRest(t, 0)
	state := srv.StateWithout(x.Without, resources...)
	for _, p := range srv.Processes() {
		p.Stop()
	}
	start(fresh)
	if err := e.target.of(fresh).write(e.second); err != nil {
		t.Fatalf("kubesim: Transition: %v", err)
		return
	}
	fresh.sleep(wait)
	fresh.AtRest(t, 0)
	if lines := oracle.Difference(fresh.StateWithout(x.Without, resources...), state); lines != "" {
		oracle.Errorf(t)("kubesim: Transition: the state after two specs differs from the state after the second one alone (-):\n%s"+
			"the first spec: %s\nthe second spec: %s", lines, object.JSON(e.first["spec"]), object.JSON(e.second["spec"]))
	}
}

// sleep waits for d of the server's clock.
func (s *Server) sleep(d time.Duration) { <-s.cluster.Clock().NewTimer(d).C() }
