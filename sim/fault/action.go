package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Point is a place in the life of a request or of a commit where a fault can be decided.
type Point string

// The points, in the order in which a write passes them.
const (
	RequestArrived   Point = "request.arrived"   // the user and the request are known
	RequestDecided   Point = "request.decided"   // the request is let through and about to be served
	RequestValidated Point = "request.validated" // a write is validated and about to be stored: the resulting object is known
	StoreCommitted   Point = "store.committed"   // there is a new revision, which no replica knows yet
	ReplicaApplied   Point = "replica.applied"   // one replica knows it
	WatchSent        Point = "watch.sent"        // an event is about to go to one watch
	RequestAnswered  Point = "request.answered"  // the answer is complete and about to go to the client
)

var points = []Point{RequestArrived, RequestDecided, RequestValidated, StoreCommitted, ReplicaApplied, WatchSent, RequestAnswered}

// Level classifies actions by whether a correct cluster may do the same.
type Level int

const (
	// Legal actions have effects that any client of a correct cluster has to handle.
	Legal Level = iota
	// Degraded actions have the effects of a cluster in trouble: its store is unreachable.
	Degraded
	// Illegal actions have effects that only a bug in the server can have: it lies about the state.
	Illegal
)

// String returns legal, degraded or illegal.
func (l Level) String() string { return [...]string{"legal", "degraded", "illegal"}[l] }

// Reason names an error that an action answers with, by the reason of its Status.
type Reason string

// The errors. Gone is Expired as an HTTP status even for a watch, which otherwise learns of it inside its stream.
const (
	Conflict        Reason = "Conflict"           // 409
	NotFound        Reason = "NotFound"           // 404
	Expired         Reason = "Expired"            // 410
	Gone            Reason = "Gone"               // 410
	TooManyRequests Reason = "TooManyRequests"    // 429
	Internal        Reason = "InternalError"      // 500
	Unavailable     Reason = "ServiceUnavailable" // 503
	Timeout         Reason = "Timeout"            // 504
)

var reasons = []Reason{Conflict, NotFound, Expired, Gone, TooManyRequests, Internal, Unavailable, Timeout}

// Action is the effect of a fault. The Kind determines which fields count.
type Action struct {
	Kind       Kind
	Reason     Reason        // Fail, Error, CommitThenFail
	RetryAfter int           // Fail, CommitThenFail: seconds; no header if 0
	Wait       time.Duration // DelayRequest, DelayAnswer, Delay, Slow; for Stall the time until the connection breaks, or 0 for never
	Bytes      int           // Truncate: how many arrive
	Code       int           // Error: HTTP status
	Message    string        // Error
	Object     string        // Answer: as JSON
	Replica    int           // Lag, Cut, Resume, Restart: counted from 1
	Controller string        // Lag, Resume, Restart, Stop, Crash, Start, Slow: its name, unless Replica counts
	Resource   string        // Lag: the resource that lags; empty for all
}

// form is the form of the text of an action after its kind.
type form int

const (
	bare form = iota
	withReason
	withWait
	withBytes
	mayWait
	withStatus
	withObject
)

// Trouble returns the effect of the action on a replica or a controller. Its Kind is nil if there is none.
func (a Action) Trouble() trouble.Trouble {
	t := trouble.Trouble{Kind: a.Kind.about().trouble, Replica: a.Replica, Controller: a.Controller,
		Duration: a.Wait}
	if a.Resource != "" {
		t.Resources = []string{a.Resource}
	}
	return t
}

// isObject reports whether a text is an object as JSON, with a kind.
func isObject(text string) bool {
	obj, err := object.Parse([]byte(text))
	return err == nil && obj.Kind() != "" && obj.APIVersion() != ""
}

func (a Action) check() error {
	k := a.Kind.about()
	switch {
	case k.name == "":
		return errors.New("the action is none of this package")
	case k.form == withReason && !slices.Contains(reasons, a.Reason):
		return fmt.Errorf("%s %q: the errors are %v", a.Kind, string(a.Reason), reasons)
	case k.form == withStatus && (a.Code < 400 || a.Code > 599):
		return fmt.Errorf("%s %d: the code of an error is between 400 and 599", a.Kind, a.Code)
	case k.form == withStatus && a.Reason == "":
		return fmt.Errorf("%s %d: the reason is missing, such as Forbidden", a.Kind, a.Code)
	case k.form == withObject && !isObject(a.Object):
		return fmt.Errorf("%s: %q is no JSON object", a.Kind, a.Object)
	case a.RetryAfter < 0:
		return fmt.Errorf("retry=%d is negative", a.RetryAfter)
	case k.form == mayWait && a.Wait < 0:
		return fmt.Errorf("%s %v: the duration must not be negative", a.Kind, a.Wait)
	case k.form == withWait && a.Wait <= 0:
		return fmt.Errorf("%s %v: the duration must be above zero", a.Kind, a.Wait)
	case a.Bytes < 0:
		return fmt.Errorf("%s %d: the number of bytes must not be negative", a.Kind, a.Bytes)
	case k.trouble != nil && a.Controller != "":
		if a.Replica != 0 || !k.trouble.OfControllers() || a.Wait < 0 {
			return fmt.Errorf("%s %s: it cannot be done to a controller", a.Kind, a.Controller)
		}
	case k.trouble != nil && !k.trouble.OfReplicas():
		return fmt.Errorf("%s: the name of the controller is missing", a.Kind)
	case k.trouble != nil && a.Replica < 1:
		return fmt.Errorf("%s %d: replicas are counted from 1", a.Kind, a.Replica)
	}
	return nil
}

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
