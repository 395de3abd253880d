package actor

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// controller is a client that acts on the caches of its informers, by rules:
//
//	informers ─ event ─▶ queue of objects ─▶ the next one, as in the cache ─▶ rule after rule: when? ─▶ its requests
//	   ▲                     ▲   └── again after a back-off if a request fails ◀────────────────────────────┘   │
//	   └─────────────────────┴───────────────────────────────── the changes arrive as events ◀─────────────────┘
//
// It sends one request per step and waits for the response. It may crash between two steps.
type controller struct {
	name   string
	w      World
	rules  *Rules
	caches []*reflector // in the order of Rules.Watch

	queue  []queued
	job    *job
	call   Request
	fails  map[item]int // the number of consecutive failed requests
	sleeps int          // the number of objects that wait for their back-off
	life   int
	down   bool
	again  bool // the last request has failed
}

// item is an object to reconcile.
type item struct{ resource, key string }

// queued is an item and the frame that caused it to be queued.
type queued struct {
	item
	cause uint64
}

// job is the item in progress.
type job struct {
	queued
	rule int // index of the next rule to evaluate
	rest []work
	line Line // requests of the current line that have not been sent yet
}

// work is a planned request.
type work struct {
	line string
	obj  object.Object
	i    int // number in the rule's range
}

// The back-off after a failed request (client-go's rate limiter).
const (
	firstRetry   = 5 * time.Millisecond
	longestRetry = 1000 * time.Second
)

// NewController returns an actor that acts by rules. Its informers use s, with the resources of the rules.
func NewController(w World, rules *Rules, s Source) (Actor, error) {
	c := &controller{name: s.Name, w: w, rules: rules}
	for _, res := range rules.Watch {
		d, err := w.Definition(res, "")
		if err != nil {
			return nil, err
		}
		s.Resource = res
		c.caches = append(c.caches, newReflector(w, s, s.Name+"."+d.Resource, func(obj object.Object) { c.changed(d, obj) }))
	}
	return c, nil
}

// Able implements Actor.
func (c *controller) Able() error {
	for _, r := range c.caches {
		if err := r.Able(); err != nil {
			return err
		}
	}
	return nil
}

// Start implements Actor.
func (c *controller) Start() {
	c.life++
	c.queue, c.job, c.fails, c.sleeps, c.down, c.again = nil, nil, map[item]int{}, 0, false, false
	for _, r := range c.caches {
		r.Start()
	}
	if c.rules.Resync > 0 {
		c.resync(c.life)
	}
}

// resync enqueues all objects at the interval of the rules. life is the current life of the controller; a resync of an earlier life
// does nothing.
func (c *controller) resync(life int) {
	c.w.After(c.rules.Resync, func() {
		if life == c.life {
			c.enqueueAll("", "", 0)
			c.resync(life)
		}
	})
}

// Crash implements Actor.
func (c *controller) Crash() {
	c.life++
	c.down = true
	if c.call != nil {
		c.call.Forget()
	}
	c.call, c.job, c.queue, c.sleeps, c.again = nil, nil, nil, 0, false
	for _, r := range c.caches {
		r.stop()
	}
}

// changed handles an event about an object. It enqueues the object if there is a rule for its resource, and all objects in its
// namespace that other rules handle, because their conditions may depend on the object.
func (c *controller) changed(d *resource.Definition, obj object.Object) {
	for _, rule := range c.rules.Rules {
		if r := c.cacheFor(rule.For); r != nil && r.def.Storage == d.Storage {
			c.enqueue(item{rule.For, keyOf(obj)}, c.w.Cause())
		}
	}
	c.enqueueAll(d.Storage, obj.Namespace(), c.w.Cause())
}

// enqueueAll enqueues the objects of all rules, except those of one resource. If namespace is not empty, it enqueues
// only the objects in that namespace.
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
			c.enqueue(item{rule.For, keyOf(obj)}, cause)
		}
	}
}

// enqueue adds an item to the queue unless the queue already contains it. cause is the frame that caused it.
func (c *controller) enqueue(it item, cause uint64) {
	if !slices.ContainsFunc(c.queue, func(x queued) bool { return x.item == it }) {
		c.queue = append(c.queue, queued{it, cause})
	}
}

// cacheFor returns the cache of a resource that the rules name res.
func (c *controller) cacheFor(res string) *reflector {
	for _, r := range c.caches {
		if r.Resource == res && r.def != nil {
			return r
		}
	}
	return nil
}

// IsIdle implements Actor.
func (c *controller) IsIdle() bool { return false }

// IsAsleep implements Actor.
func (c *controller) IsAsleep() bool {
	return c.sleeps > 0 || slices.ContainsFunc(c.caches, func(r *reflector) bool { return r.sleeps })
}

func (c *controller) synced() bool {
	return !slices.ContainsFunc(c.caches, func(r *reflector) bool { return !r.synced })
}

// Step implements Actor. It sends the next request, or handles the next object if there is no request to send.
func (c *controller) Step() bool {
	if c.down || c.call != nil || !c.synced() {
		return false
	}
	if c.again {
		c.again = false
		c.retry()
	}
	if c.job == nil {
		if len(c.queue) == 0 {
			return false
		}
		c.job = &job{queued: c.queue[0]}
		c.queue = c.queue[1:]
	}
	if len(c.job.line.Requests) > 0 {
		c.sendCall()
		return true
	}
	if len(c.job.rest) == 0 && !c.decide() {
		delete(c.fails, c.job.item)
		c.job = nil
		return true
	}
	if len(c.job.rest) > 0 {
		c.sendNext()
	}
	return true
}

// sendNext builds the requests of the job's next planned line and sends the first one.
func (c *controller) sendNext() {
	next := c.job.rest[0]
	c.job.rest = c.job.rest[1:]
	s := c.scope(next.obj)
	template := func(text string) (string, error) { return c.fill(s, text, next.i) }
	line, err := template(next.line)
	if err == nil {
		c.job.line, err = c.w.Requests(line, c.name, next.obj.Namespace(), template)
	}
	if err != nil {
		c.w.Say("%s: %s: %v", c.name, next.line, err)
		c.retry()
		return
	}
	c.sendCall()
}

// sendCall sends the next request of the current line.
func (c *controller) sendCall() {
	line := &c.job.line
	if len(line.Requests) == 0 {
		return
	}
	c.call, line.Requests = line.Requests[0], line.Requests[1:]
	life, fails, may := c.life, line.Fails, line.May
	c.w.Following(c.job.cause, func() {
		c.call.Send(func(a *Answer) {
			if life != c.life {
				return
			}
			c.call = nil
			if failed := a.Code >= 400; failed != fails && !may && c.job != nil {
				c.again = true
			}
		})
	})
}

// retry ends the job and enqueues its object again after a back-off.
func (c *controller) retry() {
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
	c.w.After(d, func() {
		if life == c.life {
			c.sleeps--
			c.enqueue(it, cause)
		}
	})
}

// State implements Actor.
func (c *controller) State() State {
	s := State{Name: c.name, Kind: "controller", Synced: c.synced() && !c.down, State: "waits for events"}
	var res []string
	for _, r := range c.caches {
		res = append(res, r.Resource)
		for _, k := range object.SortedKeys(r.store) {
			s.Keys = append(s.Keys, r.Resource+" "+k)
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
