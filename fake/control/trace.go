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

// trace adds the route for the trace, in one of four formats. If no trace is recorded, the code of the response is 409.
func (p *Panel) trace(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"trace", func(w http.ResponseWriter, r *http.Request) {
		if !p.traces {
			http.Error(w, "kubesim: trace: this server does not record a trace; start it with fake.Options{Trace: 10000} or kubesim serve --web DIR", http.StatusConflict)
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
			_, _ = w.Write(p.cluster.Trace().JSONL()) // an error means that the client disconnected
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

// Follows reports whether a request asks to follow the trace and the cluster keeps one.
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
	_ = control.Flush() // without a flush, the stream is only delayed
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

// follower streams the trace as lines of JSON after a header, from its oldest record until the server ends.
type follower struct {
	cluster *sim.Cluster
	ctx     context.Context
	ended   <-chan struct{} // closed when the server is closed
	closed  chan struct{}   // closed by Close
	once    sync.Once       // for Close
	more    <-chan struct{}
	stop    func()
	begun   bool
	seen    uint64
	rest    []byte // data that has not been read
}

// Follow returns a stream of the trace that ends with ctx or the server.
func (p *Panel) Follow(ctx context.Context) io.ReadCloser { return p.follow(ctx) }

func (p *Panel) follow(ctx context.Context) *follower {
	more, stop := p.cluster.FollowTrace()
	return &follower{cluster: p.cluster, ctx: ctx, ended: p.ended, closed: make(chan struct{}), more: more, stop: stop}
}

// next waits for new lines of the trace and returns them. When the server ends, it returns the remaining lines before io.EOF.
func (f *follower) next() ([]byte, error) {
	for last := false; ; {
		records, newest := f.cluster.TraceSince(f.seen)
		f.seen = newest
		var b []byte
		if !f.begun { // the header does not contain the final hashes
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

// Read implements io.Reader.
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

// Close implements io.Closer. It ends a Read that waits.
func (f *follower) Close() error {
	f.once.Do(func() {
		close(f.closed)
		f.stop()
	})
	return nil
}
