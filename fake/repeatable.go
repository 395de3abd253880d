package fake

import (
	"fmt"
	"math/rand"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/chance"
	"github.com/kubesim/kubesim/fake/explore"
)

// Repeatable makes what a test comes to depend on its seed alone, as far as that is possible without another scheduler than
// Go's. It is the first thing in a test whose servers are in a testing/synctest bubble:
//
//	func TestOperator(t *testing.T) {
//		fake.Repeatable(t)
//		synctest.Test(t, func(t *testing.T) {
//			srv := fake.RunT(t, fake.Options{Clock: clock.System{}})
//			…
//
// The test is run in a process of its own, with one goroutine at a time and no collection of garbage, in which what the runtime
// draws (package fake/chance) hangs on Options.Seed. Here it counts as skipped when it has passed there, and as failed
// when it has failed: then it is run nine more times, and the log says how many of them failed and how many were the same to
// the byte. A test that hangs is ended, with the goroutines that keep virtual time from moving.
//
// Where no process can be started it does nothing, and reports false.
func Repeatable(t *testing.T) bool {
	t.Helper()
	if os.Getenv(repeatableVariable) != "" {
		repeatable.begin()
		return true
	}
	if isWorker() || !hasPipes {
		return false
	}
	first := repeatedRun(t.Name())
	if first.err == nil {
		t.Log(first.output)
		t.Skip("kubesim: passed, in a process in which it can be repeated")
	}
	if first.hung {
		t.Fatalf("kubesim: it hangs: %s", first.output)
	}
	failed, same := 1, map[string]int{first.hash: 1}
	for range repeatDefault - 1 {
		again := repeatedRun(t.Name())
		if same[again.hash]++; again.err != nil {
			failed++
		}
	}
	t.Fatalf("kubesim: it fails %d of %d times, and %d runs are the same to the byte\n%s", failed, repeatDefault, same[first.hash], first.output)
	return true
}

// repeatableVariable tells a process that it is one in which a test can be repeated.
const repeatableVariable = "KUBESIM_REPEATABLE"

// repetition is the one test that is run in a process of its own.
type repetition struct{ on bool }

var repeatable repetition

// begin prepares the process.
func (r *repetition) begin() {
	r.on = true
	steady()
	in, _ := pipes()
	go hear(in, nil)
	runtime.Gosched() // it is to wait before the test begins
}

// prepare makes the server of a test repeatable: its clock is virtual, or the test could not be.
func (r *repetition) prepare(o *setup) {
	if !r.on {
		return
	}
	if o.Trace <= tailRecords {
		o.Trace, o.NoHashes = traceRecords, false
	}
	o.draws = &draws{seed: max(o.Seed, 1)}
	if o.Clock == clock.Clock(clock.System{}) {
		o.Clock = newLateClock(o.draws)
	}
	seedClients(o.draws.seed)
}

// begun is called when the server is there: the test goes on from here.
func (r *repetition) begun(s *Server) {
	if r.on {
		watched.Store(s)
		s.options.draws.next()
	}
}

// ended tells the parent which run it was.
func (r *repetition) ended(s *Server) {
	if r.on {
		_, out := pipes()
		fmt.Fprintln(out, s.Trace().Hash)
		if s.options.draws.disturbed.Load() {
			fmt.Fprintln(out, disturbedMark)
		}
	}
}

// repeated is what came of a test in a process of its own.
type repeated struct {
	output, hash string
	hung         bool
	err          error
}

// disturbedMark is a line beside the hash of a run that the machine kept waiting.
const disturbedMark = "disturbed"

// repeatedRun runs a test in a process of its own, again when the machine kept it waiting.
func repeatedRun(test string) (r repeated) {
	for range attemptsAtPeace {
		if r = runAlone(test); r.hung || !strings.Contains(r.hash, disturbedMark) {
			break
		}
	}
	return r
}

// runAlone runs a test in a process of its own.
func runAlone(test string) (r repeated) {
	w := startProcess(test, repeatableVariable+"=1")
	defer w.close()
	if r.err = w.err; r.err != nil {
		return r
	}
	stop := w.watch()
	var said strings.Builder
	for line, err := w.read(); err == nil; line, err = w.read() { // a process that has ended says nothing more
		said.Write(line)
	}
	stop()
	r.hash = said.String()
	r.err = w.cmd.Wait()
	w.cmd = nil
	if r.output = w.said.String(); r.err != nil {
		if f := w.ended(r.err); f.Site != explore.SiteWorker {
			r.output, r.hung = f.Text, f.Site == explore.SiteHang
		}
	}
	return r
}

// repeatableVariables is the environment in which a process of clients comes to the same twice: one goroutine at a time,
// which is not interrupted, no collection in the middle of it, and a seed for package math/rand.
var repeatableVariables = []string{"GOMAXPROCS=1", "GOGC=off", chance.Variable + "=1"}

// repeatableDebug are settings of GODEBUG.
var repeatableDebug = []string{"asyncpreemptoff=1", "randseednop=0"}

// repeatableEnv is an environment with the variables.
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

// steady prepares a process in that environment. Where it cannot yield, goroutines are interrupted more often.
func steady() {
	_ = chance.Yield()
	runtime.MemProfileRate = 0 // samples are drawn
	debug.SetGCPercent(-1)
}

// attemptsAtPeace is how often a run is repeated that had to wait for the machine.
const attemptsAtPeace = 10

// heapMost is how much may be allocated before it is collected, between two runs.
const heapMost = 256 << 20

// repeatably calls f with everything that is drawn in the process drawn from a seed.
func repeatably(seed uint64, f func()) {
	var m runtime.MemStats
	if runtime.ReadMemStats(&m); m.HeapAlloc > heapMost {
		runtime.GC()
	}
	seedClients(seed)
	chance.Seed(seed)
	f()
}

// seedClients seeds the generator of package math/rand, from which clients draw.
func seedClients(seed uint64) {
	//lint:ignore SA1019 with randseednop=0 it does something, and clients draw from nothing else
	rand.Seed(int64(seed))
}
