package fake

import (
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/trace"
)

const (
	// tailRecords is the number of records kept for a test without a trace, and tailSteps is the number of steps
	// printed if the test fails.
	tailRecords = 1000
	tailSteps   = 20

	// seedVariable is the environment variable with the seed of tests that do not set one.
	seedVariable = "KUBESIM_SEED"
	// reportVariable selects the kind of report for failing tests: by object, or in order.
	reportVariable = "KUBESIM_REPORT"
	reportByObject = "objects"
)

// Trace returns a copy of the trace. Its length is limited by Options.Trace. A Server of RunT always keeps the end of
// its trace.
//
//	srv.Trace().JSONL(), srv.Trace().Timeline(), srv.Trace().Mermaid()
func (s *Server) Trace() *trace.Log { return s.cluster.Trace() }

// TryTrace is like Trace, but returns nil if the server's lock is held.
func (s *Server) TryTrace() *trace.Log { return s.cluster.TryTrace() }

// Report returns a report of the trace, like the one that a failing test prints. It contains the last steps, or all if
// steps is 0, in order or by object. A step is a request with its response, its writes and the watches that were
// notified. A violation for which the test failed (Never, MaxWritesPerInstant, FailOnWarning) is marked, with the steps
// that led to it. See trace.Log's Report.
func (s *Server) Report(steps int, byObject bool) string {
	return s.Trace().Report(trace.ReportOptions{Lines: steps, ByObject: byObject, Marked: s.Marks()})
}

// forTest sets the defaults for a test: a short trace, and the seed from the environment.
func (o *setup) forTest() {
	if o.Trace == 0 {
		o.Trace, o.NoHashes = tailRecords, true
	}
	if seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil && o.Seed == 0 {
		o.Seed = seed
	}
}

// report logs the end of the trace and the command to reproduce it, if the test failed.
func (s *Server) report(t TB) {
	if f, ok := t.(interface{ Failed() bool }); !ok || !f.Failed() {
		return
	}
	t.Helper()
	if text := s.Report(tailSteps, os.Getenv(reportVariable) == reportByObject); text != "" {
		t.Logf("kubesim: the last events (n, time, client, event):\n%s", text)
	}
	if faults := s.Faults.String(); faults != "" {
		t.Logf("kubesim: the faults:\n%s", faults)
	}
	name := "."
	if n, ok := t.(interface{ Name() string }); ok {
		name = "^" + strings.ReplaceAll(n.Name(), "/", "$/^") + "$"
	}
	t.Logf("kubesim: to replay: %s=%d go test -count=1 -run '%s'", seedVariable, max(s.options.Seed, 1), name)
}

// patience is the real time that a request may wait for a manual clock before watchdog logs a message.
const patience = 10 * time.Second

// log writes to the log of the server's test, or to package log if there is no test.
func (s *Server) log(format string, args ...any) {
	if s.test != nil {
		s.test.Logf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// watchdog logs a message in the test if a request waits too long for simulated time.
func (s *Server) watchdog(r *http.Request) (answered func()) {
	if s.test == nil {
		return func() {}
	}
	timer := time.AfterFunc(patience, func() {
		s.test.Logf("kubesim: %s %s has been waiting for simulated time for %v. The clock is manual: call srv.Clock.Advance from "+
			"another goroutine, or use fake.Options{Clock: clock.System{}}", r.Method, r.URL, patience)
	})
	return func() { timer.Stop() }
}
