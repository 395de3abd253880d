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

// Whether a test in a bubble moves on is seen from outside: from another process, which asks every second.
//
//	parent ── look ─▶ reader of a worker ─ something happened since the last look ─▶ …
//	                                     └ nothing ─▶ stacks, end of the trace ─▶ stderr, exit
//
// A goroutine of the worker that woke up by itself from time to time would change the order of the others.

// hangMark stands before the report of a process that did not move on.
const hangMark = "kubesim: no progress: "

// checkEvery is how often, in real time, a process is asked whether it moves on.
const checkEvery = time.Second

// hangChecks is the number of looks without activity that make a hang. busyChecks is the number if a goroutine runs and waits for nothing: it
// may have much to compute, or little processor time.
const hangChecks, busyChecks = 2, 20

// activity counts events at the servers of the process: requests, and timers.
var activity atomic.Uint64

// watched is the newest server of a process that is watched.
var watched atomic.Pointer[fake.Server]

// watchdog checks for activity.
type watchdog struct {
	seen   uint64
	vain   int // looks
	report func(report string)
}

// check is called every second.
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
	if report == "" { // no goroutine is in a bubble, or all wait for virtual time, which advances
		d.vain = 0
	}
	if d.vain == 0 || !waits && d.vain < busyChecks {
		return
	}
	d.report(fmt.Sprintf("the server has had no events for %v. %s%s", time.Duration(d.vain)*checkEvery, report, lastSeen()))
}

// lastLines is how many lines of the trace a watchdog prints.
const lastLines = 50

// lastSeen is the end of the trace of the newest server, as far as it can be had.
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

// exitHanging is the exit code of a process that did not move on.
const exitHanging = 3

// stderr is the standard error of the process: that of a run is captured.
var stderr = os.Stderr

// reportAndExit prints the report of a worker and ends the process.
func reportAndExit(report string) {
	fmt.Fprintf(stderr, "%s%s\n", hangMark, report)
	os.Exit(exitHanging)
}
