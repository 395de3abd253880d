package lesson

import (
	"slices"

	"github.com/kubesim/kubesim/sim/scenario"
)

// Unasked is an op of the learner that the current step did not ask for and that changed something.
type Unasked struct {
	N       int      `json:"n"` // the number of the op, counted from 1
	Line    string   `json:"line"`
	Effects []Effect `json:"effects"`
}

// Effect is a single effect of an op, such as a created object.
type Effect struct {
	Kind string `json:"kind"` // created, changed, deleted, watch, time, or did for other effects, such as lag 1
	Of   string `json:"of"`   // the object, the name of the watch, the duration, or the line
}

// mostEffects is the maximum number of reported effects per op.
const mostEffects = 5

// Unasked returns the learner's ops in the current step that the step did not ask for, with their effects.
func (s *Session) Unasked() []Unasked {
	var out []Unasked
	var solution []string
	for _, line := range s.Solution() {
		if op, err := scenario.Parse(line); err == nil {
			solution = append(solution, op.String())
		}
	}
	for i := s.begun; i < len(s.did); i++ {
		line := s.did[i].op.String()
		if slices.Contains(solution, line) {
			continue
		}
		if effects := s.effects(i); len(effects) > 0 {
			out = append(out, Unasked{i + 1, line, effects})
		}
	}
	return out
}

// effects returns the effects of a learner's op. If the op's own requests have written objects, it leaves out the writes
// of other clients and of controllers, which react to these.
func (s *Session) effects(i int) []Effect {
	var out []Effect
	add := func(kind, of string) {
		if e := (Effect{kind, of}); len(out) < mostEffects && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	frames := s.world.Frames(0)
	from, _ := slices.BinarySearchFunc(frames, s.did[i].n, func(f scenario.Frame, n int) int { return f.Op - n })
	to := from
	for to < len(frames) && frames[to].Op == s.did[i].n {
		to++
	}
	own := func(f scenario.Frame) bool { return isOwnCommit(frames, &f) }
	wrote := slices.ContainsFunc(frames[from:to], own)
	for _, f := range frames[from:to] {
		switch {
		case f.Kind == scenario.StoreCommit && wrote && !own(f):
		case f.Kind == scenario.StoreCommit:
			add(commits[f.Verb], f.Ref)
		case f.Kind == scenario.HTTPResponse && f.Exchange != nil && f.Exchange.Watch != "":
			add("watch", f.Exchange.Watch)
		case f.Kind == scenario.ClockTick:
			add("time", f.Text)
		}
	}
	if group := scenario.FindCommand(s.did[i].op.Name).Group; len(out) == 0 && (group == scenario.Worldly || group == scenario.Actors) {
		add("did", s.did[i].op.String())
	}
	return out
}

// isOwnCommit reports whether f is the commit of a request that an op has sent itself, and not in reaction to another frame.
func isOwnCommit(frames []scenario.Frame, f *scenario.Frame) bool {
	if f.Kind != scenario.StoreCommit || f.Cause == 0 {
		return false
	}
	cause := &frames[f.Cause-1]
	return cause.Kind == scenario.HTTPRequest && cause.Cause == 0
}

// commits maps the verbs of frames to kinds of effects.
var commits = map[string]string{"ADDED": "created", "MODIFIED": "changed", "DELETED": "deleted"}
