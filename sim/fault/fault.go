package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Trigger is the condition and the frequency of a fault. Its methods return a modified copy; the methods that are named
// after an action return a Fault.
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

// Fault is a trigger and the action that it triggers.
type Fault struct {
	trigger Trigger
	action  Action
}

// verbs are the verbs of triggers, in addition to "*".
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "post", "put"}

var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}

var writes = []string{"create", "update", "patch", "delete", "deletecollection"}

// overloaded are the errors with which a server can respond before it reads the request.
var overloaded = []Reason{TooManyRequests, Unavailable, Timeout, Internal}

// On returns a trigger for requests and, with the verb watch, for the events of watches.
//
// verb is a Kubernetes verb, a comma-separated list of verbs, or "*". resource is one of
//
//	pods              the resource, in any group
//	deployments.apps  the resource of a group
//	widgets/status    a subresource; pods/* is the resource and all of its subresources
//	/apis/*           a path that does not belong to a resource; without the *, exactly this path
//	*                 all requests
func On(verb, resource string) Trigger {
	return Trigger{verb: verb, resource: resource, probability: 1}
}

// Namespace restricts the trigger to one namespace.
func (t Trigger) Namespace(namespace string) Trigger { t.namespace = namespace; return t }

// Name restricts the trigger to objects with one name.
func (t Trigger) Name(name string) Trigger { t.name = name; return t }

// Client restricts the trigger to requests and watches of clients whose User-Agent begins with the prefix.
func (t Trigger) Client(prefix string) Trigger { t.client = prefix; return t }

// User restricts the trigger to requests and watches of one user.
func (t Trigger) User(name string) Trigger { t.user = name; return t }

// Replica restricts the trigger to one API server, counted from 1.
func (t Trigger) Replica(n int) Trigger { t.replica = n; return t }

// Event restricts the trigger to watch events of one type: ADDED, MODIFIED, DELETED or BOOKMARK.
func (t Trigger) Event(eventType string) Trigger { t.eventType = eventType; return t }

// Where restricts the trigger to objects that satisfy a condition. The object is the one in the body of a create or
// update, the object of an event or a commit, or otherwise the stored object. The conditions are:
//
//	metadata.deletionTimestamp              the field exists
//	!status.phase                           the field does not exist
//	spec.replicas=3                         the field has this value
//	metadata.labels[app.kubernetes.io/name]!=web   the field has another value or does not exist
//	spec.containers.0.image=nginx           a field of a list item
func (t Trigger) Where(condition string) Trigger {
	t.where = append(t.where[:len(t.where):len(t.where)], condition)
	return t
}

// Became restricts the trigger to changes after which the object satisfies a condition of Where and before which it did
// not: the write of a create, update, patch or delete, or the change between two events of a watch. The result of a
// patch or a delete is known only from the point RequestValidated on.
func (t Trigger) Became(condition string) Trigger {
	t.became = append(t.became[:len(t.became):len(t.became)], condition)
	return t
}

// Nth skips the matches before the n-th one and, without Every, also those after it. Requests are counted in the order
// in which they arrive, whether or not they reach the fault's point. With a condition (Where, Became), only requests
// that satisfy it at that point are counted. Events and commits are counted in order.
func (t Trigger) Nth(n int) Trigger { t.nth = n; return t }

// Every triggers at each n-th match, counted as for Nth.
func (t Trigger) Every(n int) Trigger { t.every = n; return t }

// Probability triggers with the probability p, drawn from the fault's own random stream.
func (t Trigger) Probability(p float64) Trigger { t.probability = p; return t }

// Times limits the number of occurrences to n.
func (t Trigger) Times(n int) Trigger { t.times = n; return t }

// Until ends the fault when d has passed on the cluster's clock since it was added.
func (t Trigger) Until(d time.Duration) Trigger { t.until = d; return t }

// At sets the point of Fail, Compact, Expire and actions on a replica. By default, a Fail is decided where the real
// server rejects a request for that reason; the other actions happen after the commit of a write and before a read is
// served.
func (t Trigger) At(p Point) Trigger { t.at = p; return t }

// Do returns a Fault with the given action.
func (t Trigger) Do(a Action) Fault { return Fault{t, a} }

// RetryAfter sets the Retry-After header of an error, in seconds.
func (f Fault) RetryAfter(seconds int) Fault { f.action.RetryAfter = seconds; return f }

// Action returns the action of the fault.
func (f Fault) Action() Action { return f.action }

// Point returns the point at which the fault is decided.
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

// only reports whether all verbs of the trigger are among the given verbs.
func (t Trigger) only(verbs ...string) bool {
	return !slices.ContainsFunc(strings.Split(t.verb, ","), func(verb string) bool { return !slices.Contains(verbs, verb) })
}

// late reports whether the trigger needs the resulting object, which is known early only for a create or update.
func (t Trigger) late() bool {
	return len(t.became) > 0 && slices.ContainsFunc(strings.Split(t.verb, ","), func(verb string) bool {
		return verb == "patch" || verb == "delete" || verb == "deletecollection" || verb == "*"
	})
}

// Level returns the level of the fault's effects, which depends on the action, its reason and the verbs of the trigger.
func (f Fault) Level() Level {
	if level := f.action.Kind.about().level; level != nil {
		return level(f)
	}
	return Legal
}

// Check returns an error if the fault can never occur.
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
