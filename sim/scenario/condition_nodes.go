package scenario

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// joined is and, or or.
type joined struct {
	list []node
	all  bool
}

func (j *joined) eval(s *scope) (bool, string, error) {
	why := ""
	for _, n := range j.list {
		ok, text, err := n.eval(s)
		if err != nil {
			return false, "", err
		}
		if ok != j.all {
			return ok, text, nil
		}
		if why != "" {
			why += ", "
		}
		why += text
	}
	return j.all, why, nil
}

type negated struct{ n node }

func (x *negated) eval(s *scope) (bool, string, error) {
	ok, why, err := x.n.eval(s)
	return !ok, why, err
}

// waits is true while a request waits for its answer.
type waits struct{}

func (waits) eval(s *scope) (bool, string, error) {
	return len(s.w.waiting) > 0, fmt.Sprintf("%d requests wait", len(s.w.waiting)), nil
}

// statusIs looks at the last answer.
type statusIs struct {
	code   int
	reason string
}

func (n *statusIs) eval(s *scope) (bool, string, error) {
	c := s.w.last
	if c == nil {
		return false, "there was no answer yet", nil
	}
	ok := c.answer.Code == n.code && (n.reason == "" || n.reason == c.exchange.Reason || n.reason == statusText[n.code])
	text := fmt.Sprint(c.answer.Code, " ", statusText[c.answer.Code])
	if c.exchange.Reason != "" {
		text = fmt.Sprint(c.answer.Code, " ", c.exchange.Reason)
	}
	return ok, "the last answer is " + text, nil
}

// forEvery is true when a condition holds for every object.
type forEvery struct {
	of *selection
	n  node
}

func (f *forEvery) eval(s *scope) (bool, string, error) {
	list, err := f.of.list(s)
	if err != nil {
		return false, "", err
	}
	for _, obj := range list {
		ok, why, err := f.n.eval(s.about(obj))
		if err != nil {
			return false, "", err
		}
		if !ok {
			return false, f.of.resource + "/" + obj.Name() + ": " + why, nil
		}
	}
	return true, fmt.Sprintf("it holds for all %d", len(list)), nil
}

// different is true when no two objects have the same value at a path.
type different struct {
	of   *selection
	path path
}

func (d *different) eval(s *scope) (bool, string, error) {
	list, err := d.of.list(s)
	if err != nil {
		return false, "", err
	}
	seen := map[string]string{}
	for _, obj := range list {
		v := d.path.get(map[string]any(obj))
		if v == nil {
			continue
		}
		if other, ok := seen[show(v)]; ok {
			return false, fmt.Sprintf("%s and %s both have %s in %s", other, obj.Name(), show(v), d.path.text), nil
		}
		seen[show(v)] = obj.Name()
	}
	return true, "all are different", nil
}

type synced struct{ name string }

func (n *synced) eval(s *scope) (bool, string, error) {
	a := s.w.actor(n.name)
	if a == nil {
		return false, "", fmt.Errorf("there is no informer or controller %q", n.name)
	}
	state := a.state()
	return state.Synced, n.name + ": " + state.State, nil
}

// inCache asks the cache of an informer or controller.
type inCache struct {
	name string
	n    node
}

func (c *inCache) eval(s *scope) (bool, string, error) {
	a, ok := s.w.actor(c.name).(cacher)
	if !ok {
		return false, "", fmt.Errorf("there is no informer or controller %q", c.name)
	}
	inner := *s
	inner.objects = a.objects
	inner.now = s.w.clock.Now().Add(s.w.client(c.name).jump)
	ok, why, err := c.n.eval(&inner)
	return ok, "in the cache of " + c.name + " " + why, err
}

type watchState struct {
	name string
	open bool
}

func (n *watchState) eval(s *scope) (bool, string, error) {
	x, err := s.watch(n.name)
	if err != nil {
		return false, "", err
	}
	why := n.name + " is open"
	if x.state != "" {
		why = n.name + " is closed: " + x.state
	}
	return (x.state == "") == n.open, why, nil
}

type watchError struct {
	name string
	code int
}

func (n *watchError) eval(s *scope) (bool, string, error) {
	x, err := s.watch(n.name)
	if err != nil {
		return false, "", err
	}
	for _, e := range x.events {
		if e.Type == watchcache.Error {
			code := statusCode(e.Object)
			return code == n.code, fmt.Sprintf("%s had an error %d", n.name, code), nil
		}
	}
	return false, n.name + " had no error", nil
}

// watchSaw is true when an event of a type came, about an object if it has a name.
type watchSaw struct{ name, eventType, object string }

func (n *watchSaw) eval(s *scope) (bool, string, error) {
	x, err := s.watch(n.name)
	if err != nil {
		return false, "", err
	}
	for _, e := range x.events {
		name := e.Object.Name()
		if e.Type == n.eventType && (n.object == "" || n.object == name || n.object == key(e.Object.Namespace(), name)) {
			return true, n.name + " saw it", nil
		}
	}
	return false, fmt.Sprintf("%s saw no %s %s", n.name, n.eventType, n.object), nil
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

func (n *framesSeen) value(s *scope) (any, error) {
	count := int64(0)
	for i := range s.w.frames {
		f := &s.w.frames[i]
		if f.Kind == n.kind && (n.code == 0 || n.code == f.Code) && (n.word == "" || n.word == f.Reason || n.word == f.Verb) &&
			(n.lane == "" || n.lane == f.Lane) {
			count++
		}
	}
	return count, nil
}

func (n *framesSeen) eval(s *scope) (bool, string, error) {
	v, err := n.value(s)
	return v != int64(0), n.text() + " is " + show(v), err
}
