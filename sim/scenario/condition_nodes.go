package scenario

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// joined is and, or or.
type joined struct {
	list []node
	all  bool
}

func (j *joined) eval(s *scope) (bool, string) {
	why := ""
	for _, n := range j.list {
		ok, text := n.eval(s)
		if ok != j.all {
			return ok, text
		}
		if why != "" {
			why += ", "
		}
		why += text
	}
	return j.all, why
}

type negated struct{ n node }

func (x *negated) eval(s *scope) (bool, string) {
	ok, why := x.n.eval(s)
	return !ok, why
}

type presence struct {
	what   operand
	exists bool
}

func (p *presence) eval(s *scope) (bool, string) {
	v := p.what.value(s)
	why := p.what.text() + " is not there"
	if v != nil {
		why = p.what.text() + " is there"
	}
	return (v != nil) == p.exists, why
}

type older struct {
	what operand
	than time.Duration
}

func (o *older) eval(s *scope) (bool, string) {
	v := o.what.value(s)
	text, _ := v.(string)
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return false, o.what.text() + " is " + show(v) + ", which is no time"
	}
	age := s.now.Sub(t)
	return age > o.than, fmt.Sprintf("%s is %s old", o.what.text(), age)
}

// waits is true while a request waits for its answer.
type waits struct{}

func (waits) eval(s *scope) (bool, string) {
	return len(s.w.waiting) > 0, fmt.Sprintf("%d requests wait", len(s.w.waiting))
}

// statusIs looks at the last answer.
type statusIs struct {
	code   int
	reason string
}

func (n *statusIs) eval(s *scope) (bool, string) {
	c := s.w.last
	if c == nil {
		return false, "there was no answer yet"
	}
	ok := c.answer.Code == n.code && (n.reason == "" || n.reason == c.exchange.Reason || n.reason == statusText[n.code])
	text := fmt.Sprint(c.answer.Code, " ", statusText[c.answer.Code])
	if c.exchange.Reason != "" {
		text = fmt.Sprint(c.answer.Code, " ", c.exchange.Reason)
	}
	return ok, "the last answer is " + text
}

// forEvery is true when a condition holds for every object.
type forEvery struct {
	of *selection
	n  node
}

func (f *forEvery) eval(s *scope) (bool, string) {
	list := f.of.list(s)
	for _, obj := range list {
		ok, why := f.n.eval(s.about(obj))
		if !ok {
			return false, f.of.resource + "/" + obj.Name() + ": " + why
		}
	}
	return true, fmt.Sprintf("it holds for all %d", len(list))
}

// different is true when no two objects have the same value at a path.
type different struct {
	of   *selection
	path path
}

func (d *different) eval(s *scope) (bool, string) {
	seen := map[string]string{}
	for _, obj := range d.of.list(s) {
		v := d.path.get(map[string]any(obj))
		if v == nil {
			continue
		}
		if other, ok := seen[show(v)]; ok {
			return false, fmt.Sprintf("%s and %s both have %s in %s", other, obj.Name(), show(v), d.path.text)
		}
		seen[show(v)] = obj.Name()
	}
	return true, "all are different"
}

type synced struct{ name string }

func (n *synced) eval(s *scope) (bool, string) {
	a := s.w.actor(n.name)
	if a == nil {
		s.fail(fmt.Errorf("there is no informer or controller %q", n.name))
		return false, ""
	}
	state := a.state()
	return state.Synced, n.name + ": " + state.State
}

// inCache asks the cache of an informer or controller.
type inCache struct {
	name string
	n    node
}

func (c *inCache) eval(s *scope) (bool, string) {
	a, ok := s.w.actor(c.name).(cacher)
	if !ok {
		s.fail(fmt.Errorf("there is no informer or controller %q", c.name))
		return false, ""
	}
	inner := *s
	inner.objects = a.objects
	inner.now = s.w.clock.Now().Add(s.w.client(c.name).jump)
	ok, why := c.n.eval(&inner)
	return ok, "in the cache of " + c.name + " " + why
}

type watchState struct {
	name string
	open bool
}

func (n *watchState) eval(s *scope) (bool, string) {
	x := s.watch(n.name)
	why := n.name + " is open"
	if x.state != "" {
		why = n.name + " is closed: " + x.state
	}
	return (x.state == "") == n.open, why
}

type watchError struct {
	name string
	code int
}

func (n *watchError) eval(s *scope) (bool, string) {
	x := s.watch(n.name)
	for _, e := range x.events {
		if e.Type == watchcache.Error {
			code := statusCode(e.Object)
			return code == n.code, fmt.Sprintf("%s had an error %d", n.name, code)
		}
	}
	return false, n.name + " had no error"
}

// watchSaw is true when an event of a type came, about an object if it has a name.
type watchSaw struct{ name, eventType, object string }

func (n *watchSaw) eval(s *scope) (bool, string) {
	x := s.watch(n.name)
	for _, e := range x.events {
		name := e.Object.Name()
		if e.Type == n.eventType && (n.object == "" || n.object == name || n.object == key(e.Object.Namespace(), name)) {
			return true, n.name + " saw it"
		}
	}
	return false, fmt.Sprintf("%s saw no %s %s", n.name, n.eventType, n.object)
}

// framesSeen is true when a frame of a kind was there since the World began; as an operand it is how many.
type framesSeen struct {
	kind Kind
	code int
	word string // a reason, a method, or a type of event
	lane string
}

var kinds = map[Kind]bool{HTTPRequest: true, HTTPResponse: true, StoreCommit: true, StoreCompact: true, CacheApply: true,
	WatchEvent: true, WatchBookmark: true, WatchClose: true, ClockTick: true, FaultHappened: true}

func (n *framesSeen) text() string {
	text := "seen " + string(n.kind)
	if n.code != 0 {
		text += fmt.Sprint(" ", n.code)
	}
	if n.word != "" {
		text += " " + n.word
	}
	if n.lane != "" {
		text += " on " + n.lane
	}
	return text
}

func (n *framesSeen) value(s *scope) any {
	count := int64(0)
	for i := range s.w.frames {
		f := &s.w.frames[i]
		if f.Kind == n.kind && (n.code == 0 || n.code == f.Code) && (n.word == "" || n.word == f.Reason || n.word == f.Verb) &&
			(n.lane == "" || n.lane == f.Lane) {
			count++
		}
	}
	return count
}

func (n *framesSeen) eval(s *scope) (bool, string) {
	v := n.value(s)
	return v != int64(0), n.text() + " is " + show(v)
}
