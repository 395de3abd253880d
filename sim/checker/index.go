package checker

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// Evidence is a History with the indexes that the checks use.
//
//	versions   configmaps default/a: 4001 {…} ─ 4004 {…} ─ 4007 deleted     per object, oldest first
//	ids        configmaps: default/a, default/b, kube-public/a              per resource, in the order of lists
//	log        configmaps: 4001 ─ 4003 ─ 4004 ─ 4007                        per resource, its commits
type Evidence struct {
	*History
	versions map[ID][]version
	ids      map[string][]ID
	log      map[string][]int // indexes of Commits
	labels   labels
	streams  []*parsedStream
	pages    map[token]page
}

// version is the state of an object from a revision on. obj is nil if the object does not exist.
type version struct {
	rev uint64
	obj *Object
}

// Index prepares a history for the checks.
func Index(h *History) *Evidence {
	e := &Evidence{History: h, versions: map[ID][]version{}, ids: map[string][]ID{}, log: map[string][]int{}, labels: labels{}}
	for _, c := range h.Before {
		e.versions[c.ID] = append(e.versions[c.ID], version{c.Rev, c.Object})
		e.ids[c.Resource] = append(e.ids[c.Resource], c.ID)
	}
	for i, c := range h.Commits {
		if len(e.versions[c.ID]) == 0 {
			e.ids[c.Resource] = append(e.ids[c.Resource], c.ID)
		}
		e.versions[c.ID] = append(e.versions[c.ID], version{c.Rev, c.Object})
		e.log[c.Resource] = append(e.log[c.Resource], i)
	}
	for _, ids := range e.ids { // the order does not matter: each is sorted
		slices.SortStableFunc(ids, func(a, b ID) int { return strings.Compare(a.Key(), b.Key()) })
	}
	for _, s := range h.Streams {
		e.streams = append(e.streams, e.parseStream(s))
	}
	e.turnPages()
	return e
}

// at returns an object at a revision, or nil if it did not exist.
func (e *Evidence) at(id ID, rev uint64) *Object {
	list := e.versions[id]
	i := sort.Search(len(list), func(i int) bool { return list[i].rev > rev })
	if i == 0 {
		return nil
	}
	return list[i-1].obj
}

// matches reports whether an object is in a scope. It returns false for nil.
func (e *Evidence) matches(s *Scope, o *Object) bool {
	return o != nil && (s.Namespace == "" || s.Namespace == o.Namespace) && (s.Name == "" || s.Name == o.Name) &&
		(s.Selector == "" || e.labels.of(s.Selector).Matches(o.Labels))
}

// state returns the objects of a scope at a revision, in the order of lists.
func (e *Evidence) state(s *Scope, rev uint64) []*Object {
	var out []*Object
	for _, id := range e.ids[s.Resource] {
		if o := e.at(id, rev); e.matches(s, o) {
			out = append(out, o)
		}
	}
	return out
}

// expectedEvent is an event that a watch must deliver.
type expectedEvent struct {
	kind string
	rev  uint64
	id   ID
}

// change returns the event that a commit causes in a scope. kind is "" if it causes no event.
func (e *Evidence) change(s *Scope, c *Commit) expectedEvent {
	now, was := e.matches(s, c.Object), e.matches(s, e.at(c.ID, c.Rev-1))
	d := expectedEvent{rev: c.Rev, id: c.ID}
	switch {
	case now && was:
		d.kind = Modified
	case now:
		d.kind = Added
	case was:
		d.kind = Deleted
	}
	return d
}

// expectedEvents returns the events that a watch of a scope must deliver for the revisions from after+1 to until.
func (e *Evidence) expectedEvents(s *Scope, after, until uint64) []expectedEvent {
	list := e.log[s.Resource]
	i := sort.Search(len(list), func(i int) bool { return e.Commits[list[i]].Rev > after })
	var out []expectedEvent
	for _, at := range list[i:] {
		c := &e.Commits[at]
		if c.Rev > until {
			break
		}
		if d := e.change(s, c); d.kind != "" {
			out = append(out, d)
		}
	}
	return out
}

// commit returns the commit with the given revision, or nil.
func (e *Evidence) commit(rev uint64) *Commit {
	i := sort.Search(len(e.Commits), func(i int) bool { return e.Commits[i].Rev >= rev })
	if i == len(e.Commits) || e.Commits[i].Rev != rev {
		return nil
	}
	return &e.Commits[i]
}

// timed reports whether the steps of commits are known.
func (e *Evidence) timed() bool { return len(e.Commits) == 0 || e.Commits[0].Step != 0 }

// newest returns the newest revision of the store at a step. If the steps of commits are unknown, it returns the
// largest possible revision.
func (e *Evidence) newest(step int64) uint64 {
	if !e.timed() {
		return math.MaxUint64
	}
	i := sort.Search(len(e.Commits), func(i int) bool { return e.Commits[i].Step > step })
	if i == 0 {
		return e.From
	}
	return e.Commits[i-1].Rev
}
