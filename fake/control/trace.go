package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/trace"
)

// trace serves the trace below /sim/v1/.
func (p *Panel) trace(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"trace", func(w http.ResponseWriter, r *http.Request) {
		if !p.traces {
			http.Error(w, "kubesim: trace: this server records none; start it with fake.Options{Trace: 10000}", http.StatusConflict)
			return
		}
		if p.Follows(r) {
			p.serveFollow(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		switch format := r.URL.Query().Get("format"); format {
		case "", "jsonl":
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = w.Write(p.cluster.Trace().JSONL()) // a client that went away is no error of the server
		case "timeline":
			fmt.Fprint(w, p.cluster.Trace().Timeline())
		case "report":
			fmt.Fprint(w, p.server.Report(0, r.URL.Query().Get("by") == "object"))
		case "mermaid":
			fmt.Fprint(w, p.cluster.Trace().Mermaid())
		default:
			http.Error(w, fmt.Sprintf("kubesim: trace: format=%q is not one of jsonl, timeline, report, mermaid", format), http.StatusBadRequest)
		}
	})
}

// Follows reports whether a request asks for the trace as it grows, and the cluster keeps one.
func (p *Panel) Follows(r *http.Request) bool {
	on, _ := strconv.ParseBool(r.URL.Query().Get("follow"))
	return p.traces && on && r.Method == http.MethodGet && r.URL.Path == Prefix+"trace"
}

func (p *Panel) serveFollow(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl")
	w.WriteHeader(http.StatusOK)
	body := p.follow(r.Context())
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

// Follow returns the trace as it grows, until ctx or the server ends.
func (p *Panel) Follow(ctx context.Context) io.ReadCloser { return p.follow(ctx) }

func (p *Panel) follow(ctx context.Context) *follower {
	more, stop := p.cluster.FollowTrace()
	return &follower{cluster: p.cluster, ctx: ctx, ended: p.ended, closed: make(chan struct{}), more: more, stop: stop}
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
