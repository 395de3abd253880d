package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// test reads a condition without and, or, not.
func (p *parser) test() test {
	t := p.peek()
	switch {
	case t.quoted:
	case t.text == "" || t.text == ")" || t.text == "and" || t.text == "or":
		p.fail(t, "a condition is missing here, such as status 200 or pods/a exists")
		return nil
	case p.accept("waiting"):
		return someWait
	case p.accept("promises"):
		if !p.accept("kept") {
			p.fail(p.peek(), "promises are kept: expect promises kept")
		}
		return promisesKept
	case p.accept("status"):
		return p.status()
	case p.accept("every"):
		return p.every()
	case p.accept("unique"):
		return p.unique()
	case p.accept("seen"):
		return p.seen()
	case strings.HasPrefix(t.text, "watch/"):
		return p.watch()
	case cacheOf(t.text) != "":
		return p.cached()
	}
	return p.compareWith(p.operand(true))
}

// someWait is true while a request waits for its answer.
func someWait(s *scope) (bool, string) {
	return len(s.w.waiting) > 0, fmt.Sprintf("%d requests wait", len(s.w.waiting))
}

// answerParts are the words for parts of the last answer and of its request.
var answerParts = map[string]func(c *call) any{
	"reason":  func(c *call) any { return c.exchange.Reason },
	"message": func(c *call) any { return c.body.String("message") },
	"method":  func(c *call) any { return c.exchange.Method },
	"path":    func(c *call) any { return c.exchange.Path },
	"client":  func(c *call) any { return c.exchange.Client },
	"replica": func(c *call) any { return int64(c.exchange.Replica) },
}

// headerOf returns the first value of a header of an answer, nil if there is none.
func headerOf(c *call, name string) any {
	if list := c.exchange.ResHeader.Values(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// ofAnswer is the operand for a part of the last answer.
func ofAnswer(text string, part func(c *call) any) operand {
	return operand{text: text, value: func(s *scope) any {
		if s.w.last == nil {
			word, _, _ := strings.Cut(text, " ")
			s.fail(fmt.Errorf("%s is that of the last answer, and there was none yet", word))
			return nil
		}
		return part(s.w.last)
	}}
}

// status reads what follows the word: a code and a reason, or a comparison.
func (p *parser) status() test {
	code, err := strconv.Atoi(p.peek().text)
	if err != nil {
		return p.compareWith(ofAnswer("status", func(c *call) any { return int64(c.answer.Code) }))
	}
	p.next()
	reason := ""
	if p.peek().capital() {
		reason = p.next().text
	}
	return func(s *scope) (bool, string) {
		c := s.w.last
		if c == nil {
			return false, "there was no answer yet"
		}
		ok := c.answer.Code == code && (reason == "" || reason == c.exchange.Reason || reason == statusText[code])
		text := cmp.Or(c.exchange.Reason, statusText[c.answer.Code])
		return ok, fmt.Sprint("the last answer is ", c.answer.Code, " ", text)
	}
}

// capital reports whether a token is a word that begins with a capital letter, as reasons and methods do.
func (t token) capital() bool {
	return !t.quoted && t.text != "" && t.text[0] >= 'A' && t.text[0] <= 'Z'
}

// every reads: RESOURCE [flags] TEST about each.
func (p *parser) every() test {
	objects := p.selection()
	about := p.not()
	return func(s *scope) (bool, string) {
		list := objects.list(s)
		for _, obj := range list {
			if ok, why := about(s.about(obj)); !ok {
				return false, objects.resource + "/" + obj.Name() + ": " + why
			}
		}
		return true, fmt.Sprintf("it holds for all %d", len(list))
	}
}

// unique reads: RESOURCE [flags] PATH. It is true when no two objects have the same value there.
func (p *parser) unique() test {
	objects := p.selection()
	field := p.field("unique", "unique pods .spec.nodeName")
	return func(s *scope) (bool, string) {
		seen := map[string]string{}
		for _, obj := range objects.list(s) {
			v := field.get(map[string]any(obj))
			if v == nil {
				continue
			}
			if other, ok := seen[show(v)]; ok {
				return false, fmt.Sprintf("%s and %s both have %s in %s", other, obj.Name(), show(v), field.text)
			}
			seen[show(v)] = obj.Name()
		}
		return true, "all are different"
	}
}

// cacheOf returns the name in informer/NAME or controller/NAME, or "".
func cacheOf(text string) string {
	kind, name, _ := strings.Cut(text, "/")
	if kind == "informer" || kind == "controller" || kind == "pager" {
		return name
	}
	return ""
}

// cached reads what is asked of a cache: informer/NAME synced, informer/NAME sees pods/a, or any test.
func (p *parser) cached() test {
	name := cacheOf(p.next().text)
	if p.accept("synced") {
		return func(s *scope) (bool, string) {
			a := s.w.actor(name)
			if a == nil {
				s.fail(fmt.Errorf("there is no informer or controller %q", name))
				return false, ""
			}
			state := a.state()
			return state.Synced, name + ": " + state.State
		}
	}
	var inside test
	if p.accept("sees") {
		t := p.next()
		compares := p.atField()
		if o := p.reference(t); compares {
			inside = p.compareWith(o)
		} else {
			inside = o.present(true)
		}
	} else {
		inside = p.test()
	}
	return func(s *scope) (bool, string) {
		a, ok := s.w.actor(name).(cacher)
		if !ok {
			s.fail(fmt.Errorf("there is no informer or controller %q", name))
			return false, ""
		}
		inner := *s
		inner.objects = a.objects
		inner.now = s.w.clock.Now().Add(s.w.client(name).jump)
		ok, why := inside(&inner)
		return ok, "in the cache of " + name + " " + why
	}
}

var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}

// watch reads watch/NAME, and what is said of it.
func (p *parser) watch() test {
	name := strings.TrimPrefix(p.next().text, "watch/")
	switch t := p.next(); t.text {
	case "open", "closed":
		return func(s *scope) (bool, string) {
			if x := s.watch(name); x.state != "" {
				return t.text == "closed", name + " is closed: " + x.state
			}
			return t.text == "open", name + " is open"
		}
	case "count":
		return p.compareWith(p.watchCount(name))
	case "rv", "path":
		return p.compareWith(watchPart(name, t.text))
	case "error":
		return p.watchError(name)
	case "saw":
		return p.watchSaw(name)
	default:
		p.fail(t, "a watch is open or closed, it saw DELETED a, has an error 410, a count ADDED == 2, an rv or a path; %q is "+
			"none of it",
			t.text)
		return nil
	}
}

// watchPart is the operand for the revision that a watch has come to, or for the path of its request.
func watchPart(name, part string) operand {
	return operand{text: "watch/" + name + " " + part, value: func(s *scope) any {
		x := s.watch(name)
		switch {
		case x.exchange == nil:
			return nil
		case part == "rv":
			return x.rv
		}
		return x.exchange.Path
	}}
}

// watchCount reads [TYPE]: how many events have come.
func (p *parser) watchCount(name string) operand {
	eventType, text := "", "watch/"+name+" count"
	if slices.Contains(eventTypes, p.peek().text) {
		eventType = p.next().text
		text += " " + eventType
	}
	return operand{text: text, value: func(s *scope) any {
		n := int64(0)
		for _, e := range s.watch(name).events {
			if eventType == "" || e.Type == eventType {
				n++
			}
		}
		return n
	}}
}

// watchError reads CODE: the one of the first ERROR event.
func (p *parser) watchError(name string) test {
	t := p.next()
	code, err := strconv.Atoi(t.text)
	if err != nil {
		p.fail(t, "error needs a code such as 410")
	}
	return func(s *scope) (bool, string) {
		for _, e := range s.watch(name).events {
			if e.Type == watchcache.Error {
				had := statusCode(e.Object)
				return had == code, fmt.Sprintf("%s had an error %d", name, had)
			}
		}
		return false, name + " had no error"
	}
}

// watchSaw reads TYPE [OBJECT]: such an event has come.
func (p *parser) watchSaw(name string) test {
	t := p.next()
	if !slices.Contains(eventTypes, t.text) {
		p.fail(t, "%q is no type of event; there are ADDED, MODIFIED, DELETED, BOOKMARK and ERROR", t.text)
	}
	object := ""
	if next := p.peek(); next.text != "and" && next.text != "or" && next.text != ")" {
		object = p.next().text
	}
	return func(s *scope) (bool, string) {
		for _, e := range s.watch(name).events {
			if e.Type == t.text && (object == "" || object == e.Object.Name() || object == key(e.Object.Namespace(), e.Object.Name())) {
				return true, name + " saw it"
			}
		}
		return false, fmt.Sprintf("%s saw no %s %s", name, t.text, object)
	}
}

var kinds = []Kind{HTTPRequest, HTTPResponse, StoreCommit, StoreCompact, CacheApply, WatchEvent, WatchBookmark, WatchClose,
	ClockTick, FaultHappened}

// seen reads: KIND [CODE] [REASON] [by CLIENT] [on LANE], and a comparison of how many there were, if one follows.
func (p *parser) seen() test {
	t := p.next()
	n := &framesSeen{kind: Kind(t.text)}
	if !slices.Contains(kinds, n.kind) {
		p.fail(t, "%q is no kind of frame; there are http.req, http.res, store.commit, store.compact, cache.apply, watch.event, "+
			"watch.bookmark, watch.close, clock.tick and fault", t.text)
	}
	for more := true; more; {
		t := p.peek()
		code, err := strconv.Atoi(t.text)
		switch {
		case p.accept("by"):
			n.lane = "client/" + p.next().text
		case p.accept("on"):
			n.lane = p.next().text
		case err == nil && n.code == 0:
			p.next()
			n.code = code
		case t.capital():
			n.word = p.next().text
		default:
			more = false
		}
	}
	count := operand{text: n.text(), value: n.count}
	if t := p.peek(); !t.quoted && slices.Contains(comparisons, t.text) {
		return p.compareWith(count)
	}
	return func(s *scope) (bool, string) {
		v := count.value(s)
		return v != int64(0), count.text + " is " + show(v)
	}
}

// framesSeen is which frames a condition counts, of those since the World began.
type framesSeen struct {
	kind Kind
	code int
	word string // a reason, a method, or a type of event
	lane string
}

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

func (n *framesSeen) count(s *scope) any {
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
