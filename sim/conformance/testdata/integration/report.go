package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// row holds the results of a package after the runs. Results of a run that did not take place are nil.
type row struct {
	pkg
	real, kubesim *gotest.Results

	passing int      // leaf tests that pass on the real programs
	lost    []string // those of them that do not pass here
	known   []int    // which reason each has, -1 for none
}

// judge finds the lost tests, and the reason for each.
func (r *row) judge(known reasons) {
	if r.real == nil {
		return
	}
	for _, name := range leaves(r.real.Verdicts) {
		r.passing++
		if r.kubesim != nil && r.kubesim.Verdicts[name] != gotest.Pass {
			r.lost = append(r.lost, name)
			r.known = append(r.known, known.find(r.path, name))
		}
	}
}

// leaves returns the tests without subtests that pass, in order.
func leaves(verdicts map[string]string) (names []string) {
	parents := map[string]bool{}
	for name := range verdicts {
		for i, c := range name {
			if c == '/' {
				parents[name[:i]] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(verdicts)) {
		if verdicts[name] == gotest.Pass && !parents[name] {
			names = append(names, name)
		}
	}
	return names
}

// unexplained returns the number of tests that are lost without a reason.
func (r *row) unexplained() (n int) {
	for _, k := range r.known {
		if k < 0 {
			n++
		}
	}
	return n
}

// print prints the tests that are lost without a reason.
func (r *row) print() {
	if r.real == nil {
		fmt.Printf("  %s: nothing is recorded of the real programs\n", r.path)
		return
	}
	for i, name := range r.lost {
		if r.known[i] < 0 {
			fmt.Printf("  lost: %s %s\n", r.path, name)
		}
	}
}

// printTable prints a Markdown table with a line for each package, and returns the number of tests that are lost without a reason.
func printTable(rows []row) (unexplained int) {
	var total struct {
		passing, here, lost, belong int
		real, kubesim               float64
	}
	fmt.Println("\n| package | pass there | pass here | lost | of these with a reason | there, s | here, s |\n|---|---|---|---|---|---|---|")
	for _, r := range rows {
		if r.real == nil || r.kubesim == nil {
			continue
		}
		here, open := r.passing-len(r.lost), r.unexplained()
		fmt.Printf("| %s | %d | %d | %d | %d | %.0f | %.0f |\n", r.path, r.passing, here, len(r.lost), len(r.lost)-open, r.real.Seconds, r.kubesim.Seconds)
		unexplained += open
		total.passing += r.passing
		total.here += here
		total.lost += len(r.lost)
		total.belong += len(r.lost) - open
		total.real += r.real.Seconds
		total.kubesim += r.kubesim.Seconds
	}
	fmt.Printf("| **all** | %d | %d | %d | %d | %.0f | %.0f |\n\n", total.passing, total.here, total.lost, total.belong, total.real, total.kubesim)
	if asked := total.passing - total.belong; asked > 0 {
		fmt.Printf("Of the %d leaf tests that pass there and have no reason not to pass here, %d pass here: %.1f %%.\n", asked, total.here, 100*float64(total.here)/float64(asked))
	}
	if total.real > 0 {
		fmt.Printf("The tests took %.0f s there and %.0f s here: %.0f %%.\n", total.real, total.kubesim, 100*total.kubesim/total.real)
	}
	return unexplained
}

// printReasons prints a Markdown table of the reasons for lost tests, with the number of tests.
func printReasons(rows []row, known reasons) {
	count := map[string]int{}
	for _, r := range rows {
		for _, k := range r.known {
			if k >= 0 {
				count[known[k].text]++
			}
		}
	}
	if len(count) == 0 {
		return
	}
	fmt.Println("\n| lost | reason |\n|---|---|")
	texts := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) })
	for _, text := range texts {
		fmt.Printf("| %d | %s |\n", count[text], text)
	}
}

// reasons say why tests may be lost.
type reasons []reason

// reason is one line of reasons.txt: tests of packages, below a text that says why they are lost.
type reason struct {
	line            int
	text            string
	packages, tests *regexp.Regexp
}

// readReasons reads reasons.txt: a text on lines that begin with #, then lines with two regular expressions, for packages and
// for tests, with a tab between them.
func readReasons(file string) (all reasons, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	number, why := 0, ""
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if words, comment := strings.CutPrefix(line, "#"); comment {
			why = strings.TrimSpace(why + words)
			continue
		}
		if line == "" {
			why = ""
			continue
		}
		packages, tests, found := strings.Cut(line, "\t")
		r := reason{line: number, text: why}
		if !found {
			return nil, fmt.Errorf("%s:%d: want two regular expressions with a tab between them", file, number)
		}
		if why == "" {
			return nil, fmt.Errorf("%s:%d: there is no reason above this line: write one on a line that begins with #", file, number)
		}
		if r.packages, err = regexp.Compile("^(?:" + packages + ")$"); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		if r.tests, err = regexp.Compile("^(?:" + strings.TrimSpace(tests) + ")$"); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, number, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// short returns the path of a package as reasons.txt has it: below test/integration, that of another module after its name.
func short(path string) string {
	path = strings.TrimPrefix(path, "kubernetes/test/integration/")
	return strings.Replace(path, "apiextensions/test/integration", "apiextensions", 1)
}

// find returns the index of the first reason for which a test may be lost, -1 without one.
func (all reasons) find(path, name string) int {
	return slices.IndexFunc(all, func(r reason) bool { return r.packages.MatchString(short(path)) && r.tests.MatchString(name) })
}

// stale returns a line for each reason for which no test is lost, for packages that were run.
func (all reasons) stale(rows []row) (lines []string) {
	for i, reason := range all {
		ran, used := false, false
		for _, r := range rows {
			ran = ran || r.kubesim != nil && r.real != nil && reason.packages.MatchString(short(r.path))
			used = used || slices.Contains(r.known, i)
		}
		if ran && !used {
			lines = append(lines, fmt.Sprintf("reasons.txt:%d: nothing is lost for this reason: take the line out", reason.line))
		}
	}
	return lines
}
