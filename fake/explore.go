package fake

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/sim/fault"
)

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
	Found func(*explore.Report)
}

// What the zero value of ExploreOptions stands for.
const (
	seedsDefault    = 100
	faultsDefault   = 8
	repeatDefault   = 10
	replicasDefault = 2
)

// generation is how many plans are drawn from what was learned before. It does not depend on how many run at a time, so
// that a search comes to the same on every machine.
const generation = 32

// Variables of the environment.
const (
	seedsVariable  = "KUBESIM_SEEDS"  // takes the place of ExploreOptions.Seeds
	repeatVariable = "KUBESIM_REPEAT" // takes the place of ExploreOptions.Repeat
	planVariable   = "KUBESIM_PLAN"   // a file with the only plan that is to be run
)

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
func Explore(t *testing.T, o ExploreOptions, body func(t T, srv *Server)) {
	t.Helper()
	o = o.filled()
	x := &explored{t: t, options: o, body: body}
	call := calls.next(t)
	if isWorker() {
		if workerCall() == call {
			x.serve()
		}
		return
	}
	shard, err := explore.ShardOf(os.Getenv)
	if err != nil {
		t.Fatalf("kubesim: %v", err)
	}
	s := &search{t: t, options: o, team: newTeam(x, call), shard: shard}
	defer s.team.close()
	s.run()
	s.tell(explore.Line{Done: true, Runs: s.seeds, Seconds: time.Since(s.began).Seconds(), Sequences: s.met})
}

// filled is the options with their defaults.
func (o ExploreOptions) filled() ExploreOptions {
	for name, n := range map[string]*int{seedsVariable: &o.Seeds, repeatVariable: &o.Repeat} { // order does not matter
		if told, err := strconv.Atoi(os.Getenv(name)); err == nil && told > 0 {
			*n = told
		}
	}
	if seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		o.Seed = seed
	}
	o.Seed = max(o.Seed, 1)
	for _, d := range []struct {
		n         *int
		otherwise int
	}{{&o.Seeds, seedsDefault}, {&o.Faults, faultsDefault}, {&o.Repeat, repeatDefault}} {
		if *d.n == 0 {
			*d.n = d.otherwise
		}
	}
	return o
}

// limits are what a campaign may draw.
func (o *ExploreOptions) limits() explore.Limits {
	l := explore.Limits{Items: o.Faults, Level: fault.Degraded, Without: o.Without, NoFeedback: o.NoFeedback}
	if o.LegalOnly {
		l.Level = fault.Legal
	}
	return l
}

// calls counts the calls of Explore in each test. A test that runs again (-count) begins anew, as it does in a worker.
var calls counter

type counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counter) next(t *testing.T) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	name := t.Name()
	if c.n[name]++; c.n[name] == 1 {
		t.Cleanup(func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.n, name)
		})
	}
	return c.n[name]
}

// search looks for a plan under which a test fails.
type search struct {
	t       *testing.T
	options ExploreOptions
	team    *team
	began   time.Time
	shard   explore.Shard
	calm    explore.Outcome // of the run without trouble
	met     []uint64        // sequences of requests and answers
	runs    int
	seeds   int // of them under plans that were drawn
}

// run runs what is known, then looks further.
func (s *search) run() {
	s.t.Helper()
	s.began = time.Now()
	if file := os.Getenv(planVariable); file != "" {
		s.replayFile(file)
		return
	}
	if s.options.Found == nil {
		for _, file := range corpus(s.t.Name()) {
			if s.replayFile(file) {
				return
			}
		}
	}
	empty := explore.Plan{Seed: s.options.Seed}
	if s.calm = s.team.run(empty, true); len(s.calm.Failures) > 0 {
		s.report(finding{plan: empty}, s.calm)
		return
	}
	s.runs++
	if len(s.calm.Seen.Clients) == 0 {
		s.t.Fatal("kubesim: nobody but the test itself asks the server for anything, so there is nobody to trouble: start what you test with srv.Process, or in a goroutine")
	}
	s.explore(explore.NewCampaign(s.options.limits(), &s.calm))
}

// explore tries the plans of one generation after the other.
func (s *search) explore(c *explore.Campaign) {
	s.t.Helper()
	first, last, step := s.seedRange()
	for seed := first; seed <= last && !s.late(); {
		var plans []explore.Plan
		for ; len(plans) < generation && seed <= last; seed += step {
			plans = append(plans, c.Plan(seed))
		}
		outcomes := s.team.all(plans)
		for i, out := range outcomes {
			s.runs++
			s.seeds++
			s.met = append(s.met, c.New(&out)...)
			if len(out.Failures) > 0 {
				s.shrinkAndReport(plans[i], out)
				return
			}
			c.Learn(plans[i], &out)
		}
	}
	took := time.Since(s.began)
	sequences, kept := c.Known()
	s.t.Logf("kubesim: %d runs in %v, %.0f a second; %d sequences of requests and answers, %d plans that led to new ones",
		s.runs, took.Round(time.Millisecond), float64(s.runs)/took.Seconds(), sequences, kept)
}

// late reports whether the time is up.
func (s *search) late() bool {
	return s.options.For > 0 && time.Since(s.began) > s.options.For
}

// seedRange returns the seeds of this process: all of them, or its part.
func (s *search) seedRange() (first, last, step uint64) {
	o := &s.options
	return o.Seed + s.shard.I - 1, o.Seed + uint64(o.Seeds) - 1, s.shard.N
}

// tell appends a line to the file of results, if there is one.
func (s *search) tell(l explore.Line) {
	name := os.Getenv(explore.ResultsVariable)
	if name == "" {
		return
	}
	s.t.Helper()
	l.Test, l.Shard = s.t.Name(), s.shard.String()
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = l.WriteTo(file)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.t.Errorf("kubesim: %s: %v", explore.ResultsVariable, err)
	}
}

// finding is a plan under which a test fails.
type finding struct {
	plan  explore.Plan
	found explore.Plan // as it was drawn
	saved string       // its file
}

// attempts is how often a candidate is run before it is said not to fail.
const attempts = 3

// shrinkAndReport makes a plan small, writes it down and reports.
func (s *search) shrinkAndReport(p explore.Plan, out explore.Outcome) {
	s.t.Helper()
	site := out.Site()
	small, ok := explore.Shrink(p, func(q explore.Plan) bool { return s.fails(q, site, attempts) })
	if !ok {
		small = p // it did once
	}
	f := finding{plan: small, found: p}
	if s.options.Found == nil {
		f.saved = save(s.t.Name(), small, out.Failures[0].Text)
	}
	s.report(f)
}

// fails reports whether a plan fails at a site in one of some runs.
func (s *search) fails(p explore.Plan, site string, times int) bool {
	for range times {
		out := s.team.run(p, false)
		s.runs++
		if out.Site() == site {
			return true
		}
	}
	return false
}

// replayFile runs the plan of a file, and reports it if it still fails.
func (s *search) replayFile(file string) (failed bool) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatalf("kubesim: %v", err)
	}
	p, err := explore.Parse(string(data))
	if err != nil {
		s.t.Fatalf("kubesim: %s: %v", file, err)
	}
	for range attempts {
		s.runs++
		if out := s.team.run(p, false); len(out.Failures) > 0 {
			s.report(finding{plan: p, saved: file})
			return true
		}
	}
	return false
}

// report says how often a plan fails, and how often two runs of it are the same, and fails the test. first is a run of it, if
// there was one: who hangs is not asked twice.
func (s *search) report(f finding, first ...explore.Outcome) {
	s.t.Helper()
	list := first
	if len(first) == 0 || first[0].Site() != explore.SiteHang {
		plans := make([]explore.Plan, s.options.Repeat)
		for i := range plans {
			plans[i] = f.plan
		}
		list = s.team.allFull(plans)
	}
	s.runs += len(list)
	r := &explore.Report{Plan: f.plan, Found: f.found, Outcomes: list, Calm: s.calm, Seeds: s.seeds, Runs: s.runs,
		Took: time.Since(s.began), Saved: f.saved, Replay: replayLine(s.t.Name(), f.saved)}
	r.Story, r.Link = saveStory(f.saved, r)
	s.tell(explore.Line{Seed: f.plan.Seed, Failure: r.Cause(), Plan: f.plan.Lines(), Replay: r.Replay})
	if s.options.Found != nil {
		s.options.Found(r)
		return
	}
	s.t.Errorf("kubesim: %s", strings.TrimSpace(r.String()))
}

// replayLine is the command that runs a plan again.
func replayLine(test, file string) string {
	line := fmt.Sprintf("go test -count=1 -run '%s'", pattern(test))
	if file != "" {
		line = planVariable + "=" + file + " " + line
	}
	return line
}

// pattern is the -run of one test.
func pattern(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }
