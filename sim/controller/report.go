package controller

import (
	"strconv"
	"time"
)

// Report describes the controllers for a web page: the engine's view controllers, and GET /sim/v1/controllers as JSON.
type Report struct {
	Controllers []Reported `json:"controllers"`
	Stepped     bool       `json:"stepped"` // they wait for Step
}

// Reported is one of them, or a kubelet.
type Reported struct {
	Name    string   `json:"name"`
	State   string   `json:"state,omitempty"` // that of Standing.State
	Slow    int64    `json:"slow,omitempty"`  // delay in milliseconds before it reconciles a new item
	Lagging []string `json:"lagging,omitempty"`
	Rev     string   `json:"rv"` // that it knows
	Due     []Due    `json:"due"`
	All     int      `json:"all"` // how much is due
}

// Due is an item that a controller is about to reconcile.
type Due struct {
	Key string `json:"key"`
	In  int64  `json:"in"` // milliseconds; 0 if it may start now
}

// reportedDue is the most due items that a Report has of each controller.
const reportedDue = 5

// Report describes the controllers, except those of API servers.
func (m *Manager) Report() Report {
	r := Report{Controllers: []Reported{}, Stepped: m.Stepped}
	for _, s := range m.Standings() {
		r.Controllers = append(r.Controllers, s.report(m.schedule.Now()))
	}
	return r
}

func (s *Standing) report(now time.Time) Reported {
	due := []Due{}
	for _, w := range s.Due[:min(len(s.Due), reportedDue)] {
		due = append(due, Due{w.Key.String(), w.At.Sub(now).Milliseconds()})
	}
	return Reported{s.Name, s.State(), s.Delay.Milliseconds(), s.Lagging, strconv.FormatUint(s.Knows, 10), due, len(s.Due)}
}

// State returns the trouble of a controller in a word: stopped, crashed, lagging or slow, or "" if it has none.
func (s *Standing) State() string {
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
