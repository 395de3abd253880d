package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/scenario/actor"
	"github.com/kubesim/kubesim/sim/trouble"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// watchCommands end watches.
var watchCommands = []Command{
	{Name: "close", Usage: "N|WATCH", Help: "let the server end the watches of a replica, or one watch", Example: "close w",
		Group: Worldly, Args: []Arg{WatchOrReplica}, needs: 1, run: func(w *World, op *Op) error {
			if x := w.watchNamed(op.Args[0]); x != nil {
				w.end(x.exchange.Replica, x.stream)
				return nil
			}
			return applyTrouble(trouble.Close)(w, op)
		}},
	{Name: "stop", Usage: "WATCH|CONTROLLER | --as CLIENT",
		Help: "let the client end a watch, or its oldest one, or stop a controller of the control plane", Example: "stop w",
		Group: Worldly, Flags: []string{"as"}, Args: []Arg{WatchOrController}, check: checkStop, run: func(w *World, op *Op) error {
			if len(op.Args) == 0 {
				w.stopOldest(w.client(op.value("as")), 0)
				return nil
			}
			if w.watchNamed(op.Args[0]) == nil {
				if known, err := w.controls(trouble.Stop, op); known {
					return err
				}
			}
			return w.stopNamed(op.Args[0])
		}},
}

func checkStop(op *Op, at int) error {
	if len(op.Args) == 1 == op.has("as") {
		return wrong(at+1, "stop ends one watch: stop WATCH, or the oldest one of a client: stop --as CLIENT")
	}
	return nil
}

// Event is one event, as the client of a watch received it.
type Event struct {
	Frame  uint64 // the N of its frame
	Type   string
	Object object.Object // nil if the event was not sent as JSON
	Bytes  []byte        // as received
}

// watch is the client's side of a watch.
type watch struct {
	name     string
	exchange *Exchange
	call     *call
	stream   *watchcache.Watch
	events   []Event
	rv       string // the resourceVersion of the last event
	state    string // description of how the watch ended; empty while it is open
}

// open begins to read the events of a watch response.
func (w *World) open(c *call) {
	name := c.watchName
	if old := w.watchNamed(name); old != nil && old.state != "" && c.sink != nil { // the name belongs to the previous watch of the same actor
		w.watches = slices.DeleteFunc(w.watches, func(x *watch) bool { return x == old })
	}
	if name == "" || w.watchNamed(name) != nil {
		name = w.freeName()
	}
	x := &watch{name: name, exchange: c.exchange, call: c, stream: c.answer.Watch,
		rv: c.query.Get("resourceVersion")}
	c.exchange.Watch = name
	w.watches = append(w.watches, x)
}

// stopOldest ends a client's oldest open watch if the client has more than most of them.
func (w *World) stopOldest(c *client, most int) {
	var oldest *watch
	open := 0
	for _, x := range w.watches {
		if x.state == "" && x.call.client == c {
			if open++; oldest == nil {
				oldest = x
			}
		}
	}
	if open > most {
		w.stop(oldest)
	}
}

// makeRoom handles pending responses, and ends the client's oldest watch if it has more watches than the call allows.
func (w *World) makeRoom(c *call) {
	if c.atMost == 0 {
		return
	}
	for w.answers() {
	}
	w.stopOldest(c.client, c.atMost)
}

// watchNamed returns the watch with the given name, or nil.
func (w *World) watchNamed(name string) *watch {
	for _, x := range w.watches {
		if x.name == name {
			return x
		}
	}
	return nil
}

// freeName returns an unused watch name, such as w3. It does not try lower numbers again.
func (w *World) freeName() string {
	for ; ; w.numbered++ {
		if name := "w" + strconv.Itoa(w.numbered+1); w.watchNamed(name) == nil {
			return name
		}
	}
}

// drain handles the events in the queues of all watches. It reports whether there were any.
func (w *World) drain() bool {
	some := false
	for i := 0; i < len(w.watches); i++ {
		x := w.watches[i]
		if x.state != "" {
			continue
		}
		select {
		case <-x.stream.Ready():
			some = true
			w.take(x)
		default:
		}
	}
	return some
}

// take handles the events in the queue of one watch.
func (w *World) take(x *watch) {
	lock := w.cluster.Server(x.exchange.Replica).Lock
	lock.Lock()
	frames, ended := x.stream.Take()
	broken := x.stream.Broken() != nil
	lock.Unlock()
	w.observe()
	for _, text := range frames {
		frame := text.Bytes()
		if w.options.Tap == nil {
			w.event(x, frame)
			continue
		}
		for _, f := range w.options.Tap.Event(x.call.op, frame) {
			w.event(x, f)
		}
	}
	if ended && x.state == "" {
		w.finish(x, broken)
	}
}

// event handles one event.
func (w *World) event(x *watch, frame []byte) {
	if x.state != "" { // the client has already ended the watch
		return
	}
	e := Event{Bytes: frame}
	obj := w.read(frame)
	if obj != nil {
		e.Type = obj.String("type")
		e.Object = obj.Map("object")
	}
	x.call.rememberEvent(&e)
	if x.call.note != nil {
		x.call.note.event(w.op, frame, obj)
	}
	if w.options.Quiet {
		x.hears(frame)
		return
	}
	f := Frame{Kind: WatchEvent, Lane: "watch/" + x.name, Object: frame, Replica: x.exchange.Replica}
	f.Verb = e.Type
	w.describe(x, &f, e.Object)
	if f.Cause = w.commits[f.RV]; f.Cause == 0 || e.Type == watchcache.Bookmark || e.Type == watchcache.Error {
		f.Cause = x.exchange.N
	}
	e.Frame = w.add(f)
	x.events = append(x.events, e)
	if r := x.call.sink; r != nil {
		w.following(e.Frame, func() { r.Event(e.Type, e.Object) })
		return
	}
	if x.hears(frame) {
		return
	}
	w.say("%s ◀ %s", x.name, f.Text)
}

// describe fills in the fields of a frame for an event.
func (w *World) describe(x *watch, f *Frame, obj object.Object) {
	switch {
	case obj == nil:
		f.Text = fmt.Sprintf("an event of %d bytes", len(f.Object))
		return
	case f.Verb == watchcache.Error:
		f.Code, f.Reason = statusCode(obj), obj.String("reason")
		f.Text = fmt.Sprintf("ERROR %d %s: %s", f.Code, f.Reason, obj.String("message"))
		return
	}
	if obj.Kind() == "Table" {
		obj = tableObject(obj)
	}
	rv := obj.ResourceVersion()
	if n, err := strconv.ParseUint(rv, 10, 64); err == nil {
		f.RV = n
		x.rv = rv
	}
	if f.Verb == watchcache.Bookmark {
		f.Kind = WatchBookmark
		f.Text = "BOOKMARK rv " + rv
		if obj.Annotations()["k8s.io/initial-events-end"] == "true" {
			f.Text += ", end of the initial events"
		}
		return
	}
	f.Ref = strings.ToLower(obj.Kind()) + " " + actor.Key(obj.Namespace(), obj.Name())
	if d := x.call.def; d != nil {
		f.Ref = actor.Ref(d, obj.Namespace(), obj.Name())
	}
	f.Text = fmt.Sprintf("%s %s rv %s%s", f.Verb, actor.ShortRef(f.Ref), rv, actor.Terminating(obj))
}

// tableObject returns the object in a Table's only row, or the Table itself if it has no rows.
func tableObject(table object.Object) object.Object {
	if rows := table.Objects("rows"); len(rows) > 0 {
		return rows[0].Map("object")
	}
	return table
}

func statusCode(obj object.Object) int { return int(obj.Int64("code")) }

// finish records that a watch has ended. broken reports that the connection broke.
func (w *World) finish(x *watch, broken bool) {
	x.state = "ended by the server"
	if broken {
		x.state = "the connection broke"
	}
	x.call.note.ended()
	n := w.add(Frame{Kind: WatchClose, Lane: "watch/" + x.name, Cause: w.because, Text: x.state, Replica: x.exchange.Replica})
	if r := x.call.sink; r != nil {
		w.following(n, func() { r.Closed(openWatch{w, x}) })
		return
	}
	if x.call.silent {
		return
	}
	w.say("%s is over: %s", x.name, x.state)
}

// stop ends a watch from the client's side.
func (w *World) stop(x *watch) {
	if x.state != "" {
		return
	}
	x.state = "stopped by its client"
	x.call.note.ended()
	w.end(x.exchange.Replica, x.stream)
	w.add(Frame{Kind: WatchClose, Lane: "watch/" + x.name, Text: x.state, Replica: x.exchange.Replica})
}

// WatchState is the state of a watch.
type WatchState struct {
	Name     string
	Client   string
	Replica  int
	Resource string // such as deployments.apps; empty if unknown
	RV       string // the resourceVersion of its last event
	Events   int
	Open     bool
	State    string    // description of how the watch ended; empty while it is open
	Exchange *Exchange // the request that started it
}

// Watches returns all watches, oldest first.
func (w *World) Watches() []WatchState {
	out := make([]WatchState, len(w.watches))
	for i, x := range w.watches {
		out[i] = WatchState{Name: x.name, Client: x.exchange.Client, Replica: x.exchange.Replica, RV: x.rv,
			Events: len(x.events), Open: x.state == "", State: x.state, Exchange: x.exchange}
		if x.call.def != nil {
			out[i].Resource = x.call.def.GroupResource().String()
		}
	}
	return out
}

// Events returns the events that a watch has received, or nil if there is no such watch.
func (w *World) Events(name string) []Event {
	if x := w.watchNamed(name); x != nil {
		return x.events
	}
	return nil
}

// stopNamed ends the watch with the given name from the client's side.
func (w *World) stopNamed(name string) error {
	x := w.watchNamed(name)
	if x == nil {
		var names []string
		for _, x := range w.watches {
			names = append(names, x.name)
		}
		return unknown("watch", name, names, "")
	}
	w.stop(x)
	return nil
}

// hears passes an event to the callback of the watch's request, and returns false if there is none.
func (x *watch) hears(frame []byte) bool {
	if x.call.onFrame == nil {
		return false
	}
	x.call.onFrame(frame)
	return true
}
