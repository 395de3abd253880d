// This file contains everything about each kind of fault: its properties, the Trigger method that creates it, its
// level, the function that carries it out, and how random plans draw it.

package fault

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/kubesim/kubesim/sim/trouble"
)

// The kinds of actions.
var (
	// Fail responds with an error and does not serve the request.
	Fail = Kind{&kind{name: "fail", form: withReason, level: failLevel, final: true, request: Request.Fail}}
	// Error responds with an error of any code, reason and message, and does not serve the request.
	Error = Kind{&kind{name: "error", form: withStatus, level: errorLevel, final: true, request: Request.Fail}}
	// Answer responds with an object and does not serve the request.
	Answer = Kind{&kind{name: "answer", form: withObject, point: RequestArrived, level: always(Illegal), final: true, request: Request.Answer}}
	// CommitThenFail serves the request, and then responds with an error instead of a success.
	CommitThenFail = Kind{&kind{name: "commit-then-fail", form: withReason, point: RequestAnswered, level: lateLevel, final: true,
		fits: func(op *Op) bool { return !op.Failed && !op.Stream }, answer: Reply.Fail}}
	// DelayRequest serves the request later.
	DelayRequest = Kind{&kind{name: "delay-request", form: withWait, point: RequestArrived, request: Request.Delay}}
	// DelayAnswer serves the request at once and sends the response later.
	DelayAnswer = Kind{&kind{name: "delay-answer", form: withWait, point: RequestAnswered, answer: Reply.Delay}}
	// Truncate breaks the connection after some bytes of the body. It is not possible for a watch.
	Truncate = Kind{&kind{name: "truncate", form: withBytes, point: RequestAnswered, final: true,
		fits: func(op *Op) bool { return !op.Stream }, answer: Reply.Truncate}}

	// Drop loses an event.
	Drop = Kind{&kind{name: "drop", point: WatchSent, level: always(Illegal), final: true, event: Event.Drop}}
	// Delay delays an event and all events after it.
	Delay = Kind{&kind{name: "delay", form: withWait, point: WatchSent, event: Event.Delay}}
	// Hold holds an event and all events after it until Release.
	Hold = Kind{&kind{name: "hold", point: WatchSent, final: true, event: Event.Hold}}
	// Close ends the stream before the event.
	Close = Kind{&kind{name: "close", point: WatchSent, final: true, event: Event.Close}}
	// Stall keeps the stream open but sends nothing more.
	Stall = Kind{&kind{name: "stall", form: mayWait, point: WatchSent, final: true, event: Event.Stall}}

	// Compact compacts the store up to the current revision.
	Compact = Kind{&kind{name: "compact", cluster: Cluster.Compact}}
	// Expire removes the history of the store and of every watch cache.
	Expire = Kind{&kind{name: "expire", cluster: Cluster.Expire}}
	// Lag stops a replica from applying commits, or a controller's informers from receiving events.
	Lag = Kind{&kind{name: trouble.Lag.Name, trouble: trouble.Lag, cluster: Cluster.Treat}}
	// Cut disconnects a replica from the store.
	Cut = Kind{&kind{name: trouble.Cut.Name, trouble: trouble.Cut, level: always(Degraded), cluster: Cluster.Treat}}
	// Resume ends the disturbances of a replica, or the lag of a controller.
	Resume = Kind{&kind{name: trouble.Resume.Name, trouble: trouble.Resume, cluster: Cluster.Treat}}
	// Restart restarts a replica or a controller.
	Restart = Kind{&kind{name: trouble.Restart.Name, trouble: trouble.Restart, cluster: Cluster.Treat}}
	// Stop stops a controller.
	Stop = Kind{&kind{name: trouble.Stop.Name, trouble: trouble.Stop, cluster: Cluster.Treat}}
	// Crash stops a controller, which loses its state.
	Crash = Kind{&kind{name: trouble.Crash.Name, trouble: trouble.Crash, cluster: Cluster.Treat}}
	// Start starts a controller that was stopped or has crashed.
	Start = Kind{&kind{name: trouble.Start.Name, trouble: trouble.Start, cluster: Cluster.Treat}}
	// Slow delays each reconcile of a controller.
	Slow = Kind{&kind{name: trouble.Slow.Name, trouble: trouble.Slow, cluster: Cluster.Treat}}
)

var kinds = []Kind{Fail, Error, Answer, CommitThenFail, DelayRequest, DelayAnswer, Truncate, Drop, Delay, Hold, Close, Stall, Compact, Expire,
	Lag, Cut, Resume, Restart, Stop, Crash, Start, Slow}

func (t Trigger) fail(r Reason) Fault { return t.Do(Action{Kind: Fail, Reason: r}) }

// Conflict responds with 409: the object has been modified.
func (t Trigger) Conflict() Fault { return t.fail(Conflict) }

// NotFound responds with 404.
func (t Trigger) NotFound() Fault { return t.fail(NotFound) }

// Expired responds with 410. A watch receives it as an ERROR event, as from a real server.
func (t Trigger) Expired() Fault { return t.fail(Expired) }

// Gone responds with 410 as an HTTP status, even to a watch.
func (t Trigger) Gone() Fault { return t.fail(Gone) }

// TooManyRequests responds with 429 and a Retry-After of one second.
func (t Trigger) TooManyRequests() Fault { return t.fail(TooManyRequests).RetryAfter(1) }

// Internal responds with 500.
func (t Trigger) Internal() Fault { return t.fail(Internal) }

// Unavailable responds with 503.
func (t Trigger) Unavailable() Fault { return t.fail(Unavailable) }

// Timeout responds with 504, without a delay.
func (t Trigger) Timeout() Fault { return t.fail(Timeout) }

// Error responds with any error, like a reactor of client-go's fake clientset: Error(403, "Forbidden", "not today").
func (t Trigger) Error(code int, reason Reason, message string) Fault {
	return t.Do(Action{Kind: Error, Code: code, Reason: reason, Message: message})
}

// Answer responds with an object without serving the request. The object must have kind and apiVersion, but need not
// exist. Answer is not possible for a watch.
func (t Trigger) Answer(obj any) Fault {
	text, err := json.Marshal(obj)
	if err != nil {
		text = []byte(err.Error()) // Check rejects this text
	}
	return t.Do(Action{Kind: Answer, Object: string(text)})
}

// CommitThenFail serves the request and, if that succeeds, responds with an error, so that the client does not know
// that it succeeded.
func (t Trigger) CommitThenFail(r Reason) Fault { return t.Do(Action{Kind: CommitThenFail, Reason: r}) }

// DelayRequest serves the request after d.
func (t Trigger) DelayRequest(d time.Duration) Fault {
	return t.Do(Action{Kind: DelayRequest, Wait: d})
}

// DelayAnswer serves the request at once and sends the response after d.
func (t Trigger) DelayAnswer(d time.Duration) Fault { return t.Do(Action{Kind: DelayAnswer, Wait: d}) }

// Truncate breaks the connection after n bytes of the response body.
func (t Trigger) Truncate(n int) Fault { return t.Do(Action{Kind: Truncate, Bytes: n}) }

// Drop discards the event instead of sending it.
func (t Trigger) Drop() Fault { return t.Do(Action{Kind: Drop}) }

// Delay delays the event, and all events after it in the stream, by d.
func (t Trigger) Delay(d time.Duration) Fault { return t.Do(Action{Kind: Delay, Wait: d}) }

// Hold holds the event, and all events after it in the stream, until they are released.
func (t Trigger) Hold() Fault { return t.Do(Action{Kind: Hold}) }

// Close ends the stream before the event.
func (t Trigger) Close() Fault { return t.Do(Action{Kind: Close}) }

// Stall keeps the stream open forever, but sends nothing from the event on.
func (t Trigger) Stall() Fault { return t.Do(Action{Kind: Stall}) }

// StallFor is like Stall, but the connection breaks after d, when a client that sends pings notices (client-go after 45
// s).
func (t Trigger) StallFor(d time.Duration) Fault { return t.Do(Action{Kind: Stall, Wait: d}) }

// Compact compacts the store up to the current revision.
func (t Trigger) Compact() Fault { return t.Do(Action{Kind: Compact}) }

// Expire removes the history of the store and of every watch cache.
func (t Trigger) Expire() Fault { return t.Do(Action{Kind: Expire}) }

// Lag stops a replica from applying commits to a resource, or to all resources if resource is "".
func (t Trigger) Lag(replica int, resource string) Fault {
	return t.Do(Action{Kind: Lag, Replica: replica, Resource: resource})
}

// Cut disconnects a replica from the store.
func (t Trigger) Cut(replica int) Fault { return t.Do(Action{Kind: Cut, Replica: replica}) }

// Resume ends Lag and Cut of a replica.
func (t Trigger) Resume(replica int) Fault { return t.Do(Action{Kind: Resume, Replica: replica}) }

// Restart restarts a replica.
func (t Trigger) Restart(replica int) Fault { return t.Do(Action{Kind: Restart, Replica: replica}) }

// LagController stops the informer of a controller for a resource, or all its informers if resource is "".
func (t Trigger) LagController(name, resource string) Fault {
	return t.Do(Action{Kind: Lag, Controller: name, Resource: resource})
}

// ResumeController ends LagController.
func (t Trigger) ResumeController(name string) Fault {
	return t.Do(Action{Kind: Resume, Controller: name})
}

// StopController stops a controller. Its queue grows until StartController.
func (t Trigger) StopController(name string) Fault { return t.Do(Action{Kind: Stop, Controller: name}) }

// CrashController stops a controller, which loses its state.
func (t Trigger) CrashController(name string) Fault {
	return t.Do(Action{Kind: Crash, Controller: name})
}

// StartController starts a controller that was stopped or has crashed.
func (t Trigger) StartController(name string) Fault {
	return t.Do(Action{Kind: Start, Controller: name})
}

// RestartController is CrashController followed by StartController.
func (t Trigger) RestartController(name string) Fault {
	return t.Do(Action{Kind: Restart, Controller: name})
}

// SlowController delays each reconcile of a controller by d. 0 ends the delay.
func (t Trigger) SlowController(name string, d time.Duration) Fault {
	return t.Do(Action{Kind: Slow, Controller: name, Wait: d})
}

// lateLevel returns the level of CommitThenFail.
func lateLevel(f Fault) Level {
	switch f.action.Reason {
	case Timeout:
		return Legal
	case Internal, Unavailable:
		return Degraded
	}
	return Illegal // the error means that the write was not done
}

// errorLevel returns the level of Error. In a correct cluster, only errors of overload and of a cluster with problems
// are possible.
func errorLevel(f Fault) Level {
	switch {
	case f.action.Code == 409 || f.action.Code == 429 || f.action.Code == 503 || f.action.Code == 504:
		return Legal
	case f.action.Code >= 500:
		return Degraded
	}
	return Illegal
}

// failLevel returns the level of Fail.
func failLevel(f Fault) Level {
	switch f.action.Reason {
	case NotFound:
		return Illegal
	case Internal:
		return Degraded
	case Expired, Gone:
		if !f.trigger.only("list", "watch") {
			return Illegal // the request does not ask for a past revision
		}
	}
	return Legal
}

func always(l Level) func(Fault) Level { return func(Fault) Level { return l } }

// Cluster carries out actions on the store, the replicas and the controllers.
type Cluster interface {
	Compact(Action)
	Expire(Action)
	Treat(Action) // applies the action's Trouble to a replica or a controller
}

// Request is a request or a commit on which actions are carried out. Like Reply and Event, it has one method for each
// possible action, so that an implementation does not compile if it lacks one.
type Request interface {
	Cluster
	Fail(Action)
	Answer(Action)
	Delay(Action)
}

// Reply is a complete response on which actions are carried out.
type Reply interface {
	Cluster
	Fail(Action)
	Delay(Action)
	Truncate(Action)
}

// Event is a watch event that has not been sent yet, on which actions are carried out.
type Event interface {
	Cluster
	Drop(Action)
	Delay(Action)
	Hold(Action)
	Close(Action)
	Stall(Action)
}

// legal draws faults of the Legal kinds, for random plans.
var legal = []maker{
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("update,patch", on), r).Conflict()} },
	func(r *rand.Rand, on string) Plan {
		return Plan{scoped(On("*", on), r).TooManyRequests().RetryAfter(1 + r.IntN(5))}
	},
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("*", on), r).Unavailable().RetryAfter(1)} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On(anyWrite, on), r).Timeout()} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("watch", on), r).Expired()} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On(anyWrite, on), r).CommitThenFail(Timeout)} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("*", on), r).DelayRequest(seconds(r))} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("*", on), r).DelayAnswer(seconds(r))} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("get,list", on), r).Truncate(r.IntN(200))} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("watch", on), r).Delay(seconds(r))} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("watch", on), r).Close()} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On(anyWrite, on), r).Compact()} },
	func(r *rand.Rand, on string) Plan { return Plan{scoped(On("list", on), r).Expire()} },
}
