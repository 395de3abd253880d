package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Trigger is the condition and the frequency of a fault. Its methods return a changed copy, and those named for an action return
// the Fault.
type Trigger struct {
	verb, resource          string
	namespace, name         string
	client, user, eventType string
	replica                 int
	where, became           []string // conditions on the object
	nth, every              int
	probability             float64
	times                   int // 0 means no limit
	until                   time.Duration
	at                      Point
}

// Fault is one thing that goes wrong.
type Fault struct {
	trigger Trigger
	action  Action
}

// verbs are the verbs of triggers, besides "*".
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "post", "put"}

var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}

var writes = []string{"create", "update", "patch", "delete", "deletecollection"}

// overloaded are the errors with which a server answers before it reads the request.
var overloaded = []Reason{TooManyRequests, Unavailable, Timeout, Internal}

// On triggers on requests, and with the verb watch on the events of watches.
//
// verb is one of Kubernetes, several with commas between, or "*". resource is one of
//
//	pods              the resource, in any group
//	deployments.apps  the resource of a group
//	widgets/status    a subresource; pods/* is the resource and all of its subresources
//	/apis/*           a path that is no resource's; without the * exactly this one
//	*                 everything
func On(verb, resource string) Trigger {
	return Trigger{verb: verb, resource: resource, probability: 1}
}

// Namespace triggers in one namespace only.
func (t Trigger) Namespace(namespace string) Trigger { t.namespace = namespace; return t }

// Name triggers for the object of one name only.
func (t Trigger) Name(name string) Trigger { t.name = name; return t }

// Client triggers for requests, and watches, of clients whose User-Agent begins with the prefix.
func (t Trigger) Client(prefix string) Trigger { t.client = prefix; return t }

// User triggers for requests, and watches, of one user.
func (t Trigger) User(name string) Trigger { t.user = name; return t }

// Replica triggers on one API server only, counted from 1.
func (t Trigger) Replica(n int) Trigger { t.replica = n; return t }

// Event triggers on watch events of one type: ADDED, MODIFIED, DELETED or BOOKMARK.
func (t Trigger) Event(eventType string) Trigger { t.eventType = eventType; return t }

// Where restricts the trigger to objects that meet a condition: the object in the body of a create or update, the object of an
// event or a commit, otherwise the stored object. Conditions:
//
//	metadata.deletionTimestamp              the field exists
//	!status.phase                           it does not exist
//	spec.replicas=3                         it has the value
//	metadata.labels[app.kubernetes.io/name]!=web   it has another value, or does not exist
//	spec.containers.0.image=nginx           an item of a list
func (t Trigger) Where(condition string) Trigger {
	t.where = append(t.where[:len(t.where):len(t.where)], condition)
	return t
}

// Became triggers when the object meets a condition of Where and did not meet it before: after the write of a create, update, patch or
// delete, or between two events of a watch. The result of a patch or a delete is known from the point RequestValidated on.
func (t Trigger) Became(condition string) Trigger {
	t.became = append(t.became[:len(t.became):len(t.became)], condition)
	return t
}

// Nth skips the matches before the n-th one and, without Every, also those after it. Requests are counted in the order in which
// they arrive, whether or not each of them gets as far as the fault's point. With a condition (Where, Became), only requests that
// meet it at that point are counted. Events and commits are counted as they come.
func (t Trigger) Nth(n int) Trigger { t.nth = n; return t }

// Every triggers each n-th time, counted as for Nth.
func (t Trigger) Every(n int) Trigger { t.every = n; return t }

// Probability triggers with the probability p, drawn from a stream of the fault's own.
func (t Trigger) Probability(p float64) Trigger { t.probability = p; return t }

// Times ends the fault after n times.
func (t Trigger) Times(n int) Trigger { t.times = n; return t }

// Until ends the fault when it has been there for d of the cluster's time.
func (t Trigger) Until(d time.Duration) Trigger { t.until = d; return t }

// At sets the point of Fail, Compact, Expire and actions on a replica. Without it a Fail is decided where the real server refuses a
// request for that reason; the others happen when a write was committed and before a read is served.
func (t Trigger) At(p Point) Trigger { t.at = p; return t }

// Do makes the Fault of any action.
func (t Trigger) Do(a Action) Fault { return Fault{t, a} }

// RetryAfter sets the seconds after which an error asks its client to try again.
func (f Fault) RetryAfter(seconds int) Fault { f.action.RetryAfter = seconds; return f }

// Action returns the action of the fault.
func (f Fault) Action() Action { return f.action }

// Point returns where the fault is decided.
func (f Fault) Point() Point {
	if p := f.action.Kind.about().point; p != "" {
		return p
	}
	if f.trigger.at != "" {
		return f.trigger.at
	}
	switch fails := f.action.Kind == Fail || f.action.Kind == Error; {
	case fails && f.trigger.late():
		return RequestValidated
	case fails && slices.Contains(overloaded, f.action.Reason):
		return RequestArrived
	case !fails && f.trigger.only(writes...):
		return StoreCommitted
	}
	return RequestDecided
}

// only reports whether the trigger asks for none but these verbs.
func (t Trigger) only(verbs ...string) bool {
	return !slices.ContainsFunc(strings.Split(t.verb, ","), func(verb string) bool { return !slices.Contains(verbs, verb) })
}

// late reports whether the trigger needs the resulting object, which is known early for a create or update only.
func (t Trigger) late() bool {
	return len(t.became) > 0 && slices.ContainsFunc(strings.Split(t.verb, ","), func(verb string) bool {
		return verb == "patch" || verb == "delete" || verb == "deletecollection" || verb == "*"
	})
}

// Level returns whether a correct cluster may do the same as the fault.
func (f Fault) Level() Level {
	if level := f.action.Kind.about().level; level != nil {
		return level(f)
	}
	return Legal
}

// Check returns an error for a fault that can never happen.
func (f Fault) Check() error {
	t := f.trigger
	if err := f.action.check(); err != nil {
		return err
	}
	for verb := range strings.SplitSeq(t.verb, ",") {
		if verb != "*" && !slices.Contains(verbs, verb) {
			return fmt.Errorf("unknown verb %q: one of %s or *", verb, strings.Join(verbs, ", "))
		}
	}
	if t.resource == "" {
		return errors.New("the resource is missing: pods, deployments.apps, widgets/status or *")
	}
	if t.replica < 0 || t.nth < 0 || t.every < 0 || t.times < 0 || t.until < 0 {
		return errors.New("replica, nth, every, times and until must not be negative")
	}
	if t.eventType != "" && !slices.Contains(eventTypes, t.eventType) {
		return fmt.Errorf("unknown event type %q: one of %v", t.eventType, eventTypes)
	}
	if !(t.probability >= 0 && t.probability <= 1) {
		return fmt.Errorf("p=%v is not between 0 and 1", t.probability)
	}
	for _, text := range slices.Concat(t.where, t.became) {
		if _, err := parseCondition(text); err != nil {
			return err
		}
	}
	return f.checkPoint()
}

func (f Fault) checkPoint() error {
	t := f.trigger
	point := f.Point()
	switch {
	case t.at != "" && !slices.Contains(points, t.at):
		return fmt.Errorf("unknown point %q: one of %v", string(t.at), points)
	case t.at != "" && t.at != point:
		return fmt.Errorf("%s happens at %s, not at %s", f.action.Kind, point, t.at)
	case (f.action.Kind == Fail || f.action.Kind == Error) && point != RequestArrived && point != RequestDecided && point != RequestValidated:
		return fmt.Errorf("%s happens at request.arrived, request.decided or request.validated, not at %s: see commit-then-fail", f.action.Kind, point)
	case f.action.Kind == Answer && t.only("watch"):
		return errors.New("a watch cannot be answered with an object")
	case (point == RequestArrived || point == RequestDecided) && t.late():
		return fmt.Errorf("at %s the result of a %s is not known yet: became needs at=request.validated or a later point", point, t.verb)
	case point == WatchSent && t.verb != "watch" && t.verb != "*":
		return fmt.Errorf("%s is for events of watches: its verb is watch, not %s", f.action.Kind, t.verb)
	case t.eventType != "" && point != WatchSent:
		return fmt.Errorf("%s does not happen to events: event=%s has no meaning", f.action.Kind, t.eventType)
	}
	return nil
}
