package explore

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// Another process checks whether a test in a bubble makes progress, after each second in which its process did not wait for a processor.
//
//	parent ── check ─▶ reader of a worker ─ activity since the last check ─▶ confirmation
//	                                      └ no activity ─▶ stacks, end of the trace ─▶ stderr, exit
//
// A goroutine in the worker that woke up periodically would change the order of the other goroutines. As long as goroutines of
// the worker are ready, its reader does not run (chance.Start), so the worker also sends confirmations when the server has events.

// hangMark precedes the report of a process that does not make progress.
const hangMark = "kubesim: no progress: "

// checkEvery is the interval between two progress checks.
const checkEvery = time.Second

// hangChecks is the number of progress checks without activity that count as a hang. busyChecks is the limit if a
// goroutine is running: it may be computing, or have little processor time.
const hangChecks, busyChecks = 2, 20

// holdChecks is the number of progress checks without a confirmation after which the runtime of a worker may preempt goroutines. Its
// reader then runs, although others are ready, and a goroutine that waits for another one's system call continues.
const holdChecks = 5

// activity counts events at the servers of the process: requests and timers.
var activity atomic.Uint64

// shown is the real time of the last confirmation without a check.
var shown atomic.Int64

// showProgress sends a confirmation if the last one was long ago.
func showProgress(now time.Duration) {
	if now-time.Duration(shown.Load()) >= checkEvery {
		shown.Store(int64(now))
		acknowledgeCheck()
	}
}

// watched is the newest server of the process.
var watched atomic.Pointer[fake.Server]

// watchdog checks for activity.
type watchdog struct {
	seen   uint64
	vain   int // the number of consecutive checks without activity
	report func(report string)
}

// check handles a progress check. It reports a hang if there was no activity for too long.
func (d *watchdog) check() {
	now := activity.Load()
	if now != d.seen {
		d.seen, d.vain = now, 0
		return
	}
	if d.vain++; d.vain < hangChecks {
		return
	}
	buf := make([]byte, 16<<20)
	stacks := string(buf[:runtime.Stack(buf, true)])
	report, waits := campaign.Hang(stacks)
	if report == "" { // no goroutine is in a bubble, or all of them wait for virtual time, which advances
		d.vain = 0
	}
	if d.vain == 0 || !waits && d.vain < busyChecks {
		return
	}
	d.report(fmt.Sprintf("the server has had no events for %v. %s%s", time.Duration(d.vain)*checkEvery, report, lastSeen()))
}

// lastLines is the number of trace lines that a watchdog prints.
const lastLines = 50

// lastSeen returns the end of the newest server's trace, unless the server is locked.
func lastSeen() string {
	s := watched.Load()
	if s == nil {
		return ""
	}
	log := s.TryTrace()
	if log == nil {
		return "a goroutine holds the server's lock\n"
	}
	lines := strings.SplitAfter(log.Timeline(), "\n")
	return "the last events (n, time, client, event):\n" + strings.Join(lines[max(0, len(lines)-1-lastLines):], "")
}

// exitHanging is the exit code of a process that did not make progress.
const exitHanging = 3

// stderr is the standard error of the process. The standard error of a run is captured.
var stderr = os.Stderr

// reportAndExit prints the report of a worker and ends the process.
func reportAndExit(report string) {
	fmt.Fprintf(stderr, "%s%s\n", hangMark, report)
	os.Exit(exitHanging)
}
