package fake

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/kubesim/kubesim/sim/fault"
)

// Faults is what goes wrong at a Server.
//
//	srv.Faults.Add(fault.On("update", "widgets/status").Times(1).Conflict())
//	srv.Faults.Add(fault.On("watch", "pods").Event("DELETED").Hold())
//	…
//	srv.Faults.Release()
type Faults struct{ server *Server }

// Add puts faults behind those there are. One that can never happen ends the test, and without a test panics.
func (f *Faults) Add(faults ...fault.Fault) {
	if err := f.server.cluster.AddFaults(faults...); err != nil {
		f.server.fail("%v", err)
	}
}

// AddText adds the faults of a text, one per line, as String prints them and fault.Parse reads them.
func (f *Faults) AddText(text string) error {
	plan, err := fault.Parse(text)
	if err == nil {
		err = f.server.cluster.AddFaults(plan...)
	}
	if err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// Clear takes all faults away and releases what they hold.
func (f *Faults) Clear() { f.server.cluster.ClearFaults() }

// Release lets go the watch events that a Hold keeps. What comes behind them may be held again.
func (f *Faults) Release() { f.server.cluster.ReleaseFaults() }

// String prints the faults, one per line, each with what has become of it. fault.Parse reads it.
func (f *Faults) String() string { return f.server.cluster.Faults() }

// Decisions returns what was decided about the faults, the oldest first, as far as it is still known.
func (f *Faults) Decisions() []fault.Decision {
	list, _ := f.server.cluster.FaultDecisions()
	return list
}

// faultsMax is the greatest size of a plan that is sent to a server.
const faultsMax = 1 << 20

// controlFaults serves the faults below /sim/v1/.
func (s *Server) controlFaults(control *http.ServeMux) {
	control.HandleFunc("GET "+controlPrefix+"faults", s.serveFaults)
	control.HandleFunc("POST "+controlPrefix+"faults", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, faultsMax))
		if err == nil {
			err = s.Faults.AddText(string(text))
		}
		if err != nil {
			http.Error(w, "kubesim: "+strings.TrimPrefix(err.Error(), "kubesim: "), http.StatusBadRequest)
			return
		}
		s.serveFaults(w, r)
	})
	control.HandleFunc("DELETE "+controlPrefix+"faults", func(http.ResponseWriter, *http.Request) { s.Faults.Clear() })
	control.HandleFunc("POST "+controlPrefix+"faults/release", func(http.ResponseWriter, *http.Request) { s.Faults.Release() })
}

func (s *Server) serveFaults(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprint(w, s.Faults)
}
