package fault

import "github.com/kubesim/kubesim/sim/trouble"

// Kind is a kind of action. kinds.go has all kinds; other packages cannot make one. Check refuses the zero Kind.
type Kind struct{ row *kind }

// kind is all that is known of a kind.
type kind struct {
	name    string
	form    form
	point   Point               // where it is decided, "" if that can be chosen
	level   func(f Fault) Level // the default is Legal
	final   bool                // nothing else can happen to the request or event after it
	trouble *trouble.Kind       // the action on a replica or a controller, if any
	fits    func(op *Op) bool   // reports whether it is possible for an answer; if nil, for any

	// Exactly one of these is set. It carries out the action.
	request func(Request, Action)
	answer  func(Reply, Action)
	event   func(Event, Action)
	cluster func(Cluster, Action)
}

// kindNamed returns the kind of a name; the zero Kind if there is none.
func kindNamed(name string) Kind {
	for _, k := range kinds {
		if k.row.name == name {
			return k
		}
	}
	return Kind{}
}

// String returns its name in the text of a fault.
func (k Kind) String() string { return k.about().name }

// about returns the row of the kind, which is empty for the zero Kind.
func (k Kind) about() *kind {
	if k.row == nil {
		return &kind{}
	}
	return k.row
}

// DoRequest carries the action out. One that cannot happen to a request panics: Check lets none come here.
func (a Action) DoRequest(on Request) { carryOut(a, on, a.Kind.about().request) }

// DoAnswer is DoRequest for an answer.
func (a Action) DoAnswer(on Reply) { carryOut(a, on, a.Kind.about().answer) }

// DoEvent is DoRequest for an event.
func (a Action) DoEvent(on Event) { carryOut(a, on, a.Kind.about().event) }

// carryOut carries out the action on the cluster, or else on the request, answer or event.
func carryOut[T Cluster](a Action, on T, do func(T, Action)) {
	if cluster := a.Kind.about().cluster; cluster != nil {
		cluster(on, a)
		return
	}
	do(on, a)
}
