package scenario

import (
	"errors"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/condition"
)

// Condition is a condition of expect, never, eventually or once.
type Condition = condition.Condition

// ParseCondition parses a condition. Its error is a *SyntaxError.
func ParseCondition(text string) (*Condition, error) { return condition.Parse(text, 0) }

// Holds reports whether a condition holds now, and why. It returns an error if the condition is invalid or cannot be evaluated.
func (w *World) Holds(text string) (holds bool, why string, err error) {
	if text, err = w.substitute(text); err != nil {
		return false, "", err
	}
	c, err := condition.Parse(text, 0)
	if err != nil {
		return false, "", err
	}
	return c.Holds(w.scope(0))
}

// scope returns the scope of an operation's condition: the last response, and the store at revision rev. If rev is 0, it is the
// current state of the store.
func (w *World) scope(rev uint64) condition.Scope {
	s := condition.Scope{World: view{w}, Objects: storeReader{w, rev}, Revision: rev, Namespace: "default", Now: w.clock.Now()}
	if rev == 0 {
		s.Revision = w.cluster.Revision()
	}
	if w.last != nil && w.last.body != nil {
		s.Self = map[string]any(w.last.body)
	}
	return s
}

// storeReader reads the store at a revision, or its current state if rev is 0.
type storeReader struct {
	w   *World
	rev uint64
}

// Objects implements condition.Reader.
func (r storeReader) Objects(resource, namespace, name string) ([]object.Object, error) {
	d, err := r.w.findDefinition(resource)
	if err != nil {
		return nil, err
	}
	if !d.Namespaced {
		namespace = ""
	}
	return r.w.cluster.ListAt(d, namespace, name, r.rev)
}

// view implements condition.World.
type view struct{ w *World }

// LastAnswer implements condition.World.
func (v view) LastAnswer() *condition.Answer {
	c := v.w.last
	if c == nil {
		return nil
	}
	x := c.exchange
	return &condition.Answer{Code: c.answer.Code, Status: statusText[c.answer.Code], Reason: x.Reason, Message: c.body.String("message"),
		Header: x.ResHeader, Method: x.Method, Path: x.Path, Client: x.Client, Replica: x.Replica}
}

// Watch implements condition.World.
func (v view) Watch(name string) *condition.Watch {
	x := v.w.watchNamed(name)
	if x == nil {
		return nil
	}
	return &condition.Watch{State: x.state, RV: x.rv, Path: x.exchange.Path, Events: func(yield func(string, object.Object) bool) {
		for _, e := range x.events {
			if !yield(e.Type, e.Object) {
				return
			}
		}
	}}
}

// Actor implements condition.World.
func (v view) Actor(name string) *condition.Actor {
	a := v.w.actor(name)
	if a == nil {
		return nil
	}
	state := a.State()
	return &condition.Actor{Synced: state.Synced, State: state.State, Now: v.w.nowOf(name), Cache: a}
}

// Waiting implements condition.World.
func (v view) Waiting() int { return len(v.w.waiting) }

// Frames implements condition.World.
func (v view) Frames(of condition.Frames) (n int) {
	for i := range v.w.frames {
		f := &v.w.frames[i]
		if string(f.Kind) == of.Kind && (of.Code == 0 || of.Code == f.Code) && (of.Word == "" || of.Word == f.Reason || of.Word == f.Verb) &&
			(of.Lane == "" || of.Lane == f.Lane) {
			n++
		}
	}
	return n
}

// Broken implements condition.World.
func (v view) Broken() (string, error) {
	if v.w.recording == nil {
		return "", errors.New("promises are checked only if requests are recorded: put the operation record before this one")
	}
	if broken := v.w.recording.broken(v.w.healed); len(broken) > 0 {
		return broken[0], nil
	}
	return "", nil
}
