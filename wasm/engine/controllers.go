package engine

import (
	"github.com/kubesim/kubesim/sim/controller"
)

// controllers returns the view of the control plane's controllers: their state and their pending work.
func (e *Engine) controllers(*request) (out any, err error) {
	e.run.world.Cluster().Control(func(m *controller.Manager) { out = m.Report() })
	return out, nil
}

// controllerLanes are those of controllers that something has been done to. The others know everything that there is.
func (e *Engine) controllerLanes() (lanes []laneView) {
	var all []controller.Standing
	e.run.world.Cluster().Control(func(m *controller.Manager) { all = m.Standings() })
	for _, s := range all {
		if state := s.State(); state != "" {
			lanes = append(lanes, laneView{ID: "controller/" + s.Name, Kind: "controller", Label: s.Name, Horizon: formatRev(s.Knows), State: state})
		}
	}
	return lanes
}
