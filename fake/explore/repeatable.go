package explore

import (
	"fmt"
	"math/rand"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// Repeatable implements fake.Explorer.
func (x *explorer) Repeatable(t *testing.T) bool {
	t.Helper()
	if os.Getenv(repeatableVariable) != "" {
		x.repeat()
		return true
	}
	if isWorker() || !hasPipes {
		return false
	}
	if !chance.Possible() {
		t.Logf("kubesim: on %s/%s the random choices of Go's runtime cannot be seeded, so two runs of a seed may differ; use amd64 or arm64, or kubesim test",
			runtime.GOOS, runtime.GOARCH)
	}
	first := repeatedRun(t.Name())
	if first.err == nil {
		t.Log(first.output)
		t.Skip("kubesim: passed, in a process in which it can be repeated")
	}
	if first.hung {
		t.Fatalf("kubesim: it hangs: %s", first.output)
	}
	failures := []repeated{first}
	for range repeatDefault - 1 {
		if again := repeatedRun(t.Name()); again.err != nil {
			failures = append(failures, again)
		}
	}
	usual, same := mostFrequent(failures)
	t.Fatalf("kubesim: it fails %d of %d times, and %d runs are byte-identical\n%s", len(failures), repeatDefault, same, usual.output)
	return true
}

// mostFrequent returns the first of the runs whose hash most of the runs have, and their number. On a busy machine, the first run may be the
// one that differs.
func mostFrequent(runs []repeated) (usual repeated, same int) {
	count := map[string]int{}
	for _, r := range runs {
		count[r.hash]++
	}
	for _, r := range runs {
		if count[r.hash] > same {
			usual, same = r, count[r.hash]
		}
	}
	return usual, same
}

// repeatableVariable is set in the environment of a process that runs a single test repeatably.
const repeatableVariable = "KUBESIM_REPEATABLE"

// explorer implements fake.Explorer.
type explorer struct {
	repeats bool // this process runs a single test that has called Repeatable
}

func init() { fake.RegisterExplorer(&explorer{}) }

// shortTrace is the number of trace records up to which Repeatable enlarges the trace.
const shortTrace = 1000

// repeat prepares the process for a repeatable run.
func (x *explorer) repeat() {
	x.repeats = true
	steady()
	in, _ := pipes()
	go hear(in, nil)
	runtime.Gosched() // let hear block before the test begins
}

// Prepare implements fake.Explorer. The test is repeatable only if the server uses a virtual clock.
func (x *explorer) Prepare(o *fake.Options) fake.Trial {
	if !x.repeats {
		return nil
	}
	if o.Trace <= shortTrace {
		o.Trace, o.NoHashes = traceRecords, false
	}
	t := &seeded{&draws{seed: max(o.Seed, 1)}}
	if o.Clock == clock.Clock(clock.System{}) {
		o.Clock = newLateClock(t.draws)
	}
	seedClients(t.draws.seed)
	return t
}

// answerer processes a request and returns the server's response (fake.Trial).
type answerer = func(r *http.Request, spared bool) (*http.Response, error)

// seeded is a fake.Trial in which random choices of the runtime depend only on a seed and on the events at the server.
type seeded struct{ draws *draws }

// Begin implements fake.Trial.
func (t *seeded) Begin(s *fake.Server) {
	watched.Store(s)
	t.draws.next()
}

// End implements fake.Trial. It writes the hash of the run's trace to the parent process.
func (t *seeded) End(s *fake.Server) {
	_, out := pipes()
	fmt.Fprintln(out, s.Trace().Hash)
	if t.draws.disturbed.Load() {
		fmt.Fprint(out, disturbedMark)
	}
}

// RoundTrip implements fake.Trial.
func (t *seeded) RoundTrip(r *http.Request, answer answerer) (*http.Response, error) {
	t.draws.next()
	defer t.draws.next()
	return answer(r, false)
}

// Fork implements fake.Trial.
func (t *seeded) Fork() fake.Trial { return t }

// IsOwn implements fake.Trial.
func (t *seeded) IsOwn() bool { return false }

// Adopt implements fake.Trial.
func (t *seeded) Adopt() (done func()) { return func() {} }

// Heal implements fake.Trial.
func (t *seeded) Heal() {}

// IsTroubled implements fake.Trial.
func (t *seeded) IsTroubled() bool { return false }

// Plan implements fake.Trial.
func (t *seeded) Plan() (lines string, ok bool) { return "", false }

// repeated is the result of a test in a separate process.
type repeated struct {
	output, hash string
	hung         bool
	disturbed    bool // the run had to wait for the machine, so another run may differ
	err          error
}

// disturbedMark is a line after the hash of a run that may have been disturbed.
const disturbedMark = "disturbed\n"

// repeatedRun runs a test in a separate process. It repeats the run if the run had to wait for the machine.
func repeatedRun(test string) (r repeated) {
	for range attemptsAtPeace {
		if r = runAlone(test); r.hung || !r.disturbed {
			break
		}
	}
	return r
}

// runAlone runs a test in a separate process.
func runAlone(test string) (r repeated) {
	w := startProcess(test, repeatableVariable+"=1")
	defer w.close()
	if r.err = w.err; r.err != nil {
		return r
	}
	stop := w.watch()
	var said strings.Builder
	for line, err := w.read(); err == nil; line, err = w.read() { // an error means that the process has ended
		said.Write(line)
	}
	stop()
	r.hash, r.disturbed = strings.CutSuffix(said.String(), disturbedMark)
	r.disturbed = r.disturbed && w.held.Load() == nil
	r.err = w.wait()
	if r.output = w.output.String(); r.err != nil {
		if f := w.ended(r.err); f.Site != campaign.SiteWorker {
			r.output, r.hung = f.Text, f.Site == campaign.SiteHang
		}
	}
	return r
}

// repeatableVariables are environment variables with which two runs of a process behave identically: one goroutine at a
// time without preemption, no garbage collection during a run, and a seed for the runtime.
var repeatableVariables = []string{"GOMAXPROCS=1", "GOGC=off", chance.Variable + "=1"}

// repeatableDebug are the settings of GODEBUG in such a process.
var repeatableDebug = []string{"asyncpreemptoff=1", "randseednop=0"}

// repeatableEnv returns env with repeatableVariables and repeatableDebug.
func repeatableEnv(env []string) []string {
	set := ""
	env = slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, value, _ := strings.Cut(v, "=")
		if name == "GODEBUG" {
			set = value
		}
		return name == "GODEBUG" || name == "GOMAXPROCS" || name == "GOGC"
	})
	list := slices.Clone(repeatableDebug)
	if set != "" {
		list = append([]string{set}, list...)
	}
	return append(env, append(slices.Clone(repeatableVariables), "GODEBUG="+strings.Join(list, ","))...)
}

// settled is the real time after which goroutines that the packages of a program have started wait for something. The runtime's goroutine
// that changes the signals of a process, for example, is bound to a thread, so others move to another thread while it runs.
const settled = time.Millisecond

// steady prepares a process that was started with repeatableEnv.
func steady() {
	time.Sleep(settled)
	runtime.MemProfileRate = 0 // profiling draws random samples
	debug.SetGCPercent(-1)
}

// attemptsAtPeace is the maximum number of attempts to run without waiting for the machine.
const attemptsAtPeace = 10

// heapMost is the heap size above which garbage is collected between two runs.
const heapMost = 256 << 20

// repeatably calls f after seeding all random number generators of the process.
func repeatably(seed uint64, f func()) {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > heapMost {
		runtime.GC()
	}
	seedClients(seed)
	chance.Seed(seed)
	f()
}

// seedClients seeds the global generator of package math/rand, which clients use.
func seedClients(seed uint64) {
	//lint:ignore SA1019 with randseednop=0 it does something, and clients draw from nothing else
	rand.Seed(int64(seed))
}
