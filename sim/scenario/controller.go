package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// controller is a client that acts on what its informers show, by rules:
//
//	informers ─ event ─▶ queue of objects ─▶ the next one, as the cache shows it ─▶ rule after rule: when? ─▶ its requests
//	   ▲                     ▲   └── again after a back-off, when a request fails ◀────────────────────────────┘    │
//	   └─────────────────────┴───────────────────────────────── what they change comes back as events ◀────────────┘
//
// It sends one request each step, and waits for its answer. Between two steps it may crash.
type controller struct {
	name   string
	client *client
	rules  *Rules
	caches []*reflector // in the order of Rules.Watch

	queue  []queued
	job    *job
	call   *call
	fails  map[item]int // how often in a row its requests have failed
	sleeps int          // objects that wait for their back-off
	life   int
	down   bool
	again  bool // the last request has failed
}

// item is an object that is to be looked at.
type item struct{ resource, key string }

// queued is an item and the frame that led to it.
type queued struct {
	item
	cause uint64
}

// job is what is being done for an item.
type job struct {
	queued
	rule  int // the next rule to look at
	rest  []work
	calls []*call // made and not yet sent
}

// work is a request to send.
type work struct {
	line string
	obj  object.Object
	i    int // of a range
}

// The back-off after a request that failed (client-go's rate limiter).
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 1000 * time.Second
)

func newController(w *World, op *Op) (actor, error) {
	name, file := op.Args[0], op.value("filename")
	text, err := w.file(file)
	if err != nil {
		return nil, err
	}
	c, err := w.controllerOf(name, text, op)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

// controllerOf returns a controller with the rules of a text.
func (w *World) controllerOf(name, text string, op *Op) (*controller, error) {
	rules, err := ParseRules(text)
	if err != nil {
		return nil, err
	}
	c := &controller{name: name, client: w.client(name), rules: rules}
	for _, res := range rules.Watch {
		d, err := w.known(res)
		if err != nil {
			return nil, err
		}
		lane := name + "." + d.Resource
		r := w.newReflector(name, res, lane, op)
		r.changed = func(w *World, obj object.Object) { c.changed(w, d, obj) }
		c.caches = append(c.caches, r)
	}
	return c, nil
}

func (c *controller) able(w *World) error {
	for _, r := range c.caches {
		if err := r.able(w); err != nil {
			return err
		}
	}
	return nil
}

func (c *controller) start(w *World) {
	c.life++
	c.queue, c.job, c.fails, c.sleeps, c.down, c.again = nil, nil, map[item]int{}, 0, false, false
	for _, r := range c.caches {
		r.start(w)
	}
	if c.rules.Resync > 0 {
		c.resync(w, c.life)
	}
}

// resync looks at everything anew, now and then.
func (c *controller) resync(w *World, life int) {
	w.after(c.rules.Resync, func() {
		if life == c.life {
			c.enqueueAll("", "", 0)
			c.resync(w, life)
		}
	})
}

func (c *controller) crash(w *World) {
	c.life++
	c.down = true
	if c.call != nil {
		c.call.gone = true
	}
	c.call, c.job, c.queue, c.sleeps, c.again = nil, nil, nil, 0, false
	for _, r := range c.caches {
		r.stop(w)
	}
}

// changed puts into the queue what an event is about: the object, and all objects in its namespace that rules look at
// with this resource in view.
func (c *controller) changed(w *World, d *resource.Definition, obj object.Object) {
	for _, rule := range c.rules.Rules {
		if r := c.cacheFor(rule.For); r != nil && r.def.Storage == d.Storage {
			c.enqueue(item{rule.For, key(obj.Namespace(), obj.Name())}, w.because)
		}
	}
	c.enqueueAll(d.Storage, obj.Namespace(), w.because)
}

// enqueueAll puts all objects into the queue that rules look at, in a namespace if it is not "", except those of one
// resource.
func (c *controller) enqueueAll(except, namespace string, cause uint64) {
	for _, rule := range c.rules.Rules {
		r := c.cacheFor(rule.For)
		if r == nil || r.def.Storage == except {
			continue
		}
		if !r.def.Namespaced {
			namespace = ""
		}
		for _, obj := range r.find(namespace, "") {
			c.enqueue(item{rule.For, key(obj.Namespace(), obj.Name())}, cause)
		}
	}
}

// enqueue puts an item into the queue, unless it is there. cause is the frame that led to it.
func (c *controller) enqueue(it item, cause uint64) {
	if !slices.ContainsFunc(c.queue, func(x queued) bool { return x.item == it }) {
		c.queue = append(c.queue, queued{it, cause})
	}
}

// cacheFor returns the cache of a resource as the rules name it.
func (c *controller) cacheFor(res string) *reflector {
	for _, r := range c.caches {
		if r.resource == res && r.def != nil {
			return r
		}
	}
	return nil
}

func (c *controller) called() string { return c.name }
func (c *controller) idle() bool     { return false }

func (c *controller) asleep() bool {
	return c.sleeps > 0 || slices.ContainsFunc(c.caches, func(r *reflector) bool { return r.sleeps })
}

func (c *controller) synced() bool {
	return !slices.ContainsFunc(c.caches, func(r *reflector) bool { return !r.synced })
}

// step sends the next request, or looks at the next object when there is none to send.
func (c *controller) step(w *World) bool {
	if c.down || c.call != nil || !c.synced() {
		return false
	}
	if c.again {
		c.again = false
		c.retry(w)
	}
	if c.job == nil {
		if len(c.queue) == 0 {
			return false
		}
		c.job = &job{queued: c.queue[0]}
		c.queue = c.queue[1:]
	}
	if len(c.job.calls) > 0 {
		c.sendCall(w)
		return true
	}
	if len(c.job.rest) == 0 && !c.decide(w) {
		delete(c.fails, c.job.item)
		c.job = nil
		return true
	}
	if len(c.job.rest) > 0 {
		c.sendNext(w)
	}
	return true
}

// sendNext sends the first request of the job.
func (c *controller) sendNext(w *World) {
	next := c.job.rest[0]
	c.job.rest = c.job.rest[1:]
	s := c.scope(w, next.obj)
	template := func(text string) (string, error) { return c.fill(s, text, next.i) }
	line, err := template(next.line)
	if err == nil {
		c.job.calls, err = c.requests(w, line, next.obj, template)
	}
	if err != nil {
		w.say("%s: %s: %v", c.name, next.line, err)
		c.retry(w)
		return
	}
	for _, x := range c.job.calls {
		c.expect(x)
	}
	c.sendCall(w)
}

// sendCall sends the first request that has been made.
func (c *controller) sendCall(w *World) {
	if len(c.job.calls) == 0 {
		return
	}
	c.call, c.job.calls = c.job.calls[0], c.job.calls[1:]
	w.following(c.job.cause, func() { w.send(c.call) })
}

// expect says what becomes of the answer to a request.
func (c *controller) expect(x *call) {
	life, fails := c.life, x.fails
	x.fails = false
	x.done = func(x *call) {
		if life != c.life {
			return
		}
		c.call = nil
		if failed := x.answer.Code >= 400; failed != fails && !x.may && c.job != nil {
			c.again = true
		}
	}
}

// requests returns the request of a line, in the namespace of the object if the line names none.
func (c *controller) requests(w *World, line string, obj object.Object, template func(string) (string, error)) (
	[]*call, error,
) {
	op, err := Parse(strings.TrimSpace(line))
	if err != nil {
		return nil, err
	}
	op.Flags = append(op.Flags, FlagValue{"as", c.name})
	if !op.has("namespace") && !op.has("all-namespaces") && obj.Namespace() != "" {
		op.Flags = append(op.Flags, FlagValue{"namespace", obj.Namespace()})
	}
	list, err := w.requests(&op, template)
	for _, x := range list {
		x.fails, x.may = op.Fails, op.May
	}
	return list, err
}

// retry ends the job and looks at its object again after a back-off.
func (c *controller) retry(w *World) {
	it, cause := c.job.item, c.job.cause
	c.job = nil
	n := c.fails[it]
	c.fails[it]++
	d := longestRetry
	if n < 18 {
		d = min(firstRetry<<n, longestRetry)
	}
	c.sleeps++
	life := c.life
	w.after(d, func() {
		if life == c.life {
			c.sleeps--
			c.enqueue(it, cause)
		}
	})
}

func (c *controller) state() ActorState {
	s := ActorState{Name: c.name, Kind: "controller", Synced: c.synced() && !c.down, State: "waits for events"}
	var res []string
	for _, r := range c.caches {
		res = append(res, r.resource)
		for _, k := range object.SortedKeys(r.store) {
			s.Keys = append(s.Keys, r.resource+" "+k)
		}
	}
	s.Resource = strings.Join(res, ", ")
	for _, it := range c.queue {
		s.Queue = append(s.Queue, it.resource+" "+it.key)
	}
	switch {
	case c.down:
		s.State = "crashed"
	case !s.Synced:
		s.State = "fills its caches"
	case c.call != nil:
		s.State = "waits for an answer"
	case c.job != nil || len(c.queue) > 0:
		s.State = "has work to do"
	case c.sleeps > 0:
		s.State = "waits to try again"
	}
	return s
}
