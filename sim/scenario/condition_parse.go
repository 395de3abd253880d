package scenario

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/selector"
)

// test reads a condition without and, or, not.
func (p *parser) test() (node, error) {
	t := p.peek()
	switch {
	case t.quoted:
	case t.text == "" || t.text == ")" || t.text == "and" || t.text == "or":
		return nil, wrong(t.column, "a condition is missing here, such as status 200 or pods/a exists")
	case p.accept("waiting"):
		return waits{}, nil
	case p.accept("promises"):
		if t := p.peek(); !p.accept("kept") {
			return nil, wrong(t.column, "promises are kept: expect promises kept")
		}
		return promises{}, nil
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
		p.next()
		return p.cached(t)
	}
	left, err := p.operand(true)
	if err != nil {
		return nil, err
	}
	return p.compareWith(left)
}

// cacheOf returns the name in informer/NAME or controller/NAME, or "".
func cacheOf(text string) string {
	for _, kind := range []string{"informer/", "controller/", "pager/"} {
		if name, ok := strings.CutPrefix(text, kind); ok {
			return name
		}
	}
	return ""
}

// status reads what follows the word: a code and a reason, or a comparison.
func (p *parser) status() (node, error) {
	t := p.peek()
	code, err := strconv.Atoi(t.text)
	if err != nil {
		return p.compareWith(&answerPart{"status", ""})
	}
	p.next()
	n := &statusIs{code: code}
	if r := p.peek(); !r.quoted && r.text != "" && r.text[0] >= 'A' && r.text[0] <= 'Z' {
		n.reason = p.next().text
	}
	return n, nil
}

// cached reads what follows informer/NAME.
func (p *parser) cached(t token) (node, error) {
	name := cacheOf(t.text)
	if p.accept("synced") {
		return &synced{name}, nil
	}
	var n node
	var err error
	if p.accept("sees") {
		ref := p.next()
		o, e := refOperand(ref)
		if e != nil {
			return nil, e
		}
		n = &presence{o, true}
		if next := p.peek().text; strings.HasPrefix(next, ".") {
			o.path, err = parsePath(p.next())
			if err != nil {
				return nil, err
			}
			n, err = p.compareWith(o)
		}
	} else {
		n, err = p.test()
	}
	if err != nil {
		return nil, err
	}
	return &inCache{name, n}, nil
}

// watch reads what follows watch/NAME.
func (p *parser) watch() (node, error) {
	name := strings.TrimPrefix(p.next().text, "watch/")
	t := p.next()
	switch t.text {
	case "open", "closed":
		return &watchState{name, t.text == "open"}, nil
	case "count":
		o := &watchCount{name: name}
		if eventTypes[p.peek().text] {
			o.eventType = p.next().text
		}
		return p.compareWith(o)
	case "error":
		code, err := strconv.Atoi(p.peek().text)
		if err != nil {
			return nil, wrong(p.peek().column, "error needs a code such as 410")
		}
		p.next()
		return &watchError{name, code}, nil
	case "saw":
		kind := p.next()
		if !eventTypes[kind.text] {
			return nil, wrong(kind.column, "%q is no type of event; there are ADDED, MODIFIED, DELETED, BOOKMARK and ERROR",
				kind.text)
		}
		n := &watchSaw{name: name, eventType: kind.text}
		if next := p.peek(); next.text != "" && next.text != "and" && next.text != "or" && next.text != ")" {
			n.object = p.next().text
		}
		return n, nil
	}
	return nil, wrong(t.column, "a watch is open or closed, it saw DELETED a, has an error 410, or has a count ADDED == 2; "+
		"%q is none of it", t.text)
}

// answerParts are the words for parts of the last answer, of its request, and for the store's revision.
var answerParts = map[string]bool{"reason": true, "message": true, "method": true, "path": true, "client": true, "revision": true}

var eventTypes = map[string]bool{"ADDED": true, "MODIFIED": true, "DELETED": true, "BOOKMARK": true, "ERROR": true}

// operand reads a value. On the left, pods/a is an object; on the right it is a text unless a path follows.
func (p *parser) operand(left bool) (operand, error) {
	t := p.next()
	switch {
	case t.quoted:
		return &constant{t.text}, nil
	case t.text == "":
		return nil, wrong(t.column, "a value is missing here")
	case t.text == "count":
		return p.count()
	case t.text == "len":
		path := p.next()
		if !strings.HasPrefix(path.text, ".") {
			return nil, wrong(path.column, "len needs a field, as len .items")
		}
		f, err := parsePath(path)
		return &length{f}, err
	case answerParts[t.text]:
		return &answerPart{t.text, ""}, nil
	case t.text == "header":
		return &answerPart{"header", p.next().text}, nil
	case t.text[0] == '.':
		f, err := parsePath(t)
		return &field{f}, err
	case strings.Contains(t.text, "/") && !variable(t.text) || left && strings.Contains(t.text, "/"):
		if next := p.peek(); left || strings.HasPrefix(next.text, ".") {
			o, err := refOperand(t)
			if err == nil && strings.HasPrefix(next.text, ".") {
				o.path, err = parsePath(p.next())
			}
			return o, err
		}
	case left && !variable(t.text) && scalarWord(t.text) == nil:
		return nil, wrong(t.column, "%q is no condition; begin with status, count pods, pods/NAME, .FIELD, informer/NAME or "+
			"watch/NAME", t.text)
	}
	if v := scalarWord(t.text); v != nil {
		return &constant{v}, nil
	}
	if t.text == "null" {
		return &constant{nil}, nil
	}
	return &constant{t.text}, nil
}

// seen reads: KIND [CODE] [REASON] [by CLIENT] [on LANE], and a comparison of how many there were, if one follows.
func (p *parser) seen() (node, error) {
	t := p.next()
	n := &framesSeen{kind: Kind(t.text)}
	if !kinds[n.kind] {
		return nil, wrong(t.column, "%q is no kind of frame; there are http.req, http.res, store.commit, store.compact, cache.apply, "+
			"watch.event, watch.bookmark, watch.close, clock.tick and fault", t.text)
	}
	for {
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
		case !t.quoted && t.text != "" && t.text[0] >= 'A' && t.text[0] <= 'Z':
			p.next()
			n.word = t.text
		case !t.quoted && slices.Contains(comparisons, t.text):
			return p.compareWith(n)
		default:
			return n, nil
		}
	}
}

// scalarWord reads a number or a truth value; nil if a word is neither.
func scalarWord(text string) any {
	switch v := scalar(text).(type) {
	case bool, int64, float64:
		return v
	}
	return nil
}

// refOperand reads pods/a or pods/kube-system/a.
func refOperand(t token) (*reference, error) {
	parts := strings.Split(t.text, "/")
	for _, part := range parts {
		if part == "" {
			parts = nil
		}
	}
	switch len(parts) {
	case 2:
		return &reference{resource: parts[0], name: parts[1], column: t.column}, nil
	case 3:
		return &reference{resource: parts[0], namespace: parts[1], name: parts[2], column: t.column}, nil
	}
	return nil, wrong(t.column, "an object is RESOURCE/NAME or RESOURCE/NAMESPACE/NAME, as pods/a; %q is neither", t.text)
}

// count reads what follows the word: a resource, -n, -l, where.
func (p *parser) count() (*selection, error) {
	t := p.next()
	if t.text == "" || t.quoted || strings.IndexByte(operators, t.text[0]) >= 0 {
		return nil, wrong(t.column, "name a resource here, as count pods == 2")
	}
	s := &selection{resource: t.text}
	for {
		switch {
		case p.accept("-n"):
			s.namespace = p.next().text
		case p.accept("-l"):
			t := p.next()
			if !variable(t.text) {
				if _, err := selector.ParseLabels(t.text); err != nil {
					return nil, wrong(t.column, "%q is no label selector: %v", t.text, err)
				}
			}
			s.labels = t.text
		case p.accept("where"):
			n, err := p.not()
			if err != nil {
				return nil, err
			}
			s.where = n
		default:
			return s, nil
		}
	}
}

// every reads: RESOURCE [flags] TEST about each.
func (p *parser) every() (node, error) {
	s, err := p.count()
	if err != nil {
		return nil, err
	}
	n, err := p.not()
	return &forEvery{s, n}, err
}

// unique reads: RESOURCE [flags] PATH.
func (p *parser) unique() (node, error) {
	s, err := p.count()
	if err != nil {
		return nil, err
	}
	t := p.next()
	if !strings.HasPrefix(t.text, ".") {
		return nil, wrong(t.column, "unique needs a field, as unique pods .spec.nodeName")
	}
	f, err := parsePath(t)
	return &different{s, f}, err
}

// path is the way to a value: names, indices, and every element.
type path struct {
	text  string
	steps []step
}

type step struct {
	name  string
	index int
	kind  byte // '.': name, '#': index, '*': every element
}

// parsePath reads .a.b["c.d"][0][*].
func parsePath(t token) (path, error) {
	p := path{text: t.text}
	rest := t.text
	if rest == "." {
		return p, nil
	}
	for rest != "" {
		at := t.column + len(t.text) - len(rest)
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if end == 1 {
				return p, wrong(at, "the name of a field is missing after the dot")
			}
			p.steps = append(p.steps, step{name: rest[1:end], kind: '.'})
			rest = rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			return p, wrong(at, `after a field comes .name, [0], [*] or ["name"]`)
		}
		inner := rest[1:end]
		rest = rest[end+1:]
		name := strings.Trim(inner, `'"`)
		n, err := strconv.Atoi(inner)
		switch {
		case inner == "*":
			p.steps = append(p.steps, step{kind: '*'})
		case err == nil && n >= 0:
			p.steps = append(p.steps, step{index: n, kind: '#'})
		case name != inner && name != "":
			p.steps = append(p.steps, step{name: name, kind: '.'})
		default:
			return p, wrong(at, `in brackets stands a number, * or a name in quotes; %q is none`, inner)
		}
	}
	return p, nil
}
