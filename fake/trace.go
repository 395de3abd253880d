package fake

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/kubesim/kubesim/sim"
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

// Report tells what happened, as a test that fails does: the last steps, 0 for all, or object by object. A step is a request with
// its answer, what it wrote and who was told of it. What the test has failed for (Never, MaxWritesPerInstant, FailOnWarning) is
// marked, with what led to it. See trace.Log's Report.
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

// controlTrace serves the trace below /sim/v1/.
func (s *Server) controlTrace(control *http.ServeMux) {
	control.HandleFunc("GET "+controlPrefix+"trace", func(w http.ResponseWriter, r *http.Request) {
		if s.options.Trace <= 0 {
			http.Error(w, "kubesim: trace: this server keeps none; start it with fake.Options{Trace: 10000}", http.StatusConflict)
			return
		}
		if follows(r) {
			s.serveFollow(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		switch format := r.URL.Query().Get("format"); format {
		case "", "jsonl":
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = w.Write(s.Trace().JSONL()) // a client that went away is no error of the server
		case "timeline":
			fmt.Fprint(w, s.Trace().Timeline())
		case "report":
			fmt.Fprint(w, s.Report(0, r.URL.Query().Get("by") == "object"))
		case "mermaid":
			fmt.Fprint(w, s.Trace().Mermaid())
		default:
			http.Error(w, fmt.Sprintf("kubesim: trace: format=%q is none of jsonl, timeline, report, mermaid", format), http.StatusBadRequest)
		}
	})
}

// follows reports whether a request asks for the trace as it grows.
func follows(r *http.Request) bool {
	on, _ := strconv.ParseBool(r.URL.Query().Get("follow"))
	return on && r.Method == http.MethodGet && r.URL.Path == controlPrefix+"trace"
}

func (s *Server) serveFollow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	body := s.follow(r.Context())
	defer body.Close()
	control := http.NewResponseController(w)
	_ = control.Flush() // an unflushed stream comes late, not wrong
	for {
		line, err := body.next()
		if err != nil {
			return
		}
		if _, err := w.Write(line); err != nil {
			return
		}
		_ = control.Flush()
	}
}

// follower is the trace from its beginning, or from as far back as it goes, to the end of the server, as lines of JSON
// behind a header.
type follower struct {
	cluster *sim.Cluster
	ctx     context.Context
	ended   <-chan struct{} // the server
	closed  chan struct{}   // the follower
	once    sync.Once       // of Close
	more    <-chan struct{}
	stop    func()
	begun   bool
	seen    uint64
	rest    []byte // not yet read
}

func (s *Server) follow(ctx context.Context) *follower {
	more, stop := s.cluster.FollowTrace()
	return &follower{cluster: s.cluster, ctx: ctx, ended: s.ended, closed: make(chan struct{}), more: more, stop: stop}
}

// next waits for lines and returns them. Those of before the server's end come before io.EOF.
func (f *follower) next() ([]byte, error) {
	for last := false; ; {
		records, newest := f.cluster.TraceSince(f.seen)
		f.seen = newest
		var b []byte
		if !f.begun { // the header does not know the hashes yet
			head := f.cluster.TraceHeader()
			b, f.begun = append(head.AppendJSON(nil), '\n'), true
		}
		if b = (&trace.Log{Records: records}).AppendRecords(b); len(b) > 0 {
			return b, nil
		}
		if last {
			return nil, io.EOF
		}
		select {
		case <-f.more:
		case <-f.ended:
			last = true
		case <-f.closed:
			return nil, http.ErrBodyReadAfterClose
		case <-f.ctx.Done():
			return nil, context.Cause(f.ctx)
		}
	}
}

// Read makes the follower the body of a response.
func (f *follower) Read(p []byte) (n int, err error) {
	if len(f.rest) == 0 {
		if f.rest, err = f.next(); err != nil {
			return 0, err
		}
	}
	n = copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Close ends a Read that waits.
func (f *follower) Close() error {
	f.once.Do(func() {
		close(f.closed)
		f.stop()
	})
	return nil
}
