package gotest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake/gotest/inside"
)

// TestMain also acts as the program that go test runs for each test binary, and as the programs that tests start in real time.
func TestMain(m *testing.M) {
	if program := inside.Program(os.Args[0]); program != nil {
		os.Exit(program(os.Args[1:], os.Stdout, os.Stderr, nil))
	}
	if len(os.Args) > 1 && os.Args[1] == ExecCommand {
		code, err := Exec(os.Args[2:])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
	if len(os.Args) > 1 && os.Args[1] == gotestCommand {
		os.Exit(gotestMain(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// gotestCommand makes this test binary act as kubesim gotest.
const gotestCommand = "gotest"

// gotestMain acts as kubesim gotest. GOTEST_PID is its process ID, for the tests in testdata.
func gotestMain(args []string) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Setenv("GOTEST_PID", strconv.Itoa(os.Getpid()))
	o, err := Parse(args)
	if err == nil {
		err = Run(ctx, o, "", os.Stdout, os.Stderr)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// virtually runs the tests of a module in testdata as kubesim gotest does.
func virtually(t *testing.T, module string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	is := is.New(t)
	o, err := Parse(append(append(buildArgs(t, module), args...), "."))
	is.NoErr(err)
	var out, errs bytes.Buffer
	err = Run(context.Background(), o, "", &out, &errs)
	return out.String(), errs.String(), err
}

// buildArgs returns the first arguments of kubesim gotest for a module in testdata, and sets the environment.
func buildArgs(t *testing.T, module string) []string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds the Go tree")
	}
	is := is.New(t)
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	is.NoErr(err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(cache)))
	t.Setenv("XDG_CACHE_HOME", t.TempDir()) // for the programs that envtest starts
	// All runs share one build. The Go tree is compiled as for users; without inlining, the other packages take half of the time.
	return []string{"-C", "testdata/" + module, "-vet=off", "-gcflags=all=-l", "-gcflags=std=", "-ldflags=-s -w"}
}

func TestVirtual(t *testing.T) {
	is := is.New(t)
	stdout, stderr, err := virtually(t, "plain", "-v", "-timeout=3h")
	t.Log(stdout + stderr)
	is.NoErr(err)
	is.True(strings.Contains(stdout, "--- PASS: TestSleep (3600.00s)\n"))
	is.True(strings.Contains(stderr, "kubesim gotest: example.com/plain: 2h"))
}

// The -timeout of go test counts in virtual time. A test that exceeds it is not run again in real time.
func TestTimeout(t *testing.T) {
	is := is.New(t)
	stdout, stderr, err := virtually(t, "plain", "-run=TestSleep")
	is.Equal(err, ErrFailed)
	is.True(strings.Contains(stdout, "panic: test timed out after 10m0s"))
	is.True(strings.Contains(stderr, "an unknown virtual time, because it did not end by itself"))
}

// The server of --cluster is in virtual time, with the objects of a file.
func TestCluster(t *testing.T) {
	is := is.New(t)
	file := filepath.Join(t.TempDir(), "objects.yaml")
	is.NoErr(os.WriteFile(file, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"loaded","namespace":"default"}}`), 0o600))
	stdout, stderr, err := virtually(t, "cluster", "-v", "--cluster", file)
	t.Log(stdout + stderr)
	is.NoErr(err)
	is.True(strings.Contains(stdout, "--- PASS: TestCluster ("))
}

// A failure of an oracle fails the test that ran.
func TestOracles(t *testing.T) {
	is := is.New(t)
	t.Setenv("KUBESIM_FAIL_ON_WARNING", "true")
	stdout, _, err := virtually(t, "plain", "-v", "-run=Warning")
	is.Equal(err, ErrFailed)
	is.True(strings.Contains(stdout, `kubesim: a warning to Go-http-client/1.1 about create configmaps default/c: unknown field "dada"`))
	is.True(strings.Contains(stdout, "--- FAIL: TestWarning ("))
	is.True(strings.Contains(stdout, "--- PASS: TestAfterWarning ("))
	t.Setenv("KUBESIM_FAIL_ON_WARNING", "")
	t.Setenv("KUBESIM_ORACLES", "rest")
	stdout, _, err = virtually(t, "plain", "-v", "-run=Warning|Restless", "-timeout=1h")
	is.Equal(err, ErrFailed)
	is.True(strings.Contains(stdout, "kubesim: not at rest: there are still writes after 10m0s"))
	is.True(strings.Contains(stdout, "--- FAIL: TestRestless ("))
	is.True(strings.Contains(stdout, "--- PASS: TestWarning ("))
}

// In real time, when the servers are other processes, a failure of an oracle also fails the test that ran.
func TestOraclesInRealTime(t *testing.T) {
	is := is.New(t)
	t.Setenv("KUBESIM_FAIL_ON_WARNING", "true")
	t.Setenv("KUBESIM_GOTEST_TIME", "real") // for TestMain of the tests
	stdout, stderr, err := virtually(t, "plain", "--real", "-v", "-run=Warning")
	t.Log(stdout + stderr)
	is.Equal(err, ErrFailed)
	is.True(strings.Contains(stdout, `a warning to Go-http-client/1.1 about create configmaps default/c: unknown field "dada"`))
	is.True(strings.Contains(stdout, "--- FAIL: TestWarning ("))
	is.True(strings.Contains(stdout, "--- PASS: TestAfterWarning ("))
}

// Several packages of a workspace, whose modules import each other, write one coverage profile and events in JSON.
func TestWorkspace(t *testing.T) {
	is := is.New(t)
	profile := filepath.Join(t.TempDir(), "profile")
	stdout, stderr, err := virtually(t, "work/a", "-timeout=2h", "-json", "-coverprofile="+profile, "-coverpkg=./...", "./...")
	t.Log(stdout + stderr)
	is.NoErr(err)
	passed := map[string]float64{}
	for d := json.NewDecoder(strings.NewReader(stdout)); d.More(); {
		var event struct {
			Action, Test string
			Elapsed      float64
		}
		is.NoErr(d.Decode(&event))
		if event.Action == "pass" && event.Test != "" {
			passed[event.Test] = event.Elapsed
		}
	}
	is.Equal(passed, map[string]float64{"TestWait": 3600, "TestProgram": 0, "TestSub": 3600})
	text, err := os.ReadFile(profile)
	is.NoErr(err)
	is.True(strings.Contains(string(text), "example.com/a/a.go:8.10,11.3 2 1\n"))
	is.True(strings.Contains(string(text), "example.com/a/a.go:12.2,12.23 1 0\n"))
}

// A package that does not exist fails the run, though the tests of others pass.
func TestSetupFailure(t *testing.T) {
	is := is.New(t)
	stdout, stderr, err := virtually(t, "draws", "-run=TestDraws", "./nowhere")
	t.Log(stdout + stderr)
	is.Equal(err, ErrFailed)
	is.True(strings.Contains(stderr, "kubesim gotest: example.com/draws: 0s of virtual time"))
}

// A package with files for cgo and no other implementation runs in real time. A package that does not build at all fails.
func TestCgo(t *testing.T) {
	is := is.New(t)
	stdout, stderr, err := virtually(t, "draws/c", "-v")
	t.Log(stdout + stderr)
	is.NoErr(err)
	is.True(strings.Contains(stderr, "kubesim gotest: example.com/draws/c does not build without cgo, which example.com/draws/c uses, so it runs in real time\n"))
	is.True(strings.Contains(stdout, "--- PASS: TestTwo ("))
	_, stderr, err = virtually(t, "draws/c", "../broken")
	is.True(errors.Is(err, ErrFailed))
	is.True(!strings.Contains(stderr, "example.com/draws/broken does not build without cgo")) // a file that is not built on this platform, as in golang.org/x/sys/unix, is not the reason
}

// Runs with the same seed are identical, and runs with different seeds differ.
func TestSeed(t *testing.T) {
	is := is.New(t)
	outputs := map[string]int{}
	for _, seed := range []string{"7", "7", "7", "8"} {
		keep := t.TempDir()
		stdout, stderr, err := virtually(t, "draws", "-run=TestDraws|TestOrder", "-v", "--date=2030-01-31", "--keep="+keep, "--seed="+seed)
		t.Log(stderr)
		is.NoErr(err)
		_, err = os.Stat(filepath.Join(keep, "go.mod"))
		is.True(os.IsNotExist(err)) // these tests start no programs, so they do not require kubesim
		tests, _, _ := strings.Cut(stdout, "\nok ")
		outputs[tests]++
	}
	is.Equal(len(outputs), 2)
}

// Running with many seeds detects a test that depends on the order of goroutines, and the printed seed reproduces its failure.
func TestRepeat(t *testing.T) {
	is := is.New(t)
	stdout, _, err := virtually(t, "draws", "-run=TestFlaky", "--repeat=20")
	is.Equal(err, ErrFailed)
	m := regexp.MustCompile(`of 20 seeds: TestFlaky\n    replay: --seed (\d+) --date`).FindStringSubmatch(stdout)
	is.True(m != nil)
	_, _, err = virtually(t, "draws", "-run=TestFlaky", "--seed", m[1])
	is.Equal(err, ErrFailed)
}

// In a seeded run, packets have different delays. Without a seed, the request that is sent first arrives first.
func TestDelays(t *testing.T) {
	is := is.New(t)
	stdout, _, err := virtually(t, "draws", "-run=TestOvertaken", "--repeat=20")
	is.Equal(err, ErrFailed)
	m := regexp.MustCompile(`(\d+) of 20 seeds: TestOvertaken\n`).FindStringSubmatch(stdout)
	is.True(m != nil && m[1] != "20")
	_, _, err = virtually(t, "draws", "-run=TestOvertaken", "-count=20")
	is.NoErr(err)
}

// With random faults, kubesim gotest reports the smallest plan under which the test fails, and that plan makes it fail again.
func TestSwarm(t *testing.T) {
	is := is.New(t)
	t.Setenv("KUBESIM_SWARM", "1")
	stdout, stderr, err := virtually(t, "plain", "-run=TestFastWatch", "--repeat=12", "--date=2030-01-31")
	t.Log(stdout + stderr)
	is.Equal(err, ErrFailed)
	m := regexp.MustCompile(`of 12 seeds: TestFastWatch\n    replay: KUBESIM_FAULTS='(on [^\n]*)' --seed (\d+) --date`).FindStringSubmatch(stdout)
	is.True(m != nil)
	t.Setenv("KUBESIM_SWARM", "")
	_, _, err = virtually(t, "plain", "-run=TestFastWatch", "--seed", m[2], "--date=2030-01-31")
	is.NoErr(err)
	t.Setenv("KUBESIM_FAULTS", m[1])
	_, _, err = virtually(t, "plain", "-run=TestFastWatch", "--seed", m[2], "--date=2030-01-31")
	is.Equal(err, ErrFailed)
}

// A flag that go test passes to the tests, and that they do not define, is named at the end.
func TestUndefinedFlag(t *testing.T) {
	is := is.New(t)
	for _, text := range []string{
		"flag provided but not defined: -updte\nUsage of /tmp/b001/a.test:\nexit status 2\nFAIL\texample.com/a\t0.01s\n",
		`{"Time":"2030-01-31T00:00:00Z","Action":"output","Package":"example.com/a","Output":"flag provided but not defined: -updte\n"}` + "\n",
	} {
		var o testOutput
		for _, part := range strings.SplitAfter(text+text, " ") { // written in parts, by two packages
			_, err := o.Write([]byte(part))
			is.NoErr(err)
		}
		var errs bytes.Buffer
		o.explain(&errs)
		is.Equal(errs.String(), "kubesim gotest: neither kubesim gotest nor go test has the flag -updte, and not all of the tests define it; see kubesim gotest --help\n")
	}
}

func TestFailures(t *testing.T) {
	is := is.New(t)
	is.Equal(failures("=== RUN TestA\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\n  \x1b[38;5;9m[FAIL]\x1b[0m \x1b[0mThe web app \x1b[38;5;9m\x1b[1m[It] runs\x1b[0m\n"+
		"  [FAIL] The web app [It] runs\npanic: test timed out after 1m0s\n"),
		[]string{"TestA", "TestA/b", "The web app [It] runs", "test timed out after 1m0s"})
}

func TestRecord(t *testing.T) {
	is := is.New(t)
	r := record{Package: "example.com/operator/internal/controller", Virtual: 6*time.Minute + 12031*time.Millisecond, Real: 4810 * time.Millisecond,
		CPU: 3950 * time.Millisecond}
	is.Equal(r.String(), "example.com/operator/internal/controller: 6m12.031s of virtual time in 4.81s, with 3.95s of CPU")
	r.Seeds = 100
	is.Equal(r.String(), "example.com/operator/internal/controller: 100 seeds, 6m12.031s of virtual time in 4.81s, with 3.95s of CPU")
}
