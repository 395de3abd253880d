package conformance

import (
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestEveryCaseIsPrintedAsItWasRead checks that Save writes cases in the form that Load reads.
func TestEveryCaseIsPrintedAsItWasRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := Cases()
	is.NoErr(err)
	situations, err := LifeCases()
	is.NoErr(err)
	for _, c := range append(cases, situations...) {
		again, err := parseCase(c.source())
		is.NoErr(err)
		is.Equal(again.Title, c.Title)
		is.Equal(again.NoNamespace, c.NoNamespace)
		is.Equal(again.Whole, c.Whole)
		is.Equal(again.Disturbs, c.Disturbs)
		is.Equal(again.Steps, c.Steps)
	}
}

// TestVary checks that variations depend only on case and seed, differ from the case, and are valid cases with unique steps.
func TestVary(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := Cases()
	is.NoErr(err)
	changed, seeds := 0, 20
	if testing.Short() {
		seeds = 3
	}
	for i, c := range cases {
		before := c.source()
		for seed := range uint64(seeds) {
			v := Vary(c, seed, cases)
			is.Equal(v.source(), Vary(cases[i], seed, cases).source()) // the same again
			is.Equal(c.source(), before)                               // the case itself is left alone
			names := map[string]bool{}
			for _, s := range v.Steps {
				is.True(!names[s.Name]) // each step has a name of its own
				names[s.Name] = true
			}
			if strings.Contains(v.Title, "; ") {
				changed++
			}
			again, err := parseCase(v.source())
			is.NoErr(err) // the saved file can be read
			is.Equal(len(again.Steps), len(v.Steps))
		}
	}
	is.True(changed > len(cases)*seeds*9/10) // nearly every case can be varied
}

// TestAskAndUntil checks that Ask deletes created objects, and that Until ends the case at the first step whose answers differ.
func TestAskAndUntil(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var seen []string
	calls := 0
	target := Target{URL: "http://x", Transport: inProcess{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.RequestURI)
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			io.WriteString(w, `{"metadata":{"name":"w"}}`)
			return
		}
		if r.URL.Path == "/random" {
			calls++
		}
		io.WriteString(w, `{"n":`+strings.Repeat("1", calls+1)+`}`)
	})}}
	c, err := parseCase("# T\n# @no-namespace\n\n### make\nPOST /widgets\n\n{}\n\n### lost\nGET /{{none.x}}\n\n### random\nGET /random\n\n### last\nGET /last\n")
	is.NoErr(err)
	asked := Ask(t.Context(), target, c)
	is.Equal(len(asked.Steps), 3) // a step that cannot be sent is left out
	is.Equal(seen[len(seen)-2:], []string{"PATCH /widgets/w", "DELETE /widgets/w?gracePeriodSeconds=0&propagationPolicy=Background"})
	for _, r := range Run(t.Context(), target, asked.Until(asked)) {
		is.Equal(r.Agrees(), r.Name == "make") // the others count
	}
	stable := asked.Until(Ask(t.Context(), target, asked))
	is.Equal(len(stable.Steps), 1) // up to the random step

	dir := t.TempDir()
	asked.Area, asked.Name = "area", "name"
	is.NoErr(Save(dir, asked))
	again, err := loadCase(os.DirFS(dir), "area/name.http")
	is.NoErr(err)
	is.Equal(again.Steps, asked.Steps)
	is.Equal(difference(asked.Recorded("last"), again.Recorded("last"), ""), nil)
}

// TestShrink leaves the steps that it takes.
func TestShrink(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var c Case
	for _, name := range strings.Split("abcdefghijklmnop", "") {
		c.Steps = append(c.Steps, Step{Name: name})
	}
	has := func(c Case, name string) bool {
		return slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Name == name })
	}
	small := Shrink(c, 100, func(less Case) bool { return has(less, "c") && has(less, "n") })
	is.Equal(len(small.Steps), 2)
	is.Equal(len(Shrink(c, 0, func(Case) bool { return true }).Steps), len(c.Steps)) // no more tries than allowed
}
