package explore

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/fault"
)

// The defaults that replace zero fields of fake.ExploreOptions.
const (
	seedsDefault    = 100
	faultsDefault   = 8
	repeatDefault   = 10
	replicasDefault = 2
)

// generation is the number of plans that are drawn before the outcomes of the previous ones are taken into account. It does not depend on
// how many plans run in parallel, so a search has the same result on every machine.
const generation = 32

// Variables of the environment.
const (
	seedVariable   = "KUBESIM_SEED"   // takes the place of ExploreOptions.Seed
	seedsVariable  = "KUBESIM_SEEDS"  // takes the place of ExploreOptions.Seeds
	repeatVariable = "KUBESIM_REPEAT" // takes the place of ExploreOptions.Repeat
	planVariable   = "KUBESIM_PLAN"   // a file with the only plan that is to be run
)

// Explore implements fake.Explorer.
func (*explorer) Explore(t *testing.T, o fake.ExploreOptions, body func(t fake.T, srv *fake.Server)) {
	t.Helper()
	o = withDefaults(o)
	x := &testUnderPlan{t: t, options: o, body: body}
	call := calls.next(t)
	if isWorker() {
		if workerCall() == call {
			x.serve()
		}
		return
	}
	shard, err := campaign.ShardOf(os.Getenv)
	if err != nil {
		t.Fatalf("kubesim: %v", err)
	}
	s := &search{t: t, options: o, team: newTeam(x, call), shard: shard}
	defer s.team.close()
	s.run()
	s.appendResult(campaign.Line{Done: true, Runs: s.seeds, Seconds: time.Since(s.began).Seconds(), Sequences: s.met})
}

// withDefaults returns the options with their defaults.
func withDefaults(o fake.ExploreOptions) fake.ExploreOptions {
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

// limits returns the limits of what a campaign may draw.
func limits(o *fake.ExploreOptions) campaign.Limits {
	l := campaign.Limits{Items: o.Faults, Level: fault.Degraded, Without: o.Without, NoFeedback: o.NoFeedback}
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
	options fake.ExploreOptions
	team    *team
	began   time.Time
	shard   campaign.Shard
	calm    campaign.Outcome // of the run without trouble
	met     []uint64         // sequences of requests and answers
	runs    int
	seeds   int // of them under plans that were drawn
}

// run runs the saved plans of the test, and then searches for new ones.
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
	empty := campaign.Plan{Seed: s.options.Seed}
	if s.calm = s.team.run(empty, true); len(s.calm.Failures) > 0 {
		s.report(finding{plan: empty}, s.calm)
		return
	}
	s.runs++
	if len(s.calm.Seen.Clients) == 0 {
		s.t.Fatal("kubesim: only the test itself sends requests, so faults have no target: start the code under test with srv.Process, or in a goroutine")
	}
	s.explore(campaign.NewCampaign(limits(&s.options), &s.calm))
}

// explore tries the plans of one generation after the other.
func (s *search) explore(c *campaign.Campaign) {
	s.t.Helper()
	first, last, step := s.seedRange()
	for seed := first; seed <= last && !s.late(); {
		var plans []campaign.Plan
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

// appendResult appends a line to the file of results, if there is one.
func (s *search) appendResult(l campaign.Line) {
	name := os.Getenv(campaign.ResultsVariable)
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
		s.t.Errorf("kubesim: %s: %v", campaign.ResultsVariable, err)
	}
}

// finding is a plan under which a test fails.
type finding struct {
	plan  campaign.Plan
	found campaign.Plan // as it was drawn
	saved string        // its file
}

// attempts is how often a candidate is run before it counts as passing.
const attempts = 3

// shrinkAndReport makes a plan small, writes it down and reports.
func (s *search) shrinkAndReport(p campaign.Plan, out campaign.Outcome) {
	s.t.Helper()
	site := out.Site()
	small, ok := campaign.Shrink(p, func(q campaign.Plan) bool { return s.fails(q, site, attempts) })
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
func (s *search) fails(p campaign.Plan, site string, times int) bool {
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
	p, err := campaign.Parse(string(data))
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

// report fails the test. It reports how often a plan fails, and how often two runs of it are equal. first is an earlier run of the plan, if
// there was one. A plan that hung is not run again.
func (s *search) report(f finding, first ...campaign.Outcome) {
	s.t.Helper()
	list := first
	if len(first) == 0 || first[0].Site() != campaign.SiteHang {
		plans := make([]campaign.Plan, s.options.Repeat)
		for i := range plans {
			plans[i] = f.plan
		}
		list = s.team.allFull(plans)
	}
	s.runs += len(list)
	r := &campaign.Report{Plan: f.plan, Found: f.found, Outcomes: list, Calm: s.calm, Seeds: s.seeds, Runs: s.runs,
		Took: time.Since(s.began), Saved: f.saved, Replay: replayLine(s.t.Name(), f.saved)}
	r.Story, r.Link = saveStory(f.saved, r)
	s.appendResult(campaign.Line{Seed: f.plan.Seed, Failure: r.Cause(), Plan: f.plan.Lines(), Replay: r.Replay})
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

// corpusDir is where plans are kept under which a test failed, a folder for each test.
const corpusDir = "testdata/kubesim"

const planExt = ".plan"

// corpus returns the files of plans under which a test has failed, in the order of their names.
func corpus(test string) []string {
	files, _ := filepath.Glob(filepath.Join(testDir(test), "*"+planExt)) // the pattern is right
	slices.Sort(files)
	return files
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9_/.-]+`)

// testDir is the folder of a test.
func testDir(test string) string {
	return filepath.Join(corpusDir, filepath.FromSlash(unsafeInNames.ReplaceAllString(test, "_")))
}

// save writes a plan to a file and returns the file's name, or "" if it cannot be written.
func save(test string, p campaign.Plan, why string) string {
	text := p.String()
	h := fnv.New64a()
	h.Write([]byte(text))
	file := filepath.Join(testDir(test), fmt.Sprintf("%016x%s", h.Sum64(), planExt))
	why, _, _ = strings.Cut(strings.TrimSpace(why), "\n")
	head := "# " + test + "\n"
	if why != "" {
		head += "# " + why + "\n"
	}
	if os.MkdirAll(filepath.Dir(file), 0o755) != nil || os.WriteFile(file, []byte(head+text), 0o644) != nil {
		return ""
	}
	return file
}

// saveStory writes a scenario of a failed run of a plan beside the plan's file. It returns the scenario's file, and a link that opens it if
// the address of the page is known. Both are "" if there is no scenario.
func saveStory(plan string, r *campaign.Report) (file, link string) {
	text, ok := r.Scenario()
	if !ok || plan == "" {
		return "", ""
	}
	file = strings.TrimSuffix(plan, planExt) + ".txtar"
	if os.WriteFile(file, []byte(text), 0o644) != nil {
		return "", ""
	}
	if site := os.Getenv(campaign.SiteVariable); site != "" {
		link = campaign.Link(site, text)
	}
	return file, link
}
