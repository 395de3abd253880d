package condition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/watchcache"
)

// test parses a single condition, which contains no and, or, or not.
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
			p.fail(p.peek(), "write: expect promises kept")
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

// someWait reports whether a request is waiting for its response.
func someWait(s *Scope) (bool, string) {
	n := s.World.Waiting()
	return n > 0, fmt.Sprintf("%d requests wait", n)
}

// promisesKept reports whether all promises have been kept so far.
func promisesKept(s *Scope) (bool, string) {
	broken, err := s.World.Broken()
	s.fail(err)
	if broken != "" {
		return false, broken
	}
	return true, "all promises are kept"
}

// answerParts maps words of the language to functions that return a part of the last response or of its request.
var answerParts = map[string]func(a *Answer) any{
	"reason":  func(a *Answer) any { return a.Reason },
	"message": func(a *Answer) any { return a.Message },
	"method":  func(a *Answer) any { return a.Method },
	"path":    func(a *Answer) any { return a.Path },
	"client":  func(a *Answer) any { return a.Client },
	"replica": func(a *Answer) any { return int64(a.Replica) },
}

// headerOf returns the first value of a response header, or nil if there is none.
func headerOf(a *Answer, name string) any {
	if list := a.Header.Values(name); len(list) > 0 {
		return list[0]
	}
	return nil
}

// ofAnswer returns the operand for a part of the last response.
func ofAnswer(text string, part func(a *Answer) any) operand {
	return operand{text: text, value: func(s *Scope) any {
		a := s.World.LastAnswer()
		if a == nil {
			word, _, _ := strings.Cut(text, " ")
			s.fail(fmt.Errorf("%s is a part of the last answer, and there is no answer yet", word))
			return nil
		}
		return part(a)
	}}
}

// status parses the rest of a status condition: a code and an optional reason, or a comparison.
func (p *parser) status() test {
	code, err := strconv.Atoi(p.peek().text)
	if err != nil {
		return p.compareWith(ofAnswer("status", func(a *Answer) any { return int64(a.Code) }))
	}
	p.next()
	reason := ""
	if p.peek().capital() {
		reason = p.next().text
	}
	return func(s *Scope) (bool, string) {
		a := s.World.LastAnswer()
		if a == nil {
			return false, "there was no answer yet"
		}
		ok := a.Code == code && (reason == "" || reason == a.Reason || reason == a.Status)
		return ok, fmt.Sprint("the last answer is ", a.Code, " ", cmp.Or(a.Reason, a.Status))
	}
}

// capital reports whether a token can be a reason or a method.
func (t token) capital() bool { return !t.quoted && IsReason(t.text) }

// IsReason reports whether a word begins with a capital letter, like reasons and methods.
func IsReason(text string) bool { return text != "" && text[0] >= 'A' && text[0] <= 'Z' }

// every parses RESOURCE [flags] TEST. The condition holds if the test holds for each selected object.
func (p *parser) every() test {
	objects := p.selection()
	about := p.not()
	return func(s *Scope) (bool, string) {
		list := objects.list(s)
		for _, obj := range list {
			if ok, why := about(s.about(obj)); !ok {
				return false, objects.resource + "/" + obj.Name() + ": " + why
			}
		}
		return true, fmt.Sprintf("it holds for all %d", len(list))
	}
}

// unique parses RESOURCE [flags] PATH. The condition holds if no two selected objects have the same value at the path.
func (p *parser) unique() test {
	objects := p.selection()
	field := p.field("unique", "unique pods .spec.nodeName")
	return func(s *Scope) (bool, string) {
		seen := map[string]string{}
		for _, obj := range objects.list(s) {
			v := field.get(map[string]any(obj))
			if v == nil {
				continue
			}
			if other, ok := seen[Show(v)]; ok {
				return false, fmt.Sprintf("%s and %s both have %s in %s", other, obj.Name(), Show(v), field.text)
			}
			seen[Show(v)] = obj.Name()
		}
		return true, "all are different"
	}
}

// cacheOf returns the name in informer/NAME, controller/NAME or pager/NAME, or "".
func cacheOf(text string) string {
	kind, name, _ := strings.Cut(text, "/")
	if kind == "informer" || kind == "controller" || kind == "pager" {
		return name
	}
	return ""
}

// cached parses a condition about a cache: informer/NAME synced, informer/NAME sees pods/a, or informer/NAME followed by any other
// condition.
func (p *parser) cached() test {
	name := cacheOf(p.next().text)
	if p.accept("synced") {
		return func(s *Scope) (bool, string) {
			a := s.World.Actor(name)
			if a == nil {
				s.fail(fmt.Errorf("there is no informer or controller %q", name))
				return false, ""
			}
			return a.Synced, name + ": " + a.State
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
	return func(s *Scope) (bool, string) {
		a := s.World.Actor(name)
		if a == nil {
			s.fail(fmt.Errorf("there is no informer or controller %q", name))
			return false, ""
		}
		inner := *s
		inner.Objects, inner.Now = a.Cache, a.Now
		ok, why := inside(&inner)
		return ok, "in the cache of " + name + " " + why
	}
}

var eventTypes = []string{"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"}

// watch parses a condition about watch/NAME.
func (p *parser) watch() test {
	name := strings.TrimPrefix(p.next().text, "watch/")
	switch t := p.next(); t.text {
	case "open", "closed":
		return func(s *Scope) (bool, string) {
			if x := s.watch(name); x.State != "" {
				return t.text == "closed", name + " is closed: " + x.State
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
		p.fail(t, "after a watch comes open, closed, saw DELETED a, error 410, count ADDED == 2, rv or path, not %q",
			t.text)
		return nil
	}
}

// watchPart returns the operand for the last revision of a watch, or for the path of its request.
func watchPart(name, part string) operand {
	return operand{text: "watch/" + name + " " + part, value: func(s *Scope) any {
		x := s.watch(name)
		if part == "rv" {
			return x.RV
		}
		return x.Path
	}}
}

// watchCount parses [TYPE] and returns the operand for the number of received events.
func (p *parser) watchCount(name string) operand {
	eventType, text := "", "watch/"+name+" count"
	if slices.Contains(eventTypes, p.peek().text) {
		eventType = p.next().text
		text += " " + eventType
	}
	return operand{text: text, value: func(s *Scope) any {
		n := int64(0)
		for kind := range s.watch(name).Events {
			if eventType == "" || kind == eventType {
				n++
			}
		}
		return n
	}}
}

// watchError parses CODE, the status code of the first ERROR event.
func (p *parser) watchError(name string) test {
	t := p.next()
	code, err := strconv.Atoi(t.text)
	if err != nil {
		p.fail(t, "error needs a code such as 410")
	}
	return func(s *Scope) (bool, string) {
		for kind, obj := range s.watch(name).Events {
			if kind == watchcache.Error {
				had := int(obj.Int64("code"))
				return had == code, fmt.Sprintf("%s had an error %d", name, had)
			}
		}
		return false, name + " had no error"
	}
}

// watchSaw parses TYPE [OBJECT]. The test holds if the watch has received such an event.
func (p *parser) watchSaw(name string) test {
	t := p.next()
	if !slices.Contains(eventTypes, t.text) {
		p.fail(t, "%q is not a type of event; there are ADDED, MODIFIED, DELETED, BOOKMARK and ERROR", t.text)
	}
	object := ""
	if next := p.peek(); next.text != "and" && next.text != "or" && next.text != ")" {
		object = p.next().text
	}
	return func(s *Scope) (bool, string) {
		for kind, obj := range s.watch(name).Events {
			if kind == t.text && (object == "" || object == obj.Name() || object == obj.Namespace()+"/"+obj.Name()) {
				return true, name + " saw it"
			}
		}
		return false, fmt.Sprintf("%s saw no %s %s", name, t.text, object)
	}
}

// kinds are the kinds of frames.
var kinds = []string{"http.req", "http.res", "store.commit", "store.compact", "cache.apply", "watch.event", "watch.bookmark",
	"watch.close", "clock.tick", "fault"}

// seen parses KIND [CODE] [REASON or VERB] [by CLIENT] [on LANE], and an optional comparison of the number of such
// frames.
func (p *parser) seen() test {
	t := p.next()
	n := Frames{Kind: t.text}
	if !slices.Contains(kinds, n.Kind) {
		p.fail(t, "%q is not a kind of frame; there are http.req, http.res, store.commit, store.compact, cache.apply, watch.event, watch.bookmark, watch.close, clock.tick and fault", t.text)
	}
	for more := true; more; {
		t := p.peek()
		code, err := strconv.Atoi(t.text)
		switch {
		case p.accept("by"):
			n.Lane = "client/" + p.next().text
		case p.accept("on"):
			n.Lane = p.next().text
		case err == nil && n.Code == 0:
			p.next()
			n.Code = code
		case t.capital():
			n.Word = p.next().text
		default:
			more = false
		}
	}
	count := operand{text: n.text(), value: func(s *Scope) any { return int64(s.World.Frames(n)) }}
	if t := p.peek(); !t.quoted && slices.Contains(comparisons, t.text) {
		return p.compareWith(count)
	}
	return func(s *Scope) (bool, string) {
		v := count.value(s)
		return v != int64(0), count.text + " is " + Show(v)
	}
}

// text returns the selection in the syntax of a condition.
func (n *Frames) text() string {
	text := "seen " + n.Kind
	if n.Code != 0 {
		text += fmt.Sprint(" ", n.Code)
	}
	if n.Word != "" {
		text += " " + n.Word
	}
	if n.Lane != "" {
		text += " on " + n.Lane
	}
	return text
}
