// Package control serves the requests below /sim/v1/, which control a simulator.
//
//	request ─▶ Panel ─┬─▶ sim.Cluster: clock, faults, replicas, controllers, trace
//	                  └─▶ Server:      operations that replace the cluster's state, or depend on its file or test
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

// Prefix is the path prefix of the requests that control a simulator. The Kubernetes API does not use it.
const Prefix = "/sim/v1/"

// Server provides the operations of the control API that affect more than the cluster.
type Server interface {
	// Reset returns the server to its initial state. Restore returns its store to an older revision. LoadSnapshot returns the whole
	// server to the state in a snapshot.
	Reset() error
	Restore(rev uint64) error
	LoadSnapshot(snapshot []byte) error
	// Snapshot returns the state and the history of the server, in the format of an archive file.
	Snapshot() ([]byte, error)
	// Settle lets controllers run until no work remains.
	Settle(ctx context.Context) error
	// Report returns a description of what happened.
	Report(steps int, byObject bool) string
}

// Panel implements http.Handler for the requests below Prefix. Errors are plain text with advice.
type Panel struct {
	cluster *sim.Cluster
	server  Server
	traces  bool            // whether the cluster keeps a trace
	ended   <-chan struct{} // closed when the server is closed

	once sync.Once
	mux  *http.ServeMux // created for the first request, because most tests send none
}

// New returns a Panel for a server and its cluster. ended is closed when the server is closed. traces reports whether the cluster
// keeps a trace.
func New(c *sim.Cluster, s Server, traces bool, ended <-chan struct{}) *Panel {
	return &Panel{cluster: c, server: s, traces: traces, ended: ended}
}

// ServeHTTP implements http.Handler.
func (p *Panel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.once.Do(p.build)
	p.mux.ServeHTTP(w, r)
}

// build creates the handlers of all paths.
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

// faultsMax is the maximum size of a plan in a request.
const faultsMax = 1 << 20

// faults adds the routes that list, add, remove and release faults.
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

// addFaults parses a fault plan and adds its faults.
func (p *Panel) addFaults(text string) error {
	plan, err := fault.Parse(text)
	if err != nil {
		return err
	}
	return p.cluster.AddFaults(plan...)
}

// snapshotMax is the maximum size of a snapshot in a request.
const snapshotMax = 256 << 20

// snapshot adds the routes that return a snapshot and restore one.
func (p *Panel) snapshot(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"snapshot", func(w http.ResponseWriter, _ *http.Request) {
		data, err := p.server.Snapshot()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = w.Write(data) // an error means that the client disconnected
	})
	control.HandleFunc("POST "+Prefix+"snapshot", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, snapshotMax))
		if err == nil && len(data) == 0 {
			err = errors.New("the body is empty: send the file that GET " + Prefix + "snapshot returns")
		}
		if err == nil {
			err = p.server.LoadSnapshot(data)
		}
		refuse(w, "snapshot", err)
	})
}
