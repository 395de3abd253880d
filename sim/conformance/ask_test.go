package conformance

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// TestEveryCaseIsPrintedAsItWasRead checks that Save writes cases in the format that Load parses.
func TestEveryCaseIsPrintedAsItWasRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	cases, err := Cases()
	is.NoErr(err)
	situations, err := LifeCases()
	is.NoErr(err)
	for _, c := range append(cases, situations...) {
		again, err := parseCase(c.String())
		is.NoErr(err)
		is.Equal(again.Title, c.Title)
		is.Equal(again.NoNamespace, c.NoNamespace)
		is.Equal(again.Whole, c.Whole)
		is.Equal(again.Disturbs, c.Disturbs)
		is.Equal(again.Steps, c.Steps)
	}
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
	is.Equal(len(asked.Steps), 3) // a step that cannot be sent is omitted
	is.Equal(seen[len(seen)-2:], []string{"PATCH /widgets/w", "DELETE /widgets/w?gracePeriodSeconds=0&propagationPolicy=Background"})
	for _, r := range Run(t.Context(), target, asked.Until(asked)) {
		is.Equal(r.Agrees(), r.Name == "make") // the other steps count
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
