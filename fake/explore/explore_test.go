package explore_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	_ "github.com/kubesim/kubesim/fake/explore"
	"github.com/kubesim/kubesim/fake/explore/campaign"
	"github.com/kubesim/kubesim/sim/scenario"
)

// The paths of collections.
const (
	mapsPath    = "/api/v1/namespaces/default/configmaps"
	secretsPath = "/api/v1/namespaces/default/secrets"
)

// send sends a request with a JSON body. It decodes the response into into, unless that is nil.
func send(c http.RoundTripper, srv *fake.Server, method, path, body string, into any) (code int, err error) {
	r, err := http.NewRequest(method, srv.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := c.RoundTrip(r)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	if into != nil {
		err = json.NewDecoder(res.Body).Decode(into)
	}
	return res.StatusCode, err
}

type names struct {
	Items []struct{ Metadata struct{ Name string } }
}

// copier checks once per second that there are as many Secrets as ConfigMaps. A stable copier names the Secrets after
// the ConfigMaps. An unstable copier creates another Secret if there are fewer Secrets.
func copier(srv *fake.Server, stable bool) func(ctx context.Context, c http.RoundTripper) error {
	return func(ctx context.Context, c http.RoundTripper) error {
		made := 0
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			var from names
			if code, err := send(c, srv, "GET", mapsPath, "", &from); err != nil || code != http.StatusOK {
				continue
			}
			for i, m := range from.Items {
				switch {
				case stable:
					_, _ = send(c, srv, "POST", secretsPath, `{"metadata":{"name":"`+m.Metadata.Name+`"}}`, nil)
				case i >= made: // and after a restart?
					if code, _ := send(c, srv, "POST", secretsPath, `{"metadata":{"generateName":"s-"}}`, nil); code == http.StatusCreated {
						made++
					}
				}
			}
		}
		return nil
	}
}

// copied is the body of a test for a copier.
func copied(stable bool) func(fake.T, *fake.Server) {
	return func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("copier", copier(srv, stable))
		_, err := send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"one"}}`, nil)
		is.NoErr(err)
		time.Sleep(time.Minute)
		srv.Heal()
		time.Sleep(time.Minute)
		var list names
		_, err = send(srv.Transport(), srv, "GET", secretsPath, "", &list)
		is.NoErr(err)
		is.Equal(len(list.Items), 1)
	}
}

// testUnderPlan runs Explore and returns its report, or nil if Explore found no failure.
func testUnderPlan(t *testing.T, o fake.ExploreOptions, body func(fake.T, *fake.Server)) (found *campaign.Report) {
	t.Helper()
	o.Server.Bare, o.Found = true, func(r *campaign.Report) { found = r }
	fake.Explore(t, o, body)
	return found
}

// TestExplore checks that Explore finds a failure that occurs only with faults.
func TestExplore(t *testing.T) {
	t.Parallel()
	var plans []string
	for _, workers := range []int{1, 2} {
		if testing.Short() && workers == 1 {
			continue
		}
		t.Run(strconv.Itoa(workers), func(t *testing.T) { // one call per test, because code after the call also runs in workers
			is := is.New(t)
			found := testUnderPlan(t, fake.ExploreOptions{Workers: workers}, copied(false))
			is.True(found != nil)
			is.True(len(found.Plan.Items) < len(found.Found.Items)) // the plan was shrunk
			is.Equal(len(found.Outcomes), 10)
			is.True(strings.Contains(found.String(), "copier create secrets: 2 times instead of 1\n"))
			is.True(strings.Contains(found.String(), "additional write: n ")) // the incorrect write
			is.True(strings.Contains(found.String(), ", 10 of 10 times ("))
			plans = append(plans, found.Found.String())
		})
	}
	is.New(t).True(len(slices.Compact(plans)) <= 1) // independent of the number of processes; workers have no plans
}

// TestExploreKnown checks that a search continues after known failures, of which each line of a variable names one.
func TestExploreKnown(t *testing.T) {
	is := is.New(t)
	t.Setenv("KUBESIM_KNOWN", "no failure has this text\n3 != 1")
	found := testUnderPlan(t, fake.ExploreOptions{Repeat: 2, Known: []string{"2 != 1"}}, copied(false))
	is.True(strings.Contains(found.String(), "4 != 1")) // another failure
}

// TestExploreCorrect checks that a correct client passes under all plans.
func TestExploreCorrect(t *testing.T) {
	t.Parallel()
	fake.Explore(t, fake.ExploreOptions{Seeds: 50, Server: fake.Options{Bare: true}}, copied(true))
}

// TestExploreSpares checks that the test itself has a separate API server, which responds regardless of faults on the
// others.
func TestExploreSpares(t *testing.T) {
	t.Parallel()
	seeds := 50
	if testing.Short() {
		seeds = 12
	}
	fake.Explore(t, fake.ExploreOptions{Seeds: seeds, Server: fake.Options{Bare: true}}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("copier", copier(srv, true))
		for i := range 30 {
			code, err := send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"m`+strconv.Itoa(i)+`"}}`, nil)
			is.NoErr(err)
			is.Equal(code, http.StatusCreated)
			time.Sleep(time.Second)
		}
		srv.Heal()
	})
}

// TestExploreCorpus checks that a failing plan is saved and from then on runs first, and that the report contains the
// command to repeat it. The test runs itself as a child process, because the child fails.
func TestExploreCorpus(t *testing.T) {
	const inside = "KUBESIM_TEST_CORPUS"
	if os.Getenv(inside) != "" {
		fake.Explore(t, fake.ExploreOptions{Repeat: 3, Server: fake.Options{Bare: true}}, copied(false))
		return
	}
	t.Parallel()
	is := is.New(t)
	program, err := os.Executable()
	is.NoErr(err)
	dir := t.TempDir()
	fails := func(more ...string) string {
		cmd := exec.Command(program, "-test.run=^TestExploreCorpus$")
		cmd.Dir, cmd.Env = dir, append(append(os.Environ(), inside+"=1"), more...)
		out, err := cmd.CombinedOutput()
		is.True(err != nil) // the test fails
		return string(out)
	}
	first := fails("KUBESIM_SITE=https://example.com/page/")
	is.True(strings.Contains(first, "seed 1 fails; 1 of 8 faults and steps are sufficient"))
	files, err := filepath.Glob(filepath.Join(dir, "testdata/kubesim/TestExploreCorpus/*.plan"))
	is.NoErr(err)
	is.Equal(len(files), 1)
	is.True(strings.Contains(first, "opens in the page: https://example.com/page/#v1.any."))
	told, err := os.ReadFile(strings.TrimSuffix(files[0], ".plan") + ".txtar") // the saved scenario
	is.NoErr(err)
	story, err := scenario.ParseFile(told)
	is.NoErr(err)
	retold, err := scenario.Run(story, scenario.RunOptions{})
	is.NoErr(err)
	is.Equal(retold.Failure, (*scenario.Failure)(nil))
	is.Equal(strings.Count(retold.Transcript, "> request POST "+secretsPath+" --as copier"), 2) // the copier creates two here, too
	if strings.Count(retold.Transcript, " 201") != 3 {
		t.Error(retold.Transcript)
	}
	again := fails("KUBESIM_SITE=")
	is.True(strings.Contains(again, "a known plan fails (seed 1), 3 of 3 times"))
	is.True(strings.Contains(again, "copier create secrets: 2 times instead of 1\n")) // compared with a run without faults
	is.True(strings.Contains(again, "the clients sent no further writes until the end, "))
	is.True(regexp.MustCompile(`opens in the page: go run \S+/kubesim open testdata/kubesim/\S+\.txtar `).MatchString(again))

	if !testing.Short() { // three more searches, each in processes of its own
		is.NoErr(os.RemoveAll(filepath.Join(dir, "testdata")))
		fails("KUBESIM_SHARD=2/3", "KUBESIM_RESULTS=results") // each of several processes runs its shard
		fails("JOB_COMPLETION_INDEX=2", "KUBESIM_SHARDS=3", "KUBESIM_RESULTS=results")
		results, err := os.Open(filepath.Join(dir, "results"))
		is.NoErr(err)
		defer results.Close()
		merged, err := campaign.Merge(results)
		is.NoErr(err)
		is.Equal(merged.Shards, []string{"TestExploreCorpus 2/3", "TestExploreCorpus 3/3"})
		seeds := 0
		for _, f := range merged.Failures {
			for _, seed := range f.Seeds {
				is.True(seed%3 != 1) // seeds of the first shard
				seeds++
			}
		}
		is.Equal(seeds, 2)
	}

	other := filepath.Join(dir, "mine.plan")
	is.NoErr(os.WriteFile(other, []byte("# known\nseed 5\non create secrets times=1 do commit-then-fail Timeout\n"), 0o644))
	alone := fails("KUBESIM_PLAN=mine.plan")
	is.True(strings.Contains(alone, "a known plan fails (seed 5), 3 of 3 times"))
	is.True(strings.Contains(alone, "KUBESIM_PLAN=mine.plan go test -count=1 -run '^TestExploreCorpus$'"))
}

// TestExplorePrepare checks that runs begin with the objects of Prepare, which is called once in each process.
func TestExplorePrepare(t *testing.T) {
	t.Parallel()
	times := 0
	prepare := func(t fake.T, srv *fake.Server) {
		times++
		if err := srv.Load("testdata/explore.yaml"); err != nil || times > 1 {
			t.Errorf("call %d: %v", times, err)
		}
	}
	server := fake.Options{Nodes: 1, Controllers: []string{"*"}}
	fake.Explore(t, fake.ExploreOptions{Seeds: 20, Workers: 2, Server: server, Prepare: prepare}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		srv.Process("copier", copier(srv, true))
		code, err := send(srv.Transport(), srv, "GET", widgetPath, "", nil)
		is.NoErr(err)
		is.Equal(code, http.StatusOK)
		time.Sleep(time.Minute)
	})
}

// TestExploreEdits checks that edits are drawn from the schema of a custom resource, and that the report contains the
// edits reduced to the relevant fields.
func TestExploreEdits(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	found := testUnderPlan(t, fake.ExploreOptions{Repeat: 2, Edits: []string{"widgets.example.com"}}, func(t fake.T, srv *fake.Server) {
		is := is.New(t)
		is.NoErr(srv.Load("testdata/explore.yaml"))
		srv.Process("reader", func(ctx context.Context, c http.RoundTripper) error {
			for ctx.Err() == nil {
				time.Sleep(time.Second)
				_, _ = send(c, srv, "GET", widgetPath, "", nil)
			}
			return nil
		})
		time.Sleep(time.Minute)
		var w struct{ Spec struct{ Size int } }
		_, err := send(srv.Transport(), srv, "GET", widgetPath, "", &w)
		is.NoErr(err)
		is.True(w.Spec.Size < 5)
	})
	is.True(found != nil)
	is.Equal(len(found.Plan.Items), 1)
	is.True(strings.HasSuffix(found.Plan.String(), ` do edit widgets.example.com default/w {"spec":{"size":5}}`+"\n"))
	is.True(!strings.Contains(found.Found.String(), `{"spec":{"size":5}}`)) // the drawn plan is larger
}

// TestExploreOutcome checks that an Outcome compares with the run without faults in every process, and that writes of
// the plan itself do not count as a difference.
func TestExploreOutcome(t *testing.T) {
	t.Parallel()
	t.Run("same", func(t *testing.T) {
		var same fake.Outcome
		fake.Explore(t, fake.ExploreOptions{Seeds: 40, Workers: 2, Server: fake.Options{Bare: true}}, func(t fake.T, srv *fake.Server) {
			srv.Process("writer", func(ctx context.Context, c http.RoundTripper) error {
				for n := 0; ctx.Err() == nil; n = 1 - n {
					_, _ = send(c, srv, "PUT", mapsPath+"/one", `{"metadata":{"name":"one"},"data":{"n":"`+strconv.Itoa(n)+`"}}`, nil)
					time.Sleep(time.Second)
				}
				return nil
			})
			_, _ = send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"one"}}`, nil)
			time.Sleep(time.Minute)
			srv.Heal()
			srv.Eventually("it is 1", time.Minute, func(view fake.View) error {
				if n := view.List("configmaps", "default")[0].String("data", "n"); n != "1" {
					return errors.New(n)
				}
				return nil
			})
			same.Compare(t, srv, "configmaps")
		})
	})
	t.Run("different", func(t *testing.T) {
		is := is.New(t)
		var same fake.Outcome
		found := testUnderPlan(t, fake.ExploreOptions{Workers: 2, Repeat: 2}, func(t fake.T, srv *fake.Server) {
			srv.Process("copier", copier(srv, false))
			_, _ = send(srv.Transport(), srv, "POST", mapsPath, `{"metadata":{"name":"one"}}`, nil)
			time.Sleep(time.Minute)
			srv.Heal()
			time.Sleep(time.Minute)
			same.Compare(t, srv, "secrets")
		})
		is.True(found != nil)
		is.True(strings.Contains(found.String(), "+ secrets {")) // an additional object
		is.True(!strings.Contains(found.String(), "- secrets {"))
	})
}

const widgetPath = "/apis/example.com/v1/namespaces/default/widgets/w"

// TestExploreAfterOneFailure checks that a failure without faults that does not occur again does not end the search.
func TestExploreAfterOneFailure(t *testing.T) {
	const variable = "KUBESIM_TEST_FAILS_ONCE" // the file that makes one run fail; workers inherit its name
	if os.Getenv(variable) == "" {
		file := filepath.Join(t.TempDir(), "once")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(variable, file)
	}
	is := is.New(t)
	found := testUnderPlan(t, fake.ExploreOptions{Repeat: 2, Workers: 1}, func(t fake.T, srv *fake.Server) {
		if os.Remove(os.Getenv(variable)) == nil {
			t.Errorf("once")
		}
		srv.Process("client", func(ctx context.Context, transport http.RoundTripper) error {
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL()+"/api/v1/namespaces/default/configmaps",
				strings.NewReader(`{"metadata":{"name":"a"}}`))
			if err != nil {
				return err
			}
			res, err := transport.RoundTrip(r)
			if err == nil && res.StatusCode >= http.StatusInternalServerError {
				t.Errorf("a fault")
			}
			<-ctx.Done()
			return nil
		})
		time.Sleep(time.Minute)
	})
	is.True(found != nil && len(found.Plan.Items) > 0) // a plan with faults
	is.True(strings.Contains(found.String(), "a fault"))
}

// TestExploreEnds checks that the next run starts regardless of how a run ends, and that the report contains the cause.
func TestExploreEnds(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name, says string
		body       func(t fake.T, srv *fake.Server)
	}{
		{"fatal", "explore_test.go", func(t fake.T, _ *fake.Server) { t.Fatal("no") }},
		{"panic", "panic: oh", func(fake.T, *fake.Server) { panic("oh") }},
		{"panic elsewhere", "panic: oh", func(fake.T, *fake.Server) {
			go panic("oh")
			time.Sleep(time.Second)
		}},
		{"leak", "goroutines that the test has started do not end with it", func(fake.T, *fake.Server) {
			go func() { <-make(chan int) }()
		}},
		{"cleanup", "after the body: <nil>", func(t fake.T, srv *fake.Server) {
			t.Cleanup(func() { t.Errorf("after the body: %v", context.Cause(context.Background())) })
		}},
		{"exit", "exit status 7", func(fake.T, *fake.Server) { os.Exit(7) }},
		{"hang", "waits for the mutex at", func(fake.T, *fake.Server) {
			var mu sync.Mutex
			mu.Lock()
			go mu.Lock() // virtual time does not advance while a goroutine waits for a mutex
			time.Sleep(time.Minute)
			mu.Unlock()
		}},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			found := testUnderPlan(t, fake.ExploreOptions{Repeat: 2, Workers: 1}, x.body)
			is.True(found != nil)
			is.Equal(len(found.Plan.Items), 0) // no faults are needed
			if !strings.Contains(found.String(), x.says) {
				t.Errorf("want %q in\n%s", x.says, found)
			}
		})
	}
}
