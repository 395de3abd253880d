package scenario

import (
	"fmt"
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
	name      string
	client    *client
	namespace string
	rules     *Rules
	caches    []*reflector // in the order of Rules.Watch

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

func (w *World) newController(name, text string, op *Op) (actor, error) {
	rules, err := ParseRules(text)
	if err != nil {
		return nil, err
	}
	c := &controller{name: name, client: w.client(name), namespace: op.value("namespace"), rules: rules}
	for _, res := range rules.Watch {
		d, err := w.known(res)
		if err != nil {
			return nil, err
		}
		lane := name + "." + d.Resource
		r := w.newReflector(name, res, lane, op)
		r.changed = func(w *World, eventType string, obj object.Object) { c.changed(w, d, obj) }
		c.caches = append(c.caches, r)
	}
	return c, nil
}

func (c *controller) start(w *World) error {
	c.life++
	c.queue, c.job, c.fails, c.sleeps, c.down, c.again = nil, nil, map[item]int{}, 0, false, false
	for _, r := range c.caches {
		if err := r.start(w); err != nil {
			return err
		}
	}
	if c.rules.Resync > 0 {
		c.resync(w, c.life)
	}
	return nil
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
	for _, x := range c.queue {
		if x.item == it {
			return
		}
	}
	c.queue = append(c.queue, queued{it, cause})
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
	for _, r := range c.caches {
		if r.sleeps {
			return true
		}
	}
	return c.sleeps > 0
}

func (c *controller) synced() bool {
	for _, r := range c.caches {
		if !r.synced {
			return false
		}
	}
	return true
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

// decide looks at the next rule for the object. It reports false when there is none.
func (c *controller) decide(w *World) bool {
	j := c.job
	for j.rule < len(c.rules.Rules) {
		rule := &c.rules.Rules[j.rule]
		j.rule++
		if rule.For != j.item.resource {
			continue
		}
		r := c.cacheFor(rule.For)
		obj := r.store[j.item.key]
		if obj == nil {
			continue
		}
		list, err := c.plan(w, rule, obj)
		if err != nil {
			w.say("%s: rule %s: %v", c.name, rule.Name, err)
			continue
		}
		if len(list) > 0 {
			w.say("%s: rule %s for %s", c.name, rule.Name, shortRef(refOf(r.def, obj.Namespace(), obj.Name())))
			j.rest = list
			return true
		}
	}
	return false
}

// plan returns the requests of a rule for an object, none when it does not apply.
func (c *controller) plan(w *World, rule *Rule, obj object.Object) ([]work, error) {
	n := 1
	if rule.Range != "" {
		o, err := parseOperand(rule.Range, 0)
		if err != nil {
			return nil, err
		}
		v, err := o.value(c.scope(w, obj))
		if err != nil {
			return nil, err
		}
		f, _ := number(v)
		const most = 1000
		n = min(int(f), most)
	}
	var out []work
	for i := range max(n, 0) {
		ok, err := c.applies(w, rule, obj, i)
		if err != nil {
			return nil, err
		}
		for _, line := range rule.Do {
			if ok {
				out = append(out, work{line, obj, i})
			}
		}
	}
	return out, nil
}

func (c *controller) applies(w *World, rule *Rule, obj object.Object, i int) (bool, error) {
	s := c.scope(w, obj)
	for _, text := range rule.When {
		text, err := c.fill(s, text, i)
		if err != nil {
			return false, err
		}
		cond, err := ParseCondition(text)
		if err != nil {
			return false, fmt.Errorf("when %s: %w", text, err)
		}
		if ok, _, err := cond.root.eval(s); err != nil || !ok {
			return false, err
		}
	}
	return true, nil
}

// scope is what conditions of a rule are about.
func (c *controller) scope(w *World, obj object.Object) *scope {
	namespace := obj.Namespace()
	if namespace == "" {
		namespace = "default"
	}
	return &scope{w: w, self: map[string]any(obj), namespace: namespace, now: w.clock.Now().Add(c.client.jump),
		objects: c.objects}
}

// objects is cacher's.
func (c *controller) objects(d *resource.Definition, namespace, name string) ([]object.Object, error) {
	for _, r := range c.caches {
		if r.def != nil && r.def.Storage == d.Storage {
			return r.find(namespace, name), nil
		}
	}
	return nil, fmt.Errorf("%s has no cache of %s: add it to watch", c.name, d.Resourced())
}

// fill replaces placeholders. What is not there becomes an empty text.
func (c *controller) fill(s *scope, text string, i int) (string, error) {
	return replacePlaceholders(text, func(inner string) (string, error) {
		switch {
		case inner == "i":
			return fmt.Sprint(i), nil
		case inner == "now":
			return s.now.UTC().Format("2006-01-02T15:04:05.000000Z"), nil
		case shorts[inner] != "":
			inner = shorts[inner]
		}
		o, err := parseOperand(inner, 0)
		if err != nil {
			return "", err
		}
		v, err := o.value(s)
		if v == nil || err != nil {
			return "", err
		}
		return show(v), nil
	})
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
