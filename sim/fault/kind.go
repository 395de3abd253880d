package fault

import "github.com/kubesim/kubesim/sim/trouble"

// Kind is what an action does. The kinds there are stand below; nobody can make another one, and the zero Kind is none,
// which Check refuses. A new one is a value here, a method of what it happens to (see Request), a Trigger method and a
// sample in the tests.
type Kind struct{ row *kind }

// kind is all that is known of a kind.
type kind struct {
	name    string
	form    form
	point   Point               // where it is decided; "": that can be chosen
	level   func(f Fault) Level // nil: Legal
	final   bool                // nothing else can happen to the request or event after it
	trouble *trouble.Kind       // what it does to a replica or a controller; nil: nothing
	fits    func(op *Op) bool   // whether it can be done to an answer; nil: to any

	// One of these is what it happens to.
	request func(Request, Action)
	answer  func(Reply, Action)
	event   func(Event, Action)
	cluster func(Cluster, Action)
}

// The kinds of actions.
var (
	// Fail answers with an error, and does nothing else.
	Fail = Kind{&kind{name: "fail", form: withReason, level: failLevel, final: true, request: Request.Fail}}
	// Error answers with an error of any code, reason and message, and does nothing else.
	Error = Kind{&kind{name: "error", form: withStatus, level: errorLevel, final: true, request: Request.Fail}}
	// Answer answers with an object, and does nothing else.
	Answer = Kind{&kind{name: "answer", form: withObject, point: RequestArrived, level: always(Illegal), final: true, request: Request.Answer}}
	// CommitThenFail does what was asked, then answers with an error. Only a success can be made one.
	CommitThenFail = Kind{&kind{name: "commit-then-fail", form: withReason, point: RequestAnswered, level: lateLevel, final: true,
		fits: func(op *Op) bool { return !op.Failed && !op.Stream }, answer: Reply.Fail}}
	// DelayRequest serves the request later.
	DelayRequest = Kind{&kind{name: "delay-request", form: withWait, point: RequestArrived, request: Request.Delay}}
	// DelayAnswer serves the request at once and answers later.
	DelayAnswer = Kind{&kind{name: "delay-answer", form: withWait, point: RequestAnswered, answer: Reply.Delay}}
	// Truncate breaks the connection after some bytes of the body, which a watch has not.
	Truncate = Kind{&kind{name: "truncate", form: withBytes, point: RequestAnswered, final: true,
		fits: func(op *Op) bool { return !op.Stream }, answer: Reply.Truncate}}

	// Drop loses an event.
	Drop = Kind{&kind{name: "drop", point: WatchSent, level: always(Illegal), final: true, event: Event.Drop}}
	// Delay lets an event, and what is behind it, come later.
	Delay = Kind{&kind{name: "delay", form: withWait, point: WatchSent, event: Event.Delay}}
	// Hold lets an event, and what is behind it, wait for Release.
	Hold = Kind{&kind{name: "hold", point: WatchSent, final: true, event: Event.Hold}}
	// Close ends the stream before the event.
	Close = Kind{&kind{name: "close", point: WatchSent, final: true, event: Event.Close}}
	// Stall leaves the stream open, which sends nothing any more.
	Stall = Kind{&kind{name: "stall", form: mayWait, point: WatchSent, final: true, event: Event.Stall}}

	// Compact lets the store forget all revisions before now.
	Compact = Kind{&kind{name: "compact", cluster: Cluster.Compact}}
	// Expire lets the store and every watch cache forget.
	Expire = Kind{&kind{name: "expire", cluster: Cluster.Expire}}
	// Lag stops a replica from applying commits, or a controller from seeing them.
	Lag = Kind{&kind{name: trouble.Lag.Name, trouble: trouble.Lag, cluster: Cluster.Treat}}
	// Cut takes the store out of a replica's reach.
	Cut = Kind{&kind{name: trouble.Cut.Name, trouble: trouble.Cut, level: always(Degraded), cluster: Cluster.Treat}}
	// Resume makes a replica, or what a controller sees, as it should be again.
	Resume = Kind{&kind{name: trouble.Resume.Name, trouble: trouble.Resume, cluster: Cluster.Treat}}
	// Restart restarts a replica, or a controller.
	Restart = Kind{&kind{name: trouble.Restart.Name, trouble: trouble.Restart, cluster: Cluster.Treat}}
	// Stop stops a controller.
	Stop = Kind{&kind{name: trouble.Stop.Name, trouble: trouble.Stop, cluster: Cluster.Treat}}
	// Crash stops a controller, which forgets everything.
	Crash = Kind{&kind{name: trouble.Crash.Name, trouble: trouble.Crash, cluster: Cluster.Treat}}
	// Start starts a controller that was stopped or has crashed.
	Start = Kind{&kind{name: trouble.Start.Name, trouble: trouble.Start, cluster: Cluster.Treat}}
	// Slow lets a controller wait before each reconcile.
	Slow = Kind{&kind{name: trouble.Slow.Name, trouble: trouble.Slow, cluster: Cluster.Treat}}
)

var kinds = []Kind{Fail, Error, Answer, CommitThenFail, DelayRequest, DelayAnswer, Truncate, Drop, Delay, Hold, Close, Stall, Compact, Expire,
	Lag, Cut, Resume, Restart, Stop, Crash, Start, Slow}

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

// about returns what is known of the kind; of the zero Kind there is nothing.
func (k Kind) about() *kind {
	if k.row == nil {
		return &kind{}
	}
	return k.row
}

func always(l Level) func(Fault) Level { return func(Fault) Level { return l } }

// Cluster is what actions about the store and the replicas happen to.
type Cluster interface {
	Compact(Action)
	Expire(Action)
	Treat(Action) // does the action's Trouble to a replica or a controller
}

// Request is a request, or a commit, to which actions happen. It has a method for each action that there is at its points,
// as Reply and Event have: who carries actions out and forgets one does not compile.
type Request interface {
	Cluster
	Fail(Action)
	Answer(Action)
	Delay(Action)
}

// Reply is a complete answer to which actions happen.
type Reply interface {
	Cluster
	Fail(Action)
	Delay(Action)
	Truncate(Action)
}

// Event is an event on its way to a watch to which actions happen.
type Event interface {
	Cluster
	Drop(Action)
	Delay(Action)
	Hold(Action)
	Close(Action)
	Stall(Action)
}

// DoRequest carries the action out. One that cannot happen to a request panics: Check lets none come here.
func (a Action) DoRequest(on Request) { carryOut(a, on, a.Kind.about().request) }

// DoAnswer is DoRequest for an answer.
func (a Action) DoAnswer(on Reply) { carryOut(a, on, a.Kind.about().answer) }

// DoEvent is DoRequest for an event.
func (a Action) DoEvent(on Event) { carryOut(a, on, a.Kind.about().event) }

// carryOut does what happens to the cluster, or else what happens to the request, answer or event.
func carryOut[T Cluster](a Action, on T, do func(T, Action)) {
	if cluster := a.Kind.about().cluster; cluster != nil {
		cluster(on, a)
		return
	}
	do(on, a)
}
