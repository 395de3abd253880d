package main

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/conformance/testdata/suites/gotest"
)

// outcome holds the results of a suite over one target.
type outcome struct {
	packages map[string]gotest.Results
}

// row holds the results of a project. The outcome of a target that was not run is nil.
type row struct {
	project
	known                  gotest.Verdicts
	kubesim, real, virtual *outcome
	differences            []string
}

// table is a Markdown table with a line for each project.
func table(rows []row) string {
	var b strings.Builder
	b.WriteString("| suite | specs | real: pass, fail, skip, vary | kubesim: pass, fail, skip | same as real | real, s | kubesim, s | times faster | in virtual time: same as real | virtual, s |\n")
	b.WriteString("|---|---|---|---|---|---|---|---|---|---|\n")
	for _, r := range rows {
		c := r.count()
		there, stable := c.there, c.stable
		fmt.Fprintf(&b, "| %s %s | %d | %d, %d, %d, %d |", r.name, r.version(), stable+there[gotest.Varies], there[gotest.Pass], there[gotest.Fail], there[gotest.Skip], there[gotest.Varies])
		if r.kubesim != nil {
			here := r.kubesim.counts()
			fmt.Fprintf(&b, " %d, %d, %d | %d of %d | %s | %s |", here[gotest.Pass], here[gotest.Fail], here[gotest.Skip], c.kubesim, stable, r.real.time(), r.kubesim.time())
		} else {
			fmt.Fprintf(&b, " | | %s | |", r.real.time())
		}
		if r.real != nil && r.kubesim != nil {
			fmt.Fprintf(&b, " %.1f", r.real.seconds()/r.kubesim.seconds())
		}
		b.WriteString(" |")
		if r.virtual != nil {
			fmt.Fprintf(&b, " %d of %d | %s |", c.virtual, stable, r.virtual.time())
		} else {
			b.WriteString(" | |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// counts are the numbers of specs of a suite.
type counts struct {
	there            map[string]int // on the real server, by result
	stable           int            // with the same result in all runs on the real server
	kubesim, virtual int            // with that result here
}

// count counts the specs of the packages that ran.
func (r row) count() counts {
	c := counts{there: map[string]int{}}
	for path, names := range r.known {
		if !r.ran(path) {
			continue
		}
		for name, verdict := range names.Verdicts {
			c.there[verdict]++
			if verdict == gotest.Varies {
				continue
			}
			c.stable++
			if r.kubesim != nil && r.kubesim.packages[path].Verdicts[name] == verdict {
				c.kubesim++
			}
			if r.virtual != nil && r.virtual.packages[path].Verdicts[name] == verdict {
				c.virtual++
			}
		}
	}
	return c
}

// ran reports whether a package was run in this run.
func (r row) ran(path string) bool {
	for _, o := range []*outcome{r.kubesim, r.real, r.virtual} {
		if o != nil {
			if _, ok := o.packages[path]; ok {
				return true
			}
		}
	}
	return false
}

func (o *outcome) seconds() (sum float64) {
	for _, r := range o.packages {
		sum += r.Seconds
	}
	return sum
}

// time returns the total time of all packages, or "" if they were not run.
func (o *outcome) time() string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%.0f", o.seconds())
}

func (o *outcome) counts() map[string]int {
	n := map[string]int{}
	for _, r := range o.packages {
		for _, verdict := range r.Verdicts {
			n[verdict]++
		}
	}
	return n
}
