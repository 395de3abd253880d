package fake

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// T is the test that the body of Explore receives. It has all methods of testing.TB.
type T = testing.TB

// ExploreOptions configure the exploration of a test. The zero value is right for most tests.
type ExploreOptions struct {
	// Seeds is the number of plans to try. The default is 100. The environment variable KUBESIM_SEEDS overrides it.
	Seeds int
	// Seed is the first seed; the following seeds are consecutive. The default is 1. KUBESIM_SEED overrides it.
	Seed uint64
	// For ends the search after this real time, regardless of Seeds. 0 means no limit. KUBESIM_FOR overrides it.
	For time.Duration
	// Server contains the options of the servers. Explore sets Clock and Seed. The default for Replicas is two API
	// servers. The test itself uses an additional replica, to which no faults apply.
	Server Options
	// Prepare, if not nil, stores the objects with which each run begins, such as definitions: srv.Load("config/crd/bases").
	// It is called once in each process, with a server of its own whose clock stands still, so that runs need not repeat
	// the work.
	Prepare func(t T, srv *Server)
	// Faults is the approximate number of faults per run. The default is 8. If it is negative, there are none: the seeds differ in
	// the choices of the test itself (Transition), and in the order of goroutines.
	Faults int
	// LegalOnly excludes faults that occur only in a cluster that has problems itself: API servers that cannot reach
	// their store, and status 500.
	LegalOnly bool
	// Without excludes kinds of faults: those of package fault (delay, close, truncate, …) and of fake/explore (crash,
	// lag, cut, restart, expire, touch, depose, edit, jump).
	Without []string
	// Known are texts of failures that are already known. A run whose failures all contain one of them counts as passed, so
	// that the search finds other bugs. KUBESIM_KNOWN adds more, one per line.
	Known []string
	// Edits are the custom resources whose objects a second user changes, at random and within their schemas, for
	// example sites.web.example.com. The body must not rely on values that it has written to them. By default there are
	// none.
	Edits []string
	// Workers is the number of processes that run plans in parallel. The default is the number of processors.
	Workers int
	// NoFeedback draws each plan independently, instead of mutating plans that led to new behaviour.
	NoFeedback bool
	// Repeat is the number of times that a failing plan is run to measure how often it fails. The default is 10.
	// KUBESIM_REPEAT overrides it.
	Repeat int
	// Found, if not nil, is called with the result instead of failing the test. In this case Explore does not use
	// testdata/kubesim. Use it to test the search itself.
	Found func(*campaign.Report)
}

// Explore searches for faults that make a test fail. It runs body repeatedly, each time in a new testing/synctest
// bubble with a new server, under a plan that is drawn from a seed: faults, crashes of processes, lagging API servers,
// and writes of other clients. If body fails, Explore minimizes the plan, writes it to testdata/kubesim, and fails the
// test with a report of the run. From then on, that plan is run first.
//
//	fake.Explore(t, fake.ExploreOptions{Seeds: 1000}, func(t fake.T, srv *fake.Server) {
//		srv.Process("operator", run)     // a client that may crash
//		…                                // faults do not affect requests of the body itself
//		time.Sleep(10 * time.Minute)     // virtual time, with faults
//		srv.Heal()                       // no faults from here on
//		time.Sleep(10 * time.Minute)
//		…                                // check the final state
//	})
//
// Faults affect only requests from goroutines other than the body's own. A plan without faults is run first; if the
// test fails under it, the search ends at once.
//
// Additional processes of the test binary run the plans, in an environment in which runs can be repeated (Repeatable).
// These processes also run the code of the test before the call to Explore.
//
// Package fake/explore implements Explore and Repeatable, and changes the random numbers of the Go runtime. They are
// available only in a test that imports it:
//
//	import _ "github.com/kubesim/kubesim/fake/explore"
func Explore(t *testing.T, o ExploreOptions, body func(t T, srv *Server)) {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Explore")
	}
	explorer.Explore(t, o, body)
}

// Repeatable makes the outcome of a test depend only on its seed, as far as Go's scheduler allows. It must be the first
// call in a test whose servers are in a testing/synctest bubble:
//
//	func TestOperator(t *testing.T) {
//		fake.Repeatable(t)
//		synctest.Test(t, func(t *testing.T) {
//			srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//			…
//
// Repeatable runs the test in a separate process, with one goroutine at a time and without garbage collection, in which
// the runtime's random numbers (package fake/chance) are derived from Options.Seed. In the current process, the test is
// skipped if it passes there, and fails if it fails there. After a failure, the test is run nine more times, and the
// log contains the number of failures and of byte-identical runs. A test that hangs is ended, and the log names the
// goroutines that keep virtual time from advancing.
//
// If no process can be started, Repeatable is a no-op and returns false.
//
// Like Explore, it requires package fake/explore.
func Repeatable(t *testing.T) bool {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Repeatable")
	}
	return explorer.Repeatable(t)
}

// noExplorer is the error of a test binary that does not import package fake/explore.
const noExplorer = "kubesim: fake.%s needs package fake/explore, which this test does not import. Add to one of its files:\n\n" +
	"\timport _ \"github.com/kubesim/kubesim/fake/explore\""

// Explorer implements Explore and Repeatable. Package fake/explore provides the implementation.
type Explorer interface {
	Explore(t *testing.T, o ExploreOptions, body func(T, *Server))
	Repeatable(t *testing.T) bool
	// Prepare is called before RunT starts a server. In a process that repeats a test, it changes the server's options
	// and returns the trial of the server. Otherwise it returns nil.
	Prepare(o *Options) Trial
}

// explorer is the Explorer of the process, or nil if package fake/explore is not imported.
var explorer Explorer

// RegisterExplorer makes Explore and Repeatable use x. Package fake/explore calls it during initialization.
func RegisterExplorer(x Explorer) { explorer = x }
