// This file has everything about one kind of fault: its row, the Trigger method that makes it, its level, the function that carries
// it out and how random plans draw it.

package fault

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/kubesim/kubesim/sim/trouble"
)

// The kinds of actions.
var (
	// Fail answers with an error, and does nothing else.
	Fail = Kind{&kind{name: "fail", form: withReason, level: failLevel, final: true, request: Request.Fail}}
	// Error answers with an error of any code, reason and message, and does nothing else.
	Error = Kind{&kind{name: "error", form: withStatus, level: errorLevel, final: true, request: Request.Fail}}
	// Answer answers with an object, and does nothing else.
	Answer = Kind{&kind{name: "answer", form: withObject, point: RequestArrived, level: always(Illegal), final: true, request: Request.Answer}}
	// CommitThenFail serves the request, then answers with an error in place of a success.
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
	// Delay delays an event and all events behind it.
	Delay = Kind{&kind{name: "delay", form: withWait, point: WatchSent, event: Event.Delay}}
	// Hold holds an event and all events behind it until Release.
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
	// Resume ends the trouble of a replica, or the lag of a controller.
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

// Answer answers with an object, which need not exist and has kind and apiVersion. The request is not served. It is not possible for a
// watch.
func (t Trigger) Answer(obj any) Fault {
	text, err := json.Marshal(obj)
	if err != nil {
		text = []byte(err.Error()) // which Check refuses
	}
	return t.Do(Action{Kind: Answer, Object: string(text)})
}

// CommitThenFail serves the request and, if that succeeded, answers with an error: the client does not know that it succeeded.
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

// Delay sends the event, and all events behind it in the stream, d later.
func (t Trigger) Delay(d time.Duration) Fault { return t.Do(Action{Kind: Delay, Wait: d}) }

// Hold keeps the event, and all events behind it in the stream, until they are released.
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

// StopController stops a controller. Its queue grows until StartController.
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

// SlowController makes a controller wait for d before each reconcile. 0 ends that.
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
	return Illegal // by the error the write was not done
}

// errorLevel returns the level of Error. Only errors of overload and of a cluster in trouble are possible in a correct cluster.
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
			return Illegal // nothing of the past was asked for
		}
	}
	return Legal
}

func always(l Level) func(Fault) Level { return func(Fault) Level { return l } }

// Cluster carries out actions on the store and the replicas.
type Cluster interface {
	Compact(Action)
	Expire(Action)
	Treat(Action) // does the action's Trouble to a replica or a controller
}

// Request is a request, or a commit, to which actions happen. Like Reply and Event it has a method for each action that is possible
// at its points, so that code which carries actions out does not compile until it has all of them.
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

// legal makes one fault of each Legal kind, for random plans.
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
