package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Trigger says when a fault happens, and how often. Its methods return a changed copy, and those named for an action
// return the Fault.
type Trigger struct {
	verb, resource          string
	namespace, name         string
	client, user, eventType string
	replica                 int
	where, became           []string // conditions on the object
	nth, every              int
	probability             float64
	times                   int // 0: for ever
	until                   time.Duration
	at                      Point
}

// Fault is one thing that goes wrong.
type Fault struct {
	trigger Trigger
	action  Action
}

// verbs are what a trigger can ask for, besides "*".
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "post", "put"}

var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK"}

var writes = []string{"create", "update", "patch", "delete", "deletecollection"}

// overloaded are the errors that a server answers with before it looks at what is asked.
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

// Where triggers when the object meets a condition: the one in the body of a create or update, the one of an event or a
// commit, otherwise the one that is stored. Conditions:
//
//	metadata.deletionTimestamp              the field is there
//	!status.phase                           it is not
//	spec.replicas=3                         it has the value
//	metadata.labels[app.kubernetes.io/name]!=web   it has another value, or is not there
//	spec.containers.0.image=nginx           an item of a list
func (t Trigger) Where(condition string) Trigger {
	t.where = append(t.where[:len(t.where):len(t.where)], condition)
	return t
}

// Became triggers when the object meets a condition of Where and did not before: after the write of a create, update,
// patch or delete, whatever it was before for the watch of an event. What a patch or a delete makes of an object is known
// from the point RequestValidated on.
func (t Trigger) Became(condition string) Trigger {
	t.became = append(t.became[:len(t.became):len(t.became)], condition)
	return t
}

// Nth lets pass what matches before the n-th time, and with no Every also what matches after it. Requests are counted in the order in
// which they arrive, whether or not each of them gets as far as the fault's point; with a condition (Where, Became), those that meet it
// at that point are counted. Events and commits are counted as they come.
func (t Trigger) Nth(n int) Trigger { t.nth = n; return t }

// Every triggers each n-th time, counted as for Nth.
func (t Trigger) Every(n int) Trigger { t.every = n; return t }

// Probability triggers with the probability p, drawn from a stream of the fault's own.
func (t Trigger) Probability(p float64) Trigger { t.probability = p; return t }

// Times ends the fault after n times.
func (t Trigger) Times(n int) Trigger { t.times = n; return t }

// Until ends the fault when it has been there for d of the cluster's time.
func (t Trigger) Until(d time.Duration) Trigger { t.until = d; return t }

// At says where Fail, Compact, Expire and what is done to a replica happens. Without it a Fail is decided where the real
// server refuses a request for that reason; the others happen when a write was committed and before a read is served.
func (t Trigger) At(p Point) Trigger { t.at = p; return t }

// Do makes the Fault of any action.
func (t Trigger) Do(a Action) Fault { return Fault{t, a} }

func (t Trigger) fail(r Reason) Fault { return t.Do(Action{Kind: Fail, Reason: r}) }

// Conflict answers 409: the object has been modified.
func (t Trigger) Conflict() Fault { return t.fail(Conflict) }

// NotFound answers 404.
func (t Trigger) NotFound() Fault { return t.fail(NotFound) }

// Expired answers 410; to a watch as an ERROR event, as the real server does.
func (t Trigger) Expired() Fault { return t.fail(Expired) }

// Gone answers 410 as an HTTP status, to a watch too.
func (t Trigger) Gone() Fault { return t.fail(Gone) }

// TooManyRequests answers 429 with a Retry-After of one second.
func (t Trigger) TooManyRequests() Fault { return t.fail(TooManyRequests).RetryAfter(1) }

// Internal answers 500.
func (t Trigger) Internal() Fault { return t.fail(Internal) }

// Unavailable answers 503.
func (t Trigger) Unavailable() Fault { return t.fail(Unavailable) }

// Timeout answers 504, at once.
func (t Trigger) Timeout() Fault { return t.fail(Timeout) }

// Error answers with any error, as a reactor of client-go's fake would: Error(403, "Forbidden", "not today").
func (t Trigger) Error(code int, reason Reason, message string) Fault {
	return t.Do(Action{Kind: Error, Code: code, Reason: reason, Message: message})
}

// Answer answers with an object, which need not exist, with kind and apiVersion; what was asked is not done. A watch has no such
// answer.
func (t Trigger) Answer(obj any) Fault {
	text, err := json.Marshal(obj)
	if err != nil {
		text = []byte(err.Error()) // which Check refuses
	}
	return t.Do(Action{Kind: Answer, Object: string(text)})
}

// CommitThenFail does what was asked and, if that succeeded, answers with an error: the client cannot know.
func (t Trigger) CommitThenFail(r Reason) Fault { return t.Do(Action{Kind: CommitThenFail, Reason: r}) }

// DelayRequest serves the request d later.
func (t Trigger) DelayRequest(d time.Duration) Fault {
	return t.Do(Action{Kind: DelayRequest, Wait: d})
}

// DelayAnswer serves the request at once and answers d later.
func (t Trigger) DelayAnswer(d time.Duration) Fault { return t.Do(Action{Kind: DelayAnswer, Wait: d}) }

// Truncate breaks the connection after n bytes of the answer's body.
func (t Trigger) Truncate(n int) Fault { return t.Do(Action{Kind: Truncate, Bytes: n}) }

// Drop loses the event.
func (t Trigger) Drop() Fault { return t.Do(Action{Kind: Drop}) }

// Delay sends the event, and what is behind it in the stream, d later.
func (t Trigger) Delay(d time.Duration) Fault { return t.Do(Action{Kind: Delay, Wait: d}) }

// Hold keeps the event, and what is behind it in the stream, until it is released.
func (t Trigger) Hold() Fault { return t.Do(Action{Kind: Hold}) }

// Close ends the stream before the event.
func (t Trigger) Close() Fault { return t.Do(Action{Kind: Close}) }

// Stall leaves the stream open for ever and sends nothing, from the event on.
func (t Trigger) Stall() Fault { return t.Do(Action{Kind: Stall}) }

// StallFor is Stall of a connection that breaks after d: a client that sends pings notices (client-go after 45 s).
func (t Trigger) StallFor(d time.Duration) Fault { return t.Do(Action{Kind: Stall, Wait: d}) }

// Compact makes the store forget all revisions before now.
func (t Trigger) Compact() Fault { return t.Do(Action{Kind: Compact}) }

// Expire makes the store and every watch cache forget.
func (t Trigger) Expire() Fault { return t.Do(Action{Kind: Expire}) }

// Lag stops a replica from applying commits to a resource; "" stops all.
func (t Trigger) Lag(replica int, resource string) Fault {
	return t.Do(Action{Kind: Lag, Replica: replica, Resource: resource})
}

// Cut takes the store out of a replica's reach.
func (t Trigger) Cut(replica int) Fault { return t.Do(Action{Kind: Cut, Replica: replica}) }

// Resume ends Lag and Cut of a replica.
func (t Trigger) Resume(replica int) Fault { return t.Do(Action{Kind: Resume, Replica: replica}) }

// Restart restarts a replica.
func (t Trigger) Restart(replica int) Fault { return t.Do(Action{Kind: Restart, Replica: replica}) }

// LagController lets the informers of a controller stand still, that of a resource or all ("").
func (t Trigger) LagController(name, resource string) Fault {
	return t.Do(Action{Kind: Lag, Controller: name, Resource: resource})
}

// ResumeController ends LagController.
func (t Trigger) ResumeController(name string) Fault {
	return t.Do(Action{Kind: Resume, Controller: name})
}

// StopController stops a controller: what it is told of waits for StartController.
func (t Trigger) StopController(name string) Fault { return t.Do(Action{Kind: Stop, Controller: name}) }

// CrashController stops a controller, which forgets everything.
func (t Trigger) CrashController(name string) Fault {
	return t.Do(Action{Kind: Crash, Controller: name})
}

// StartController starts a controller that was stopped or has crashed.
func (t Trigger) StartController(name string) Fault {
	return t.Do(Action{Kind: Start, Controller: name})
}

// RestartController is CrashController and StartController.
func (t Trigger) RestartController(name string) Fault {
	return t.Do(Action{Kind: Restart, Controller: name})
}

// SlowController lets a controller wait for d before it does what it is told of. 0: no longer.
func (t Trigger) SlowController(name string, d time.Duration) Fault {
	return t.Do(Action{Kind: Slow, Controller: name, Wait: d})
}

// RetryAfter sets the seconds after which an error tells its client to try again.
func (f Fault) RetryAfter(seconds int) Fault { f.action.RetryAfter = seconds; return f }

// Action returns what the fault does.
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

// late reports whether the trigger asks for what becomes of an object, which is known early of a create or update only.
func (t Trigger) late() bool {
	return len(t.became) > 0 && slices.ContainsFunc(strings.Split(t.verb, ","), func(verb string) bool {
		return verb == "patch" || verb == "delete" || verb == "deletecollection" || verb == "*"
	})
}

// Level says whether a correct cluster may do what the fault does.
func (f Fault) Level() Level {
	if level := f.action.Kind.about().level; level != nil {
		return level(f)
	}
	return Legal
}

// lateLevel is that of CommitThenFail.
func lateLevel(f Fault) Level {
	switch f.action.Reason {
	case Timeout:
		return Legal
	case Internal, Unavailable:
		return Degraded
	}
	return Illegal // the error says that nothing was done
}

// errorLevel is that of Error: nobody knows what it stands for, unless it is one of overload or trouble.
func errorLevel(f Fault) Level {
	switch {
	case f.action.Code == 409 || f.action.Code == 429 || f.action.Code == 503 || f.action.Code == 504:
		return Legal
	case f.action.Code >= 500:
		return Degraded
	}
	return Illegal
}

// failLevel is that of Fail.
func failLevel(f Fault) Level {
	switch f.action.Reason {
	case NotFound:
		return Illegal
	case Internal:
		return Degraded
	case Expired, Gone:
		if !f.trigger.only("list", "watch") {
			return Illegal // nothing of the past was asked for
		}
	}
	return Legal
}

// Check reports what is wrong with a fault that can never happen.
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
		return fmt.Errorf("at %s nobody knows what a %s will make of an object: became needs at=request.validated or a later point", point, t.verb)
	case point == WatchSent && t.verb != "watch" && t.verb != "*":
		return fmt.Errorf("%s is for events of watches: its verb is watch, not %s", f.action.Kind, t.verb)
	case t.eventType != "" && point != WatchSent:
		return fmt.Errorf("%s does not happen to events: event=%s has no meaning", f.action.Kind, t.eventType)
	}
	return nil
}
