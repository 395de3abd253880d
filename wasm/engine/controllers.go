package engine

import (
	"github.com/kubesim/kubesim/sim/controller"
)

// controllerView is one controller of the control plane, or a kubelet.
type controllerView struct {
	Name    string    `json:"name"`
	State   string    `json:"state,omitempty"` // stopped, crashed, lagging or slow; "": it works
	Slow    int64     `json:"slow,omitempty"`  // milliseconds that it waits before it does what it is told of
	Lagging []string  `json:"lagging,omitempty"`
	Rev     string    `json:"rv"` // that it knows
	Due     []dueView `json:"due"`
	All     int       `json:"all"` // how much is due
}

// dueView is what a controller is about to do.
type dueView struct {
	Key string `json:"key"`
	In  int64  `json:"in"` // milliseconds; 0: as soon as it may
}

// dueMost is how much of what is due a page gets.
const dueMost = 5

// controllers is the view of the control plane's controllers: what they are like, and what they are about to do.
func (e *Engine) controllers(*request) (any, error) {
	now := e.run.world.Now()
	stepped := false
	e.run.world.Cluster().Control(func(m *controller.Manager) { stepped = m.Stepped })
	list := each(e.standings(), func(s controller.Standing) controllerView {
		due := each(s.Due[:min(len(s.Due), dueMost)], func(w controller.Waiting) dueView {
			return dueView{w.Key.String(), w.At.Sub(now).Milliseconds()}
		})
		return controllerView{s.Name, stateOf(&s), s.Delay.Milliseconds(), s.Lagging, formatRev(s.Knows), due, len(s.Due)}
	})
	return fields{"controllers": list, "stepped": stepped}, nil
}

func (e *Engine) standings() (all []controller.Standing) {
	e.run.world.Cluster().Control(func(m *controller.Manager) { all = m.Standings() })
	return all
}

func stateOf(s *controller.Standing) string {
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

// controllerLanes are those of controllers that something has been done to. The others know everything that there is.
func (e *Engine) controllerLanes() (lanes []laneView) {
	for _, s := range e.standings() {
		if state := stateOf(&s); state != "" {
			lanes = append(lanes, laneView{ID: "controller/" + s.Name, Kind: "controller", Label: s.Name, Horizon: formatRev(s.Knows), State: state})
		}
	}
	return lanes
}
