package explore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
)

// earlierRuns counts the runs of a test in a process.
var earlierRuns int

// TestExploreStateOfProcess checks that a failure that only earlier runs in the same process can cause is not reported as
// a plan that fails.
func TestExploreStateOfProcess(t *testing.T) {
	is := is.New(t)
	found := testUnderPlan(t, fake.ExploreOptions{Workers: 1, Repeat: 3}, func(t fake.T, srv *fake.Server) {
		srv.Process("copier", copier(srv, true))
		time.Sleep(time.Minute)
		if earlierRuns++; earlierRuns > 5 {
			t.Error("the process has run too often")
		}
	})
	is.True(found != nil)
	is.Equal(found.Plan.String(), found.Found.String()) // no smaller plan is reported
	report := found.String()
	is.True(strings.Contains(report, "failed once, but its plan does not replay: each of 3 runs in a process of its own passes"))
	is.True(strings.Contains(report, "the process has run too often"))
}

// TestExploreSieve checks that a test plan of Sieve runs: the operator is restarted five seconds after the test itself creates an object.
func TestExploreSieve(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "restart.yaml")
	is.NoErr(os.WriteFile(file, []byte(`actions:
- actionType: restartController
  waitBefore: 5
  trigger:
    definitions: [{triggerName: t, condition: {conditionType: onObjectCreate, resourceKey: configmap/default/one}}]
    expression: t
`), 0o600))
	t.Setenv("KUBESIM_PLAN", file)
	found := testUnderPlan(t, fake.ExploreOptions{Workers: 1, Repeat: 2}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("operator", copier(srv, false))
		_, err := send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"one"}}`, nil)
		is.NoErr(err)
		time.Sleep(time.Minute)
		var list names
		_, err = send(srv.Transport(), srv, "GET", secretsPath, "", &list)
		is.NoErr(err)
		is.Equal(len(list.Items), 1)
	})
	is.True(found != nil)
	is.Equal(found.Plan.Lines(), "then 5s change 1 create configmap default/one {} {} do crash operator 1s\n")
	is.True(strings.Contains(found.String(), "a known plan fails (seed 1), 2 of 2 times"))
}

// TestExploreStepOfTheTest checks that a step runs after the second write of the test itself: the operator is restarted, and forgets that it
// has made a secret.
func TestExploreStepOfTheTest(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "second.plan")
	is.NoErr(os.WriteFile(file, []byte("seed 1\nafter test 2 do crash operator 1s\n"), 0o600))
	t.Setenv("KUBESIM_PLAN", file)
	found := testUnderPlan(t, fake.ExploreOptions{Workers: 1, Repeat: 2}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("operator", copier(srv, false))
		var secrets []int
		for _, name := range []string{"one", "two"} {
			_, err := send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"`+name+`"}}`, nil)
			is.NoErr(err)
			time.Sleep(time.Minute)
			var list names
			_, err = send(srv.Transport(), srv, "GET", secretsPath, "", &list)
			is.NoErr(err)
			secrets = append(secrets, len(list.Items))
		}
		t.Errorf("secrets: %v", secrets)
	})
	is.True(found != nil)
	is.True(strings.Contains(found.String(), "a known plan fails (seed 1), 2 of 2 times"))
	is.True(strings.Contains(found.String(), "secrets: [1 3]"))
}

// TestExploreLeavesNoFiles checks that temporary files of a test are removed in the separate processes, too.
func TestExploreLeavesNoFiles(t *testing.T) {
	is := is.New(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	testUnderPlan(t, fake.ExploreOptions{Workers: 1, Seeds: 1}, copied(true))
	left, err := os.ReadDir(dir)
	is.NoErr(err)
	is.Equal(len(left), 0)
}
