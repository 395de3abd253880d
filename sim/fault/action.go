package fault

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Point is a point in the processing of a request or a commit at which a fault can be decided.
type Point string

// The points, in the order in which a write passes them.
const (
	RequestArrived   Point = "request.arrived"   // the user and the request are known
	RequestDecided   Point = "request.decided"   // the request is admitted and about to be served
	RequestValidated Point = "request.validated" // a write is validated and about to be stored: the resulting object is known
	StoreCommitted   Point = "store.committed"   // there is a new revision, which no replica has applied yet
	ReplicaApplied   Point = "replica.applied"   // one replica has applied the revision
	WatchSent        Point = "watch.sent"        // an event is about to be sent to one watch
	RequestAnswered  Point = "request.answered"  // the response is complete and about to be sent to the client
)

var points = []Point{RequestArrived, RequestDecided, RequestValidated, StoreCommitted, ReplicaApplied, WatchSent, RequestAnswered}

// Level classifies actions by whether a correct cluster can have the same effects.
type Level int

const (
	// Legal actions have effects that any client of a correct cluster must handle.
	Legal Level = iota
	// Degraded actions have the effects of a cluster with problems: its store is unreachable.
	Degraded
	// Illegal actions have effects that only a bug in the server can have: it returns a wrong state.
	Illegal
)

// String returns legal, degraded or illegal.
func (l Level) String() string { return [...]string{"legal", "degraded", "illegal"}[l] }

// Reason is the reason in the Status of an error response.
type Reason string

// The reasons of error responses. Gone is like Expired, but it is an HTTP status even for a watch, which otherwise
// receives the error as an event.
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

// Action is the effect of a fault. The Kind determines which fields are used.
type Action struct {
	Kind       Kind
	Reason     Reason        // Fail, Error, CommitThenFail
	RetryAfter int           // Fail, CommitThenFail: seconds; if 0, no header
	Wait       time.Duration // DelayRequest, DelayAnswer, Delay, Slow; for Stall, the time until the connection breaks, or 0 for never
	Bytes      int           // Truncate: the number of bytes that arrive
	Code       int           // Error: the HTTP status
	Message    string        // Error
	Object     string        // Answer: the object as JSON
	Replica    int           // Lag, Cut, Resume, Restart: the number of the replica, counted from 1
	Controller string        // Lag, Resume, Restart, Stop, Crash, Start, Slow: the name of the controller, unless Replica is set
	Resource   string        // Lag: the resource that lags; if empty, all resources
}

// form is the syntax of an action's arguments.
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

// Trouble returns the effect of the action on a replica or a controller. Its Kind is nil if the action has no such
// effect.
func (a Action) Trouble() trouble.Trouble {
	t := trouble.Trouble{Kind: a.Kind.about().trouble, Replica: a.Replica, Controller: a.Controller,
		Duration: a.Wait}
	if a.Resource != "" {
		t.Resources = []string{a.Resource}
	}
	return t
}

// isObject reports whether text is a JSON object with kind and apiVersion.
func isObject(text string) bool {
	obj, err := object.Parse([]byte(text))
	return err == nil && obj.Kind() != "" && obj.APIVersion() != ""
}

func (a Action) check() error {
	k := a.Kind.about()
	switch {
	case k.name == "":
		return errors.New("the action does not have a Kind of this package")
	case k.form == withReason && !slices.Contains(reasons, a.Reason):
		return fmt.Errorf("%s %q: the errors are %v", a.Kind, string(a.Reason), reasons)
	case k.form == withStatus && (a.Code < 400 || a.Code > 599):
		return fmt.Errorf("%s %d: the code of an error is between 400 and 599", a.Kind, a.Code)
	case k.form == withStatus && a.Reason == "":
		return fmt.Errorf("%s %d: the reason is missing, such as Forbidden", a.Kind, a.Code)
	case k.form == withObject && !isObject(a.Object):
		return fmt.Errorf("%s: %q is not a JSON object", a.Kind, a.Object)
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
			return fmt.Errorf("%s %s: the action does not apply to controllers", a.Kind, a.Controller)
		}
	case k.trouble != nil && !k.trouble.OfReplicas():
		return fmt.Errorf("%s: the name of the controller is missing", a.Kind)
	case k.trouble != nil && a.Replica < 1:
		return fmt.Errorf("%s %d: replicas are counted from 1", a.Kind, a.Replica)
	}
	return nil
}

// Kind is a kind of action. All kinds are in kinds.go; other packages cannot create one. Check rejects the zero Kind.
type Kind struct{ row *kind }

// kind holds the properties of a kind.
type kind struct {
	name    string
	form    form
	point   Point               // where it is decided; "" if that can be chosen
	level   func(f Fault) Level // the default is Legal
	final   bool                // no other action can follow on the same request or event
	trouble *trouble.Kind       // the action on a replica or a controller, if any
	fits    func(op *Op) bool   // reports whether the action is possible for a response; if nil, it always is

	// Exactly one of these functions is set. It performs the action.
	request func(Request, Action)
	answer  func(Reply, Action)
	event   func(Event, Action)
	cluster func(Cluster, Action)
}

// kindNamed returns the kind with the given name, or the zero Kind.
func kindNamed(name string) Kind {
	for _, k := range kinds {
		if k.row.name == name {
			return k
		}
	}
	return Kind{}
}

// String returns the name of the kind in the text of a fault.
func (k Kind) String() string { return k.about().name }

// about returns the properties of the kind. For the zero Kind, all properties are empty.
func (k Kind) about() *kind {
	if k.row == nil {
		return &kind{}
	}
	return k.row
}

// DoRequest carries out the action. It panics if the action is not possible for a request, which Check prevents.
func (a Action) DoRequest(on Request) { carryOut(a, on, a.Kind.about().request) }

// DoAnswer is like DoRequest, but for a response.
func (a Action) DoAnswer(on Reply) { carryOut(a, on, a.Kind.about().answer) }

// DoEvent is like DoRequest, but for an event.
func (a Action) DoEvent(on Event) { carryOut(a, on, a.Kind.about().event) }

// carryOut carries out an action on the whole cluster, if its kind affects that, and otherwise on the request, response
// or event.
func carryOut[T Cluster](a Action, on T, do func(T, Action)) {
	if cluster := a.Kind.about().cluster; cluster != nil {
		cluster(on, a)
		return
	}
	do(on, a)
}
