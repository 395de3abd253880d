package controller

import (
	"strconv"
	"time"
)

// Report describes the controllers for the web page's controllers view, and for GET /sim/v1/controllers.
type Report struct {
	Controllers []Reported `json:"controllers"`
	Stepped     bool       `json:"stepped"` // controllers wait for Step
}

// Reported describes a controller or a kubelet.
type Reported struct {
	Name    string   `json:"name"`
	State   string   `json:"state,omitempty"` // Summary.State
	Slow    int64    `json:"slow,omitempty"`  // the delay in milliseconds before it reconciles a new item
	Lagging []string `json:"lagging,omitempty"`
	Rev     string   `json:"rv"` // revision of its cache
	Due     []Due    `json:"due"`
	All     int      `json:"all"` // number of items that it will reconcile
}

// Due is an item that a controller will reconcile.
type Due struct {
	Key string `json:"key"`
	In  int64  `json:"in"` // milliseconds until it is due; 0 if it is due now
}

// reportedDue is the maximum number of items that a Report lists for each controller.
const reportedDue = 5

// Report returns a report about all controllers except those inside API servers.
func (m *Manager) Report() Report {
	r := Report{Controllers: []Reported{}, Stepped: m.Stepped}
	for _, s := range m.Summaries() {
		r.Controllers = append(r.Controllers, s.report(m.schedule.Now()))
	}
	return r
}

func (s *Summary) report(now time.Time) Reported {
	due := []Due{}
	for _, w := range s.Due[:min(len(s.Due), reportedDue)] {
		due = append(due, Due{w.Key.String(), w.At.Sub(now).Milliseconds()})
	}
	return Reported{s.Name, s.State(), s.Delay.Milliseconds(), s.Lagging, strconv.FormatUint(s.Knows, 10), due, len(s.Due)}
}

// State summarizes the disturbance of a controller as stopped, crashed, lagging or slow. It returns "" if there is none.
func (s *Summary) State() string {
	switch {
	case s.Crashed:
		return "crashed"
	case s.Stopped:
		return "stopped"
	case len(s.Lagging) > 0:
		return "lagging"
	case s.Delay > 0:
		return "slow"
	}
	return ""
}
