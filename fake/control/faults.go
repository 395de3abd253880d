package control

import (
	"fmt"
	"io"
	"net/http"

	"github.com/kubesim/kubesim/sim/fault"
)

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
