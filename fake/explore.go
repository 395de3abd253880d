package fake

import (
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// T is what the body of an Explore gets: all of testing.TB.
type T = testing.TB

// ExploreOptions say how a test is explored. The zero value is right for most.
type ExploreOptions struct {
	// Seeds is how many plans are tried. 0: 100. KUBESIM_SEEDS in the environment takes its place.
	Seeds int
	// Seed is the first of them; the others follow. 0: 1. KUBESIM_SEED takes its place.
	Seed uint64
	// For ends the search after so much real time, whatever Seeds says. 0: it does not.
	For time.Duration
	// Server is what the servers are like. Clock and Seed are Explore's; without Replicas there are two. The test itself has one
	// more, to which nothing happens.
	Server Options
	// Faults is about how many things go wrong in one run. 0: 8.
	Faults int
	// LegalOnly leaves out what happens only in a cluster that is itself in trouble: API servers that cannot reach their
	// store, and 500.
	LegalOnly bool
	// Without are kinds of trouble that do not happen: those of package fault (delay, close, truncate, …) and of
	// fake/explore (crash, lag, cut, restart, expire, touch, depose, edit, jump).
	Without []string
	// Edits are the custom resources whose objects a second user changes, at random and within their schemas, as
	// sites.web.example.com. The body then must not expect what it has written itself. nil: none.
	Edits []string
	// Workers is how many processes run plans at a time. 0: one for each processor.
	Workers int
	// NoFeedback draws each plan anew, instead of changing those that led to something new.
	NoFeedback bool
	// Repeat is how often a plan that fails is run to say how often it does. 0: 10. KUBESIM_REPEAT takes its place.
	Repeat int
	// Found is told what was found in place of the test, which passes then; no plan is read from testdata/kubesim or written
	// there. It is for tests of the search itself. nil: the test fails.
	Found func(*campaign.Report)
}

// Explore looks for what goes wrong around a test. It runs body again and again, each time in a testing/synctest bubble of its
// own with a new server, under a plan that is drawn from a seed: faults, crashes of processes, API servers that lag, writes of
// others. When body fails, the plan is made as small as possible and written to testdata/kubesim, from where it is run
// first from then on; the test fails and says what happened.
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
// Trouble happens to the requests that come from other goroutines than the body's own. The plan without any trouble is run
// first; a test that fails under it fails at once.
//
// Plans are run by further processes of the test binary, in an environment in which they can be repeated (Repeatable). The
// tests of the binary up to the call of Explore are run there, too.
//
// Explore and Repeatable are carried out by package fake/explore, which changes what the Go runtime draws at random. Only a test
// that imports it has it:
//
//	import _ "github.com/kubesim/kubesim/fake/explore"
func Explore(t *testing.T, o ExploreOptions, body func(t T, srv *Server)) {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Explore")
	}
	explorer.Explore(t, o, body)
}

// Repeatable makes what a test comes to depend on its seed alone, as far as that is possible without another scheduler than
// Go's. It is the first thing in a test whose servers are in a testing/synctest bubble:
//
//	func TestOperator(t *testing.T) {
//		fake.Repeatable(t)
//		synctest.Test(t, func(t *testing.T) {
//			srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//			…
//
// The test is run in a process of its own, with one goroutine at a time and no collection of garbage, in which what the runtime
// draws (package fake/chance) hangs on Options.Seed. Here it counts as skipped when it has passed there, and as failed
// when it has failed: then it is run nine more times, and the log says how many of them failed and how many were the same to
// the byte. A test that hangs is ended, with the goroutines that keep virtual time from moving.
//
// Where no process can be started it does nothing, and reports false.
//
// It needs package fake/explore, as Explore does.
func Repeatable(t *testing.T) bool {
	t.Helper()
	if explorer == nil {
		t.Fatalf(noExplorer, "Repeatable")
	}
	return explorer.Repeatable(t)
}

// noExplorer is what is wrong when package fake/explore is not part of the test binary.
const noExplorer = "kubesim: fake.%s is carried out by package fake/explore, which this test does not import. Add to one of its files:\n\n" +
	"\timport _ \"github.com/kubesim/kubesim/fake/explore\""

// Explorer carries out Explore and Repeatable. It is package fake/explore.
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
