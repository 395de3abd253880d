package explore_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	controllerruntime "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubesim/kubesim/examples/documents"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore"
)

// TestReadme runs the second example in the project's README. Its operator creates Secrets with generateName, and creates a second
// one if its cache does not contain the first one yet.
func TestReadme(t *testing.T) {
	var found *explore.Report
	keep := func(r *explore.Report) { found = r }

	fake.Explore(t, fake.ExploreOptions{Seeds: 200, Found: keep}, func(t fake.T, srv *fake.Server) {
		srv.Process("operator", run(srv)) // run is a func(context.Context, http.RoundTripper) error
		createConfigMap(t, srv)
		time.Sleep(10 * time.Minute) // virtual time, under faults
		srv.Heal()                   // no faults from here on
		time.Sleep(10 * time.Minute)
		if n := countSecrets(t, srv); n != 1 {
			t.Errorf("%d secrets, want 1", n)
		}
	})

	is := is.New(t)
	is.True(found != nil) // within 200 seeds
	t.Log(found)
	readme, err := documents.Open("../..", "README.md")
	is.NoErr(err)
	shown, err := readme.Block("text", "seed 10 fails")
	is.NoErr(err)
	report := found.String()
	if strings.Contains(report, "its plan does not replay") {
		t.Log("other processes have interrupted the one that found the plan: the report is that of a single run, and its lines are not compared")
		shown, _, _ = strings.Cut(shown, "readme_test.go:")
	}
	report = drawn.ReplaceAllString(report, "N")
	for line := range strings.Lines(shown) { // the README shows the most important lines of the report
		isPlan := strings.HasPrefix(line, "    on ") || strings.HasPrefix(line, "    before ")
		if !isPlan && !strings.Contains(report, drawn.ReplaceAllString(line, "N")) {
			t.Errorf("the README shows, and the report does not have: %s", line)
		}
	}
}

// drawn matches numbers in a report that vary on a busy machine. The lines of the plan vary, too.
var drawn = regexp.MustCompile(`seed \d+|\d+ of \d+|\d+ (secrets|times)`)

func run(srv *fake.Server) func(context.Context, http.RoundTripper) error {
	return operator(srv, func(m controllerruntime.Manager) error { return (&copies{bug: "double"}).setup(m) })
}

func clientOf(t fake.T, srv *fake.Server) world {
	c, err := client.New(&rest.Config{Host: srv.URL(), Transport: srv.Transport(), QPS: -1}, client.Options{Mapper: mapper()})
	if err != nil {
		t.Fatal(err)
	}
	return world{t, c}
}

func createConfigMap(t fake.T, srv *fake.Server) {
	w := clientOf(t, srv)
	w.must(w.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: named("one"), Data: map[string]string{"value": "1"}}))
}

func countSecrets(t fake.T, srv *fake.Server) int { return len(clientOf(t, srv).secrets()) }
