package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/answer"
	"github.com/kubesim/kubesim/sim/apiserver"
)

// controlPrefix is where a served simulator is controlled; the API itself has nothing there.
const controlPrefix = "/sim/v1/"

// control returns a handler that serves the API, and below /sim/v1/ what moves the simulator. Errors are plain text that
// says what to do instead. The API server that pick returns says whether the sender may; nil: everybody may, for who asks in
// process has the server in his hands.
func (s *Server) control(api *answer.Handler, pick func(*http.Request) *apiserver.Server) http.Handler {
	control := sync.OnceValue(s.controls) // most tests ask for none of it
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, controlPrefix) {
			api.ServeHTTP(w, r)
			return
		}
		if pick != nil {
			if refused := pick(r).Check(api.Request(r)); refused != nil {
				answer.Write(w, refused)
				return
			}
		}
		control().ServeHTTP(w, r)
	})
}

// controls returns what serves the paths below /sim/v1/.
func (s *Server) controls() *http.ServeMux {
	control := http.NewServeMux()
	control.HandleFunc("POST "+controlPrefix+"compact", func(w http.ResponseWriter, _ *http.Request) { s.Compact() })
	control.HandleFunc("POST "+controlPrefix+"expire", func(w http.ResponseWriter, _ *http.Request) { s.Expire() })
	control.HandleFunc("GET "+controlPrefix+"clock", s.serveClock)
	control.HandleFunc("POST "+controlPrefix+"clock/advance", s.serveAdvance)
	control.HandleFunc("POST "+controlPrefix+"reset", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.Reset(); err != nil {
			http.Error(w, "kubesim: reset: "+err.Error(), http.StatusInternalServerError)
		}
	})
	s.controlFaults(control)
	s.controlTrace(control)
	s.controlReplicas(control)
	s.controlControllers(control)
	s.controlSnapshot(control)
	return control
}

func (s *Server) manual() bool { return s.cluster.Clock() == clock.Clock(s.Clock) }

func (s *Server) serveClock(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"now": s.cluster.Clock().Now().UTC().Format(time.RFC3339Nano), "manual": s.manual()})
}

func (s *Server) serveAdvance(w http.ResponseWriter, r *http.Request) {
	d, err := time.ParseDuration(r.URL.Query().Get("d"))
	switch {
	case err != nil || d < 0:
		http.Error(w, fmt.Sprintf("kubesim: clock/advance: d=%q is not a duration such as 5m or 90s", r.URL.Query().Get("d")), http.StatusBadRequest)
	case !s.manual():
		http.Error(w, "kubesim: clock/advance: this server runs on the system clock; start it with --clock manual", http.StatusConflict)
	default:
		s.Clock.Advance(d)
		s.serveClock(w, r)
	}
}
