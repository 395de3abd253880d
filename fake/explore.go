package fake

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// T is the test that the body of an Explore gets, with all methods of testing.TB.
type T = testing.TB

// ExploreOptions configure the exploration of a test. The zero value is right for most.
type ExploreOptions struct {
	// Seeds is the number of plans that are tried. The default is 100. The environment variable KUBESIM_SEEDS overrides it.
	Seeds int
	// Seed is the first seed; the others follow it. The default is 1. KUBESIM_SEED overrides it.
	Seed uint64
	// For ends the search after so much real time, whatever Seeds is. 0 means no limit.
	For time.Duration
	// Server has the options of the servers. Explore sets Clock and Seed; without Replicas there are two. The test itself has one more
	// replica, which is free of faults.
	Server Options
	// Faults is the approximate number of faults in one run. The default is 8.
	Faults int
	// LegalOnly excludes faults that occur only in a cluster that is itself in trouble: API servers that cannot reach their store, and
	// status 500.
	LegalOnly bool
	// Without excludes kinds of faults: those of package fault (delay, close, truncate, …) and of fake/explore (crash, lag, cut,
	// restart, expire, touch, depose, edit, jump).
	Without []string
	// Edits are the custom resources whose objects a second user changes, at random and within their schemas, for example
	// sites.web.example.com. The body then must not rely on the values that it has written itself. By default there are none.
	Edits []string
	// Workers is the number of processes that run plans in parallel. The default is one for each processor.
	Workers int
	// NoFeedback draws each plan independently, instead of mutating plans that led to new behaviour.
	NoFeedback bool
	// Repeat is the number of times that a failing plan is run to measure how often it fails. The default is 10. KUBESIM_REPEAT
	// overrides it.
	Repeat int
	// Found is called with the result instead of failing the test. No plan is read from testdata/kubesim or written there. It is for
	// tests of the search itself. If Found is nil, the test fails.
	Found func(*campaign.Report)
}

// Explore searches for faults that make a test fail. It runs body repeatedly, each time in a testing/synctest bubble of its own with a
// new server, under a plan that is drawn from a seed: faults, crashes of processes, lagging API servers, writes of other clients. When
// body fails, Explore minimizes the plan and writes it to testdata/kubesim. From then on that plan is run first. The test fails with a
// report of the run.
//
//	fake.Explore(t, fake.ExploreOptions{Seeds: 1000}, func(t fake.T, srv *fake.Server) {
//		srv.Process("operator", run)     // a client that may crash
//		…                                // requests of the body itself meet no faults
//		time.Sleep(10 * time.Minute)     // virtual: while there is trouble
//		srv.Heal()                       // from here on all is well
//		time.Sleep(10 * time.Minute)
//		…                                // what has to be right in the end
//	})
//
// Faults affect only requests from other goroutines than the body's own. The plan without any faults is run first; a test that fails
// under it fails at once.
//
// Further processes of the test binary run the plans, in an environment in which they can be repeated (Repeatable). These processes
// also run the tests of the binary up to the call of Explore.
//
// Package fake/explore implements Explore and Repeatable, and changes the random numbers of the Go runtime. Only a test that imports it
// has them:
//
//	import _ "github.com/kubesim/kubesim/fake/explore"
func Explore(t *testing.T, o ExploreOptions, body func(t T, srv *Server)) {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Explore")
	}
	explorer.Explore(t, o, body)
}

// Repeatable makes the outcome of a test depend on its seed alone, as far as that is possible with Go's scheduler. It must be the first
// call in a test whose servers are in a testing/synctest bubble:
//
//	func TestOperator(t *testing.T) {
//		fake.Repeatable(t)
//		synctest.Test(t, func(t *testing.T) {
//			srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//			…
//
// The test is run in a process of its own, with one goroutine at a time and without garbage collection, in which the runtime's random
// numbers (package fake/chance) follow from Options.Seed. In this process the test is skipped if it passes there, and fails if it fails
// there. After a failure it is run nine more times, and the log says how many of them failed and how many were identical to the byte. A
// test that hangs is ended, and the log names the goroutines that keep virtual time from advancing.
//
// If no process can be started, Repeatable does nothing and returns false.
//
// It needs package fake/explore, as Explore does.
func Repeatable(t *testing.T) bool {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Repeatable")
	}
	return explorer.Repeatable(t)
}

// noExplorer is the error of a test binary that does not import package fake/explore.
const noExplorer = "kubesim: fake.%s is carried out by package fake/explore, which this test does not import. Add to one of its files:\n\n" +
	"\timport _ \"github.com/kubesim/kubesim/fake/explore\""

// Explorer implements Explore and Repeatable. The implementation is package fake/explore.
type Explorer interface {
	Explore(t *testing.T, o ExploreOptions, body func(T, *Server))
	Repeatable(t *testing.T) bool
	// Prepare changes the options of a server that RunT starts after a call of Repeatable, and returns the trial that the server
	// belongs to. Otherwise it returns nil.
	Prepare(o *Options) Trial
}

// explorer is the Explorer of the process. If nil, package fake/explore is not imported.
var explorer Explorer

// RegisterExplorer makes Explore and Repeatable use x. Package fake/explore calls it when it is initialized.
func RegisterExplorer(x Explorer) { explorer = x }
