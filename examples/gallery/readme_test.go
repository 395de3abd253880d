package gallery

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

var write = flag.Bool("write", false, "let TestReadme rewrite the tables of README.md")

// The lines that enclose the tables in README.md.
const tablesBegin, tablesEnd = "<!-- make gallery writes from here -->\n", "<!-- to here -->\n"

// README.md contains the tables of the gallery and of its measurements.
func TestReadme(t *testing.T) {
	is := is.New(t)
	data, err := os.ReadFile("README.md")
	is.NoErr(err)
	before, rest, ok := strings.Cut(string(data), tablesBegin)
	is.True(ok)
	_, after, ok := strings.Cut(rest, tablesEnd)
	is.True(ok)
	want := before + tablesBegin + tables(measurements(t, "testdata/measured.jsonl")) + tablesEnd + after
	if *write {
		is.NoErr(os.WriteFile("README.md", []byte(want), 0o644))
	} else if want != string(data) {
		t.Error("README.md differs from the tables of the gallery and testdata/measured.jsonl: run make gallery, or go test ./gallery -run Readme -write")
	}
}

// tables returns the tables of the exhibits and of the number of seeds after which their mistakes are found.
func tables(all []measurement) string {
	var b strings.Builder
	b.WriteString("\n| file | seen in | the mistake | the pattern |\n|---|---|---|---|\n")
	for _, x := range exhibits {
		fmt.Fprintf(&b, "| `%s_test.go` | %s | %s | %s |\n", x.name, x.seen, x.mistake, x.pattern)
	}
	n := len(all)
	for _, x := range exhibits {
		n = min(n, len(searches(all, x.name, true)), len(searches(all, x.name, false)))
	}
	fmt.Fprintf(&b, "\nThe medians of %d searches, each from another first seed: the number of seeds, and the seconds until the plan was found\n"+
		"and shrunk. A search ends after %s seeds. The last column is the number of seeds under which the correct version passed.\n", n, count(seedsFound))
	b.WriteString("\n| file | seeds with feedback | s | seeds without | s | passes |\n|---|---:|---:|---:|---:|---:|\n")
	for _, x := range exhibits {
		fmt.Fprintf(&b, "| `%s` |", x.name)
		for _, feedback := range []bool{true, false} { // the same searches with and without feedback
			seeds, seconds := medians(searches(all, x.name, feedback)[:n])
			fmt.Fprintf(&b, " %s | %s |", seeds, seconds)
		}
		fmt.Fprintf(&b, " %s |\n", count(survived(all, x.name)))
	}
	b.WriteString("\n")
	return b.String()
}

// searches returns the searches for the mistake of an exhibit, by first seed.
func searches(all []measurement, name string, feedback bool) (list []measurement) {
	for _, m := range all {
		if m.Exhibit == name && m.Feedback == feedback && !m.Correct {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(a, b measurement) int { return int(a.First) - int(b.First) })
	return list
}

// medians returns the medians of seeds and of seconds. A search that found nothing counts as more than all seeds.
func medians(list []measurement) (seeds, seconds string) {
	if len(list) == 0 {
		return "", ""
	}
	var n []int
	var s []float64
	for _, m := range list {
		if m.Missed {
			m.Seeds = seedsFound + 1
		}
		n, s = append(n, m.Seeds), append(s, m.Seconds)
	}
	slices.Sort(n)
	slices.Sort(s)
	low, high := (len(list)-1)/2, len(list)/2
	if seeds = count((n[low] + n[high]) / 2); n[high] > seedsFound {
		seeds = "more than " + count(seedsFound)
	}
	return seeds, fmt.Sprintf("%.1f", (s[low]+s[high])/2)
}

// survived returns the number of seeds with which the correct version was run.
func survived(all []measurement, name string) (seeds int) {
	for _, m := range all {
		if m.Exhibit == name && m.Correct {
			seeds += m.Seeds
		}
	}
	return seeds
}

// count returns n with a thousands separator, such as 10,000.
func count(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	return fmt.Sprint(n)
}
