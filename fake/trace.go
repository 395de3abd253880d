package fake

import (
	"os"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/trace"
)

const (
	// tailRecords is how many records a test keeps when it asks for no trace, and tailSteps how many steps of them it
	// prints when it fails.
	tailRecords = 1000
	tailSteps   = 20

	// seedVariable is the seed of tests that name none.
	seedVariable = "KUBESIM_SEED"
	// reportVariable says how tests that fail print what happened: by object, or in its order.
	reportVariable = "KUBESIM_REPORT"
	reportByObject = "objects"
)

// Trace returns a copy of the record of what happened. How far it goes back is Options.Trace; the test of a Server of
// RunT always has its end.
//
//	srv.Trace().JSONL(), srv.Trace().Timeline(), srv.Trace().Mermaid()
func (s *Server) Trace() *trace.Log { return s.cluster.Trace() }

// TryTrace is Trace, or nil if the server's lock is held: the caller does not wait for it.
func (s *Server) TryTrace() *trace.Log { return s.cluster.PeekTrace() }

// Report returns a report of the trace, as a failing test prints it: the last steps, 0 for all, in order or by object. A step is a
// request with its answer, its writes and the watches that were notified. A violation for which the test failed (Never,
// MaxWritesPerInstant, FailOnWarning) is marked, with the steps that led to it. See trace.Log's Report.
func (s *Server) Report(steps int, byObject bool) string {
	return s.Trace().Report(trace.ReportOptions{Lines: steps, ByObject: byObject, Marked: s.Marks()})
}

// forTest fills in what a test has without asking: the end of the trace, and the seed of the environment.
func (o *setup) forTest() {
	if o.Trace == 0 {
		o.Trace, o.NoHashes = tailRecords, true
	}
	if seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil && o.Seed == 0 {
		o.Seed = seed
	}
}

// report prints, when the test failed, the end of the trace and how to see it again.
func (s *Server) report(t TB) {
	if f, ok := t.(interface{ Failed() bool }); !ok || !f.Failed() {
		return
	}
	t.Helper()
	if text := s.Report(tailSteps, os.Getenv(reportVariable) == reportByObject); text != "" {
		t.Logf("kubesim: what happened last (n, time, who, what):\n%s", text)
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
