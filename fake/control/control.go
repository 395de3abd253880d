// Package control serves the requests that move a simulator, below /sim/v1/.
//
//	request ─▶ Panel ─┬─▶ sim.Cluster: clock, faults, replicas, controllers, trace
//	                  └─▶ Server:      what changes the file that it keeps, and what needs its test
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/fault"
)

// Prefix is the path below which a served simulator is controlled; the API itself has nothing there.
const Prefix = "/sim/v1/"

// Server is the server that the control API acts on, in addition to its cluster.
type Server interface {
	// Reset takes the server back to how it began, Restore its store back to an older revision, and Recall all of it back to a
	// snapshot.
	Reset() error
	Restore(rev uint64) error
	Recall(snapshot []byte) error
	// Snapshot returns the server with its history as a file.
	Snapshot() ([]byte, error)
	// Settle lets controllers work until they have nothing to do.
	Settle(ctx context.Context) error
	// Report returns what happened as a text.
	Report(steps int, byObject bool) string
}

// Panel is an http.Handler of the requests below Prefix. Errors are plain text with advice.
type Panel struct {
	cluster *sim.Cluster
	server  Server
	traces  bool            // the cluster keeps a trace
	ended   <-chan struct{} // closed when the server is closed

	once sync.Once
	mux  *http.ServeMux // made when the first request comes: most tests send none
}

// New returns a Panel of a server and its cluster. ended is closed when the server is closed. traces reports whether the cluster keeps a
// trace.
func New(c *sim.Cluster, s Server, traces bool, ended <-chan struct{}) *Panel {
	return &Panel{cluster: c, server: s, traces: traces, ended: ended}
}

// ServeHTTP implements http.Handler.
func (p *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.once.Do(p.build)
	p.mux.ServeHTTP(w, r)
}

// build adds what serves each path.
func (p *Panel) build() {
	p.mux = http.NewServeMux()
	p.mux.HandleFunc("POST "+Prefix+"compact", func(w http.ResponseWriter, _ *http.Request) { p.cluster.Compact() })
	p.mux.HandleFunc("POST "+Prefix+"expire", func(w http.ResponseWriter, _ *http.Request) { p.cluster.Expire() })
	p.mux.HandleFunc("GET "+Prefix+"clock", p.serveClock)
	p.mux.HandleFunc("POST "+Prefix+"clock/advance", p.serveAdvance)
	p.mux.HandleFunc("POST "+Prefix+"reset", func(w http.ResponseWriter, _ *http.Request) {
		if err := p.server.Reset(); err != nil {
			http.Error(w, "kubesim: reset: "+err.Error(), http.StatusInternalServerError)
		}
	})
	p.faults(p.mux)
	p.trace(p.mux)
	p.replicas(p.mux)
	p.controllers(p.mux)
	p.snapshot(p.mux)
}

func (p *Panel) serveClock(w http.ResponseWriter, _ *http.Request) {
	_, manual := p.cluster.Clock().(*clock.Manual)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"now": p.cluster.Clock().Now().UTC().Format(time.RFC3339Nano), "manual": manual})
}

func (p *Panel) serveAdvance(w http.ResponseWriter, r *http.Request) {
	c, manual := p.cluster.Clock().(*clock.Manual)
	d, err := time.ParseDuration(r.URL.Query().Get("d"))
	switch {
	case err != nil || d < 0:
		http.Error(w, fmt.Sprintf("kubesim: clock/advance: d=%q is not a duration such as 5m or 90s", r.URL.Query().Get("d")), http.StatusBadRequest)
	case !manual:
		http.Error(w, "kubesim: clock/advance: this server runs on the system clock; start it with --clock manual", http.StatusConflict)
	default:
		c.Advance(d)
		p.serveClock(w, r)
	}
}

// faultsMax is the greatest size of a plan that is sent to a server.
const faultsMax = 1 << 20

// faults serves the faults below /sim/v1/.
func (p *Panel) faults(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"faults", p.serveFaults)
	control.HandleFunc("POST "+Prefix+"faults", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, faultsMax))
		if err == nil {
			err = p.addFaults(string(text))
		}
		if err != nil {
			http.Error(w, "kubesim: "+err.Error(), http.StatusBadRequest)
			return
		}
		p.serveFaults(w, r)
	})
	control.HandleFunc("DELETE "+Prefix+"faults", func(http.ResponseWriter, *http.Request) { p.cluster.ClearFaults() })
	control.HandleFunc("POST "+Prefix+"faults/release", func(http.ResponseWriter, *http.Request) { p.cluster.ReleaseFaults() })
}

func (p *Panel) serveFaults(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprint(w, p.cluster.Faults())
}

// addFaults adds the faults of a text.
func (p *Panel) addFaults(text string) error {
	plan, err := fault.Parse(text)
	if err != nil {
		return err
	}
	return p.cluster.AddFaults(plan...)
}

// snapshotMax is the greatest size of a snapshot that is sent to a server.
const snapshotMax = 256 << 20

// snapshot serves the snapshot below /sim/v1/.
func (p *Panel) snapshot(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"snapshot", func(w http.ResponseWriter, _ *http.Request) {
		data, err := p.server.Snapshot()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data) // a client that went away is no error of the server
	})
	control.HandleFunc("POST "+Prefix+"snapshot", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, snapshotMax))
		if err == nil && len(data) == 0 {
			err = errors.New("the body is empty: send what GET " + Prefix + "snapshot returned")
		}
		if err == nil {
			err = p.server.Recall(data)
		}
		refuse(w, "snapshot", err)
	})
}
