package fault

import (
	"fmt"
	"time"
)

// Point is a place in the life of a request or of a commit where a fault can be decided.
type Point string

// The points, in the order in which a write passes them.
const (
	RequestArrived   Point = "request.arrived"   // it is known who asks for what
	RequestDecided   Point = "request.decided"   // the request is let through and about to be served
	RequestValidated Point = "request.validated" // a write is checked and about to be stored: it is known what will be
	StoreCommitted   Point = "store.committed"   // there is a new revision, which no replica knows yet
	ReplicaApplied   Point = "replica.applied"   // one replica knows it
	WatchSent        Point = "watch.sent"        // an event is about to go to one watch
	RequestAnswered  Point = "request.answered"  // the answer is complete and about to go to the client
)

var points = []Point{RequestArrived, RequestDecided, RequestValidated, StoreCommitted, ReplicaApplied, WatchSent, RequestAnswered}

// Level says whether a correct cluster may do what an action does.
type Level int

const (
	// Legal is what any client of a correct cluster has to cope with.
	Legal Level = iota
	// Degraded is what a cluster does that is itself in trouble: its store is out of reach.
	Degraded
	// Illegal is what only a bug in the server does: it lies about the state.
	Illegal
)

// String returns legal, degraded or illegal.
func (l Level) String() string { return [...]string{"legal", "degraded", "illegal"}[l] }

// Kind is what an action does.
type Kind string

// The kinds of actions.
const (
	Fail           Kind = "fail"             // answer with an error, and do nothing else
	CommitThenFail Kind = "commit-then-fail" // do what was asked, then answer with an error
	DelayRequest   Kind = "delay-request"    // the request is served later
	DelayAnswer    Kind = "delay-answer"     // the request is served at once and answered later
	Truncate       Kind = "truncate"         // the connection breaks after some bytes of the body
	Drop           Kind = "drop"             // an event is lost
	Delay          Kind = "delay"            // an event, and what is behind it, comes later
	Hold           Kind = "hold"             // an event, and what is behind it, waits for Release
	Close          Kind = "close"            // the stream ends before the event
	Stall          Kind = "stall"            // the stream stays open and sends nothing any more
	Compact        Kind = "compact"          // the store forgets all revisions before now
	Expire         Kind = "expire"           // the store and every watch cache forget
	Lag            Kind = "lag"              // a replica stops applying commits
	Cut            Kind = "cut"              // a replica cannot reach the store
	Resume         Kind = "resume"           // a replica is as it should be again
	Restart        Kind = "restart"          // a replica is restarted
)

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

// Action is what a fault does. Which fields count depends on the Kind.
type Action struct {
	Kind       Kind
	Reason     Reason        // Fail, CommitThenFail
	RetryAfter int           // Fail, CommitThenFail: seconds; 0 says nothing
	Wait       time.Duration // DelayRequest, DelayAnswer, Delay; of Stall until the connection breaks, 0: never
	Bytes      int           // Truncate: how many arrive
	Replica    int           // Lag, Cut, Resume, Restart: counted from 1
	Resource   string        // Lag: what stops; "" is everything
}

// form is what the text of an action has after its kind.
type form int

const (
	bare form = iota
	withReason
	withWait
	withBytes
	withReplica
	mayWait
)

// kinds says of each kind how its text goes on and where it is decided; the point "" can be chosen.
var kinds = map[Kind]struct {
	form  form
	point Point
}{
	Fail: {withReason, ""}, CommitThenFail: {withReason, RequestAnswered},
	DelayRequest: {withWait, RequestArrived}, DelayAnswer: {withWait, RequestAnswered}, Truncate: {withBytes, RequestAnswered},
	Drop: {bare, WatchSent}, Delay: {withWait, WatchSent}, Hold: {bare, WatchSent},
	Close: {bare, WatchSent}, Stall: {mayWait, WatchSent},
	Compact: {bare, ""}, Expire: {bare, ""},
	Lag: {withReplica, ""}, Cut: {withReplica, ""}, Resume: {withReplica, ""}, Restart: {withReplica, ""},
}

// final reports whether nothing else can happen to the request or event after the action.
func (a Action) final() bool {
	switch a.Kind {
	case Fail, CommitThenFail, Truncate, Drop, Hold, Close, Stall:
		return true
	}
	return false
}

// fits reports whether the action can be done to an answer: only a success can be made an error, and only a body can be cut.
func (a Action) fits(op *Op) bool {
	switch a.Kind {
	case CommitThenFail:
		return !op.Failed && !op.Stream
	case Truncate:
		return !op.Stream
	}
	return true
}

func (a Action) check() error {
	k, ok := kinds[a.Kind]
	switch {
	case !ok:
		return fmt.Errorf("unknown action %q", string(a.Kind))
	case k.form == withReason && !contains(reasons, a.Reason):
		return fmt.Errorf("%s %q: the errors are %v", a.Kind, string(a.Reason), reasons)
	case a.RetryAfter < 0:
		return fmt.Errorf("retry=%d is negative", a.RetryAfter)
	case k.form == mayWait && a.Wait < 0:
		return fmt.Errorf("%s %v: the duration must not be negative", a.Kind, a.Wait)
	case k.form == withWait && a.Wait <= 0:
		return fmt.Errorf("%s %v: the duration must be above zero", a.Kind, a.Wait)
	case a.Bytes < 0:
		return fmt.Errorf("%s %d: the number of bytes must not be negative", a.Kind, a.Bytes)
	case k.form == withReplica && a.Replica < 1:
		return fmt.Errorf("%s %d: replicas are counted from 1", a.Kind, a.Replica)
	}
	return nil
}

func contains[T comparable](list []T, x T) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}
