package control

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/trouble"
)

// controllers adds the routes for controllers:
//
//	GET  controllers                         their names, and their work due within an hour; as JSON a controller.Report
//	POST controllers/settle                  Server.Settle
//	POST controllers/step                    Manager.Step
//	POST controllers/stepped?wait=true       Manager.Stepped
//	POST controllers/{name}/step             one reconcile that is due now
//	POST controllers/{name}/{action}         stop, start, crash, restart, slow?for=5s, lag?resource=pods, resume
func (p *Panel) controllers(control *http.ServeMux) {
	control.HandleFunc("GET "+Prefix+"controllers", p.serveControllers)
	control.HandleFunc("POST "+Prefix+"controllers/settle", func(w http.ResponseWriter, r *http.Request) {
		if err := p.server.Settle(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusConflict)
		}
	})
	control.HandleFunc("POST "+Prefix+"controllers/step", func(w http.ResponseWriter, _ *http.Request) {
		done := false
		p.cluster.Control(func(m *controller.Manager) { done = m.Step() })
		if !done {
			http.Error(w, "kubesim: controllers have no work now", http.StatusConflict)
		}
	})
	control.HandleFunc("POST "+Prefix+"controllers/stepped", func(w http.ResponseWriter, r *http.Request) {
		wait, err := strconv.ParseBool(r.URL.Query().Get("wait"))
		if err != nil {
			http.Error(w, "kubesim: controllers/stepped: use wait=true or wait=false", http.StatusBadRequest)
			return
		}
		p.cluster.Control(func(m *controller.Manager) { m.Stepped = wait })
	})
	control.HandleFunc("POST "+Prefix+"controllers/{name}/step", p.serveStepOf)
	control.HandleFunc("POST "+Prefix+"controllers/{name}/{action}", func(w http.ResponseWriter, r *http.Request) {
		if err := p.treatController(r); err != nil {
			http.Error(w, "kubesim: "+err.Error(), http.StatusBadRequest)
		}
	})
}

func (p *Panel) serveStepOf(w http.ResponseWriter, r *http.Request) {
	var err error
	done := false
	p.cluster.Control(func(m *controller.Manager) {
		if _, err = m.Reconciler(r.PathValue("name")); err == nil {
			done = m.StepOf(r.PathValue("name"))
		}
	})
	switch {
	case err != nil:
		http.Error(w, "kubesim: "+err.Error(), http.StatusBadRequest)
	case !done:
		http.Error(w, "kubesim: "+r.PathValue("name")+" has no work now", http.StatusConflict)
	}
}

func (p *Panel) serveControllers(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Accept"), "application/json") {
		var report controller.Report
		p.cluster.Control(func(m *controller.Manager) { report = m.Report() })
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(report) // an error means that the client disconnected
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	var names []string
	var due []controller.Waiting
	p.cluster.Control(func(m *controller.Manager) { names, due = m.Names(), m.Moving(time.Hour) })
	fmt.Fprintln(w, strings.Join(names, "\n"))
	for _, x := range due {
		fmt.Fprintf(w, "%s %s\n", x.At.UTC().Format(time.RFC3339), x.Item)
	}
}

// treatController performs the action that a control request specifies on a controller.
func (p *Panel) treatController(r *http.Request) (err error) {
	t, err := parseTrouble(r, r.PathValue("name"), (*trouble.Kind).OfControllers)
	if err == nil {
		p.cluster.Control(func(m *controller.Manager) { err = t.Control(m) })
	}
	return err
}
