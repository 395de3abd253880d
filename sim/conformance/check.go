package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// TB has the methods of a test that Check needs; *testing.T implements TB[*testing.T]. The package must not import
// testing, because programs that import the package would then link it.
type TB[T any] interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Skipf(format string, args ...any)
	Run(name string, f func(T)) bool
}

// Options are options of Check. The zero value runs all recorded cases, one after the other.
type Options[T any] struct {
	Cases []Case // the default is Cases()
	// Areas are the areas whose cases are played. If nil, all areas are played. If Workers is set, cases excluded only
	// by go test -run are still played, and may leave objects that affect other cases.
	Areas []string
	Known string // known differences in text form; the default is KnownDifferences()
	// Play plays a case: Run, or RunLife for situations. The default is Run.
	Play func(context.Context, Target, Case) []StepResult

	// Isolate runs the body of each case. It is typically testing/synctest.Test, so that time is virtual. The default
	// calls f(t).
	Isolate func(t T, f func(T))
	// Workers is the number of cases that run concurrently, for servers that run in real time. Cases that disturb
	// others run last, alone on their server. If Workers is 0, each case runs in its own subtest.
	Workers int
	// Lines is the maximum number of differences printed per step. The default is 3.
	Lines int
}

// Check compares a server with the recordings, in a subtest per area and case, and prints how many steps agree. target
// returns the server for a case; it may return the same server for all cases.
//
// Typical use, with virtual time and a new server for each case:
//
//	conformance.Check(t, func(t *testing.T, c conformance.Case) conformance.Target {
//		srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//		return conformance.Target{URL: srv.URL(), Transport: srv.Transport()}
//	}, conformance.Options[*testing.T]{Isolate: synctest.Test})
func Check[T TB[T]](t T, target func(T, Case) Target, opts Options[T]) {
	t.Helper()
	c := &check[T]{opts: opts, target: target, results: map[string][]StepResult{}}
	if err := c.load(); err != nil {
		t.Fatalf("%v", err)
	}
	if opts.Workers > 0 {
		c.runAhead(t)
	}
	for _, area := range areas(c.opts.Cases) {
		t.Run(area[0].Area, func(t T) { c.area(t, area) })
	}
	c.print(t)
}

// check is the state of one call to Check.
type check[T TB[T]] struct {
	opts    Options[T]
	target  func(T, Case) Target
	known   known
	mu      sync.Mutex              // guards results during runAhead
	results map[string][]StepResult // results of the cases that ran, by case ID
	table   []tally                 // one entry per area that ran
}

// tally counts the steps and cases of an area.
type tally struct {
	area                string
	steps, stepsAgree   int
	cases, casesAgree   int
	skippedCases, noted int
}

func (c *check[T]) load() (err error) {
	if c.opts.Cases == nil {
		if c.opts.Cases, err = Cases(); err != nil {
			return err
		}
	}
	if c.opts.Known == "" {
		c.opts.Known = KnownDifferences()
	}
	if c.opts.Play == nil {
		c.opts.Play = Run
	}
	if c.opts.Lines == 0 {
		c.opts.Lines = 3
	}
	if c.known, err = parseKnown(c.opts.Known, c.opts.Cases); err == nil && c.opts.Areas != nil {
		c.opts.Cases = slices.DeleteFunc(slices.Clone(c.opts.Cases), func(x Case) bool { return !slices.Contains(c.opts.Areas, x.Area) })
	}
	return err
}

// areas groups sorted cases by area.
func areas(cases []Case) [][]Case {
	var out [][]Case
	for i, x := range cases {
		if i == 0 || x.Area != cases[i-1].Area {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], x)
	}
	return out
}

// runAhead runs all cases that the targets can run, Workers at a time. Cases that disturb others run sequentially after
// all other cases on their server.
func (c *check[T]) runAhead(t T) {
	type server struct {
		beside sync.WaitGroup
		alone  []func()
	}
	servers := map[string]*server{} // by URL
	var work []func()
	for _, x := range c.opts.Cases {
		target := c.target(t, x)
		if target.ready(x) != nil {
			continue
		}
		s := servers[target.URL]
		if s == nil {
			s = &server{}
			servers[target.URL] = s
		}
		play := func() { c.keep(x, c.opts.Play(context.Background(), target, x)) }
		if x.RunsAlone() {
			s.alone = append(s.alone, play)
			continue
		}
		s.beside.Add(1)
		work = append(work, func() {
			defer s.beside.Done()
			play()
		})
	}
	for _, s := range servers { // the order does not matter
		work = append(work, func() {
			s.beside.Wait()
			for _, play := range s.alone {
				play()
			}
		})
	}
	atATime(c.opts.Workers, work)
}

// atATime calls the functions in order, at most n of them concurrently.
func atATime(n int, work []func()) {
	todo := make(chan func(), len(work))
	for _, f := range work {
		todo <- f
	}
	close(todo)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			for f := range todo {
				f()
			}
		})
	}
	wg.Wait()
}

// keep stores the results of a case.
func (c *check[T]) keep(x Case, results []StepResult) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[x.ID()] = results
}

func (c *check[T]) area(t T, cases []Case) {
	sum := tally{area: cases[0].Area}
	for _, x := range cases {
		t.Run(x.Name, func(t T) { c.one(t, x, &sum) })
	}
	c.table = append(c.table, sum)
	entry := areaEntry(sum.area)
	if c.known[entry] != "" && sum.cases == len(cases) && sum.stepsAgree == sum.steps {
		t.Errorf("every step of %s agrees: remove it from the known differences", entry)
	}
}

// one runs the subtest of a case: it plays the case, unless runAhead already has, and reports the results.
func (c *check[T]) one(t T, x Case, sum *tally) {
	t.Helper()
	results, ran := c.results[x.ID()]
	if c.opts.Workers == 0 {
		var why error
		results, why = c.run(t, x)
		ran = why == nil
	}
	if !ran {
		sum.skippedCases++
		t.Skipf("the target cannot run it: it lacks a second server or a way to make its store forget")
	}
	c.report(t, x, results, sum)
}

// run plays a case, isolated by Options.Isolate if that is set. why is the reason if the target cannot run the case.
func (c *check[T]) run(t T, x Case) (results []StepResult, why error) {
	body := func(t T) {
		target := c.target(t, x)
		if why = target.ready(x); why == nil {
			results = c.opts.Play(context.Background(), target, x)
		}
	}
	if c.opts.Isolate == nil {
		body(t)
	} else {
		c.opts.Isolate(t, body)
	}
	return results, why
}

func (c *check[T]) report(t T, x Case, results []StepResult, sum *tally) {
	t.Helper()
	agree := 0
	for _, r := range results {
		if r.Agrees() {
			agree++
		}
		c.reportStep(t, x, r, sum)
	}
	whole := agree == len(results)
	if c.known[caseEntry(x)] != "" && len(results) > 0 && whole {
		t.Errorf("every step of %s agrees: remove it from the known differences", caseEntry(x))
	}
	sum.cases++
	if whole {
		sum.casesAgree++
	}
	sum.steps += len(results)
	sum.stepsAgree += agree
}

func (c *check[T]) reportStep(t T, x Case, r StepResult, sum *tally) {
	t.Helper()
	entry := stepEntry(x, r.Name)
	why := c.known.reason(x, r.Name)
	switch {
	case r.Agrees() && c.known[entry] != "":
		t.Errorf("%s agrees: remove it from the known differences", entry)
	case r.Agrees():
	case why != "":
		sum.noted++
		t.Logf("%s differs, which is known: %s", entry, why)
	default:
		lines := r.Differences
		if len(lines) > c.opts.Lines {
			more := fmt.Sprintf("and %d more", len(lines)-c.opts.Lines)
			lines = append(lines[:c.opts.Lines:c.opts.Lines], more)
		}
		t.Errorf("%s differs:\n\t%s", entry, strings.Join(lines, "\n\t"))
	}
}

// print logs a table with one line per area, and the totals.
func (c *check[T]) print(t T) {
	t.Helper()
	var b strings.Builder
	var sum tally
	for _, a := range c.table {
		sum.skippedCases += a.skippedCases
		if a.cases == 0 {
			continue // all cases were skipped, or excluded by -run
		}
		fmt.Fprintf(&b, "\n%-24s %4d / %4d steps agree", a.area, a.stepsAgree, a.steps)
		if a.noted > 0 {
			fmt.Fprintf(&b, ", %d differ as known", a.noted)
		}
		sum.steps += a.steps
		sum.stepsAgree += a.stepsAgree
		sum.cases += a.cases
		sum.casesAgree += a.casesAgree
	}
	t.Logf("%s\n%d of %d steps agree; %d of %d cases agree whole; %d cases skipped",
		b.String(), sum.stepsAgree, sum.steps, sum.casesAgree, sum.cases, sum.skippedCases)
}
