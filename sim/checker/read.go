package checker

import (
	"slices"
	"strconv"
	"strings"
)

// token is a continue token. It is valid only in its scope.
type token struct {
	scope Scope
	text  string
}

// page is the page of a list to which a continue token leads.
type page struct {
	rev   uint64 // the revision of the list; 0 for the newest
	after string // the key after which the list continues
}

// turnPages determines the page for each continue token.
func (e *Evidence) turnPages() {
	e.pages = map[token]page{}
	for _, c := range e.Calls {
		switch {
		case c.Verb != "list" || c.Next == "" || c.Returned == 0 || c.Broken:
		case c.Code == 410: // the rest of the list, at another revision
			e.pages[token{c.Scope, c.Next}] = page{0, e.pages[token{c.Scope, c.Continue}].after}
		case c.Done() && len(c.Objects) > 0:
			e.pages[token{c.Scope, c.Next}] = page{c.Rev, c.Objects[len(c.Objects)-1].key()}
		}
	}
}

// AtomicList checks that each list, page of a list, and initial state of a stream equals the state of the log at its
// revision.
func AtomicList(e *Evidence, report Report) {
	for _, c := range e.Calls {
		if c.Verb != "list" || !c.Done() {
			continue
		}
		var p page
		if c.Continue != "" {
			p = e.pages[token{c.Scope, c.Continue}]
			if p.rev != 0 && c.Rev != p.rev {
				report("%s: a page of the list at %d shows revision %d", c, p.rev, c.Rev)
			}
		}
		if c.Rev < e.From {
			continue // before the beginning of the history
		}
		if c.Rev > e.newest(c.Returned) {
			report("%s: the list is at %d, the store has only reached %d", c, c.Rev, e.newest(c.Returned))
			continue
		}
		e.atomicPage(report, c, p)
	}
	for _, v := range e.streams {
		if !v.Initial || v.part || !v.known || v.start < e.From {
			continue
		}
		var got []*Object
		for ev := range visibleEvents(v.initial) {
			got = append(got, ev.Object)
		}
		if want := e.state(&v.Scope, v.start); differs(want, got) {
			report("%s: the initial events are %s, the state at %d is %s", v, names(got), v.start, names(want))
		}
	}
}

// atomicPage checks the objects of one page, and whether there should be another page.
func (e *Evidence) atomicPage(report Report, c *Call, p page) {
	want := e.state(&c.Scope, c.Rev)
	for len(want) > 0 && p.after != "" && want[0].key() <= p.after {
		want = want[1:]
	}
	if c.Next != "" && len(c.Objects) > 0 && len(want) > len(c.Objects) {
		want = want[:len(c.Objects)] // a page may be shorter only if a token shows that more objects follow
	}
	if differs(want, c.Objects) {
		report("%s: the list at %d is %s, the state is %s", c, c.Rev, names(c.Objects), names(want))
	}
	if c.Limit > 0 && len(c.Objects) > c.Limit && c.Version != "0" {
		report("%s: %d objects on a page of %d", c, len(c.Objects), c.Limit)
	}
	if c.Next == "" {
		return
	}
	if p := e.pages[token{c.Scope, c.Next}]; e.after(&c.Scope, c.Rev, p.after) == 0 {
		report("%s: a token promises more at %d after %s, and there is nothing", c, c.Rev, p.after)
	}
}

// after returns the number of objects after a key, regardless of their labels.
func (e *Evidence) after(s *Scope, rev uint64, key string) (n int) {
	whole := Scope{Resource: s.Resource, Namespace: s.Namespace}
	for _, o := range e.state(&whole, rev) {
		if o.key() > key {
			n++
		}
	}
	return n
}

func differs(want, got []*Object) bool {
	return !slices.EqualFunc(want, got, func(o, g *Object) bool {
		return g.Namespace == o.Namespace && g.Name == o.Name && g.Rev == o.Rev && g.Digest == o.Digest
	})
}

// names formats objects as key@revision.
func names(list []*Object) string {
	out := make([]string, len(list))
	for i, o := range list {
		out[i] = o.key() + "@" + strconv.FormatUint(o.Rev, 10)
	}
	return "[" + strings.Join(out, " ") + "]"
}

// Fresh checks the revisions of reads. A read of the newest state must include every write that got a response before
// the read was sent. A read with NotOlderThan must not be older than its revision, and a read with Exact must be at its
// revision.
func Fresh(e *Evidence, report Report) {
	floor := e.floors()
	for i, c := range e.Calls {
		if c.Write() || c.Returned == 0 || c.Broken {
			continue
		}
		low, exact := floor[i], false
		n, _ := strconv.ParseUint(c.Version, 10, 64)
		switch p := e.pages[token{c.Scope, c.Continue}]; {
		case c.Continue != "" && p.rev != 0:
			continue // AtomicList has compared the revisions
		case c.Continue != "" || c.Version == "":
		case c.Version == "0":
			low = 0
		default:
			legacy := c.Match == "" && c.Limit > 0 && c.Scope.Name == "" // a limit does not apply to a single object
			low, exact = n, c.Verb == "list" && (c.Match == "Exact" || legacy)
		}
		switch {
		case c.Verb == "list" && c.Done() && c.Rev < low:
			report("%s: the list is at %d, not at %d or later", c, c.Rev, low)
		case c.Verb == "list" && c.Done() && exact && c.Rev != low:
			report("%s: the list is at %d, not at %d", c, c.Rev, low)
		case c.Verb == "get" && (c.Done() || c.Code == 404) && !e.possible(c, low):
			report("%s: %s is not what it was at any revision from %d to %d", c, found(c), low, e.newest(c.Returned))
		}
	}
}

func found(c *Call) string {
	if c.Code == 404 {
		return "404"
	}
	return "the object at " + strconv.FormatUint(c.Rev, 10)
}

// floors returns, for each call, the newest revision that was known before the call was sent.
func (e *Evidence) floors() []uint64 {
	out := make([]uint64, len(e.Calls))
	for i, c := range e.Calls {
		if e.timed() {
			out[i] = e.newest(c.Called - 1)
			continue
		}
		for _, p := range e.Calls { // the steps of commits are unknown, so use only the revisions in earlier responses
			if p.Returned != 0 && p.Returned < c.Called && p.Done() && p.Verb != "delete" && p.Verb != "deletecollection" {
				out[i] = max(out[i], p.Rev)
			}
		}
	}
	return out
}

// possible reports whether a get returned the state of the object at some revision between low and its response.
func (e *Evidence) possible(c *Call, low uint64) bool {
	high := e.newest(c.Returned)
	return same(c, e.at(c.ID, low)) || slices.ContainsFunc(e.versions[c.ID], func(v version) bool {
		return v.rev > low && v.rev <= high && same(c, v.obj)
	})
}

func same(c *Call, o *Object) bool {
	if c.Code == 404 || o == nil {
		return c.Code == 404 && o == nil
	}
	return o.Rev == c.Rev
}
