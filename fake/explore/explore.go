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

// Default values of fields of fake.ExploreOptions.
const (
	seedsDefault    = 100
	faultsDefault   = 8
	repeatDefault   = 10
	replicasDefault = 2
)

// generation is the number of plans drawn before the outcomes of previous plans are taken into account. It does not
// depend on the number of plans that run in parallel, so that a search has the same result on every machine.
const generation = 32

// Environment variables.
const (
	seedVariable   = "KUBESIM_SEED"   // overrides ExploreOptions.Seed
	seedsVariable  = "KUBESIM_SEEDS"  // overrides ExploreOptions.Seeds
	repeatVariable = "KUBESIM_REPEAT" // overrides ExploreOptions.Repeat
	forVariable    = "KUBESIM_FOR"    // overrides ExploreOptions.For
	planVariable   = "KUBESIM_PLAN"   // a file with the only plan to run
	knownVariable  = "KUBESIM_KNOWN"  // adds its lines to ExploreOptions.Known
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

// withDefaults returns the options with environment variables and defaults applied.
func withDefaults(o fake.ExploreOptions) fake.ExploreOptions {
	for name, n := range map[string]*int{seedsVariable: &o.Seeds, repeatVariable: &o.Repeat} { // the order does not matter
		if told, err := strconv.Atoi(os.Getenv(name)); err == nil && told > 0 {
			*n = told
		}
	}
	if seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		o.Seed = seed
	}
	if limit, err := time.ParseDuration(os.Getenv(forVariable)); err == nil {
		o.For = limit
	}
	if texts := os.Getenv(knownVariable); texts != "" {
		o.Known = append(slices.Clip(o.Known), strings.Split(texts, "\n")...)
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

// limits returns the limits of a campaign.
func limits(o *fake.ExploreOptions) campaign.Limits {
	l := campaign.Limits{Items: o.Faults, Level: fault.Degraded, Without: o.Without, NoFeedback: o.NoFeedback}
	if o.LegalOnly {
		l.Level = fault.Legal
	}
	return l
}

// calls counts the calls to Explore in each test. If a test runs again (-count), its count starts again, as in a
// worker.
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
	calm    campaign.Outcome // the result of the run without faults
	met     []uint64         // new sequences of requests and responses
	runs    int
	seeds   int // the number of runs with drawn plans
}

// run runs the saved plans of the test and then searches for new ones.
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
	s.runs++
	if s.calm = s.team.run(empty, true); len(s.calm.Failures) > 0 {
		list := s.repeat(empty, &s.calm)
		if slices.ContainsFunc(list, func(o campaign.Outcome) bool { return len(o.Failures) > 0 }) {
			s.report(finding{plan: empty}, list)
			return
		}
		s.t.Logf("kubesim: it failed once without faults, but not again in %d runs; the search continues", len(list))
		s.calm = list[0]
	}
	if len(s.calm.Seen.Clients) == 0 {
		s.t.Fatal("kubesim: only the test itself sends requests, so faults have no target: start the code under test with srv.Process, or in a goroutine")
	}
	s.explore(campaign.NewCampaign(limits(&s.options), &s.calm))
}

// explore runs one generation of plans after the other.
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
			switch {
			case len(out.Failures) == 0:
				c.Learn(plans[i], &out)
			case out.Site() == campaign.SiteHang && !s.failsAlone(plans[i], campaign.SiteHang):
				s.t.Logf("kubesim: seed %d made no progress once, but does not hang again: the machine was too busy", plans[i].Seed)
			default:
				s.shrinkAndReport(plans[i], out)
				return
			}
		}
	}
	took := time.Since(s.began)
	sequences, kept := c.Known()
	s.t.Logf("kubesim: %d runs in %v, %.0f a second; %d sequences of requests and answers, %d plans that led to new ones",
		s.runs, took.Round(time.Millisecond), float64(s.runs)/took.Seconds(), sequences, kept)
}

// late reports whether the time limit has been reached.
func (s *search) late() bool {
	return s.options.For > 0 && time.Since(s.began) > s.options.For
}

// seedRange returns the seeds of this process: first, last and the step between them.
func (s *search) seedRange() (first, last, step uint64) {
	o := &s.options
	return o.Seed + s.shard.I - 1, o.Seed + uint64(o.Seeds) - 1, s.shard.N
}

// appendResult appends a line to the results file, if there is one.
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

// sieveProcess is the process that the plans of Sieve restart: the default name of fake/ctrl.
const sieveProcess = "operator"

// replayFile runs the plan in a file, and reports it if it still fails.
func (s *search) replayFile(file string) (failed bool) {
	s.t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatalf("kubesim: %v", err)
	}
	p, err := campaign.Parse(string(data))
	if ext := filepath.Ext(file); ext == ".yaml" || ext == ".yml" {
		p, err = campaign.ParseSieve(data, sieveProcess)
	}
	if err != nil {
		s.t.Fatalf("kubesim: %s: %v", file, err)
	}
	for range attempts {
		s.runs++
		if out := s.team.run(p, false); len(out.Failures) > 0 {
			s.calm = s.team.run(campaign.Plan{Seed: s.options.Seed}, true)
			s.runs++
			s.report(finding{plan: p, saved: file, once: out}, s.repeat(p, &out))
			return true
		}
	}
	return false
}

// report fails the test with the outcomes of the repeated runs of a plan: how often it fails, and how many runs are
// identical.
func (s *search) report(f finding, list []campaign.Outcome) {
	s.t.Helper()
	r := &campaign.Report{Plan: f.plan, Found: f.found, Outcomes: list, Once: f.once, Calm: s.calm, Drawn: s.options.Faults < 0,
		Seeds: s.seeds, Runs: s.runs, Took: time.Since(s.began), Saved: f.saved, Replay: replayLine(s.t.Name(), f.saved)}
	r.Story, r.Link = saveStory(f.saved, r)
	s.appendResult(campaign.Line{Seed: f.plan.Seed, Failure: r.Cause(), Plan: f.plan.Lines(), Replay: r.Replay})
	if s.options.Found != nil {
		s.options.Found(r)
		return
	}
	s.t.Errorf("kubesim: %s", strings.TrimSpace(r.String()))
}

// replayLine returns the command that runs a plan again.
func replayLine(test, file string) string {
	line := fmt.Sprintf("go test -count=1 -run '%s'", pattern(test))
	if file != "" {
		line = planVariable + "=" + file + " " + line
	}
	return line
}

// pattern returns the value of -run that selects a single test.
func pattern(name string) string { return "^" + strings.ReplaceAll(name, "/", "$/^") + "$" }

// corpusDir contains the plans under which tests failed, in one directory per test.
const corpusDir = "testdata/kubesim"

const planExt = ".plan"

// corpus returns the files of plans under which a test has failed, sorted by name.
func corpus(test string) []string {
	files, _ := filepath.Glob(filepath.Join(testDir(test), "*"+planExt)) // the pattern is valid
	slices.Sort(files)
	return files
}

var unsafeInNames = regexp.MustCompile(`[^A-Za-z0-9_/.-]+`)

// testDir returns the directory of a test.
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

// saveStory writes a scenario of a failed run next to the plan's file. It returns the name of the scenario's file, and
// a link that opens the scenario if the address of the page is known. Both are "" if there is no scenario.
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
