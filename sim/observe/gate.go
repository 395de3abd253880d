package observe

import (
	"slices"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// gate observes one watch. While a fault holds an event, all later events are queued behind it, because the stream is ordered.
//
//	cache ─▶ pass ─┬─ queue empty, no fault ─▶ the watch's queue ─▶ client
//	               └─ queue: [held] [later] [later] ─ release ─▶ decided again, one after the other
type gate struct {
	q           *request
	w           *watchcache.Watch
	queue       []waitingEvent
	waiting     bool
	undelivered []trace.Record // events in a stream that Servers.Hold delays; listeners are notified when it is released
}

type waitingEvent struct {
	notice watchcache.Notice
	frame  codec.Text
}

// pass reports whether the event may be sent now.
func (g *gate) pass(n watchcache.Notice, frame codec.Text) bool {
	if n.Type == watchcache.Error {
		g.sent(n)
		return true
	}
	if g.waiting {
		g.queue = append(g.queue, waitingEvent{n, frame})
		return false
	}
	if !g.q.h.faults.Empty() && !g.decide(n, frame) {
		return false
	}
	g.sent(n)
	return true
}

// decide applies the faults for an event. It returns false if the event must not be sent now.
func (g *gate) decide(n watchcache.Notice, frame codec.Text) bool {
	o := g.q.h.Observer
	op := g.op(n)
	x := &faultyEvent{gate: g, notice: n, frame: frame}
	for _, f := range o.faults.At(fault.WatchSent, op, o.Schedule.Now()) {
		o.note(f, op, g.q.e)
		if f.DoEvent(x); x.kept {
			return false
		}
	}
	return true
}

// faultyEvent implements fault.Event for an event to which faults apply.
type faultyEvent struct {
	*gate
	notice watchcache.Notice
	frame  codec.Text
	kept   bool // whether the event must not be sent now
}

// Drop implements fault.Event.
func (x *faultyEvent) Drop(fault.Action) { x.kept = true }

// Close implements fault.Event. It ends the watch.
func (x *faultyEvent) Close(fault.Action) {
	x.kept = true
	x.w.End()
}

// Stall implements fault.Event. The watch sends no more data.
func (x *faultyEvent) Stall(a fault.Action) {
	x.kept = true
	x.w.Stall()
	if a.Wait > 0 {
		x.q.h.Schedule.After(a.Wait, x.w.Break)
	}
}

// Hold implements fault.Event. It holds the event until Release is called.
func (x *faultyEvent) Hold(fault.Action) {
	x.kept = true
	x.wait(x.notice, x.frame)
	x.q.h.hold(x.gate)
}

// Delay implements fault.Event. It holds the event for the duration of the action.
func (x *faultyEvent) Delay(a fault.Action) {
	x.kept = true
	x.wait(x.notice, x.frame)
	x.q.h.Schedule.After(a.Wait, x.release)
}

// Compact implements fault.Cluster. Like Expire and Treat, it takes effect when the lock is released, because the caches that it
// changes are still processing the event.
func (x *faultyEvent) Compact(a fault.Action) { x.later(cluster.Compact, a) }

// Expire implements fault.Cluster.
func (x *faultyEvent) Expire(a fault.Action) { x.later(cluster.Expire, a) }

// Treat implements fault.Cluster.
func (x *faultyEvent) Treat(a fault.Action) { x.later(cluster.Treat, a) }

func (x *faultyEvent) later(do func(cluster, fault.Action), a fault.Action) {
	o := x.q.h.Observer
	o.afterwards(func() { do(cluster{o: o}, a) })
}

func (g *gate) op(n watchcache.Notice) *fault.Op {
	op := g.q.op()
	op.EventType, op.Name, op.Object, op.Old = n.Type, "", nil, nil
	if n.Item != nil {
		op.Namespace, op.Name, op.Object = n.Item.Namespace, n.Item.Name, n.Item.Object
		if n.Before != nil {
			op.Old = n.Before.Object
		}
	}
	return op
}

func (g *gate) wait(n watchcache.Notice, frame codec.Text) {
	g.waiting = true
	g.queue = append(g.queue, waitingEvent{n, frame})
}

// release sends the held event and the events queued behind it, up to the next event that a fault holds.
func (g *gate) release() {
	if !g.waiting {
		return
	}
	queue := g.queue
	g.waiting, g.queue = false, nil
	if g.w.Ended() {
		return
	}
	g.sent(queue[0].notice)
	g.w.Deliver(queue[0].frame)
	for _, x := range queue[1:] {
		if g.pass(x.notice, x.frame) {
			g.w.Deliver(x.frame)
		}
	}
}

// sent records in the trace that an event was sent, and notifies the listeners.
func (g *gate) sent(n watchcache.Notice) {
	r := g.q.record(trace.WatchSent)
	r.Verb, r.Rev = n.Type, n.Rev
	if n.Item != nil {
		r.Key, r.Rev = trace.Key(n.Item.Namespace, n.Item.Name), n.Item.Rev
	}
	if r.Rev == g.q.h.commit.rev && n.Type != watchcache.Bookmark {
		r.Cause = g.q.h.commit.record
	}
	g.q.h.add(&r)
	g.notifyDelivered(&r)
}

// hold adds a gate to the list that Release processes. It drops gates whose watches have ended.
func (o *Observer) hold(g *gate) {
	o.held = append(slices.DeleteFunc(o.held, func(x *gate) bool { return x == g || x.w.Ended() }), g)
}

// Release sends the watch events that faults are holding. The events queued behind them may be held by faults again.
func (o *Observer) Release() {
	held := o.held
	o.held = nil
	for _, g := range held {
		g.release()
	}
}
