package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// thing returns a version of an object.
func thing(name string, rev uint64, label, uid string) *Object {
	return &Object{Name: name, Rev: rev, UID: uid, Labels: map[string]string{"l": label}, Digest: rev}
}

// gone returns the object in the DELETED event of a watch: unchanged except for the revision.
func gone(o *Object, rev uint64) *Object {
	c := *o
	c.Rev = rev
	return &c
}

func told(kind string, o *Object) Event { return Event{Type: kind, Object: o, Rev: o.Rev, Step: 1000} }

func mark(rev uint64, end bool) Event {
	return Event{Type: Bookmark, Rev: rev, InitialEnd: end, Step: 1000}
}

// right returns a history in which every promise is kept:
//
//	log    11 +a x ─ 12 +b y ─ 13 a x ─ 14 b x ─ 15 -a ─ 16 +a x ─ 17 b y
//	1      a@11 b@12 (12)      a@13 ─── b@14 (14)  -a ──── +a ──── b@17 (17)     everything, from the state at 12
//	2                          a@13 ─── +b ────── -a ──── +a ──── -b             l=x, after 12
//	3                 a@11 b@12 a@13 ── b@14 ─ …                                 everything, without bookmarks
//
// A commit happens at a step of ten times its revision; its call is sent one step before and gets its response one step
// after.
func right() *History {
	a11, b12, a13, b14 := thing("a", 11, "x", "u1"), thing("b", 12, "y", "u2"), thing("a", 13, "x", "u1"), thing("b", 14, "x", "u2")
	a16, b17 := thing("a", 16, "x", "u3"), thing("b", 17, "y", "u2")
	h := &History{From: 10, Settled: true}
	commit := func(verb string, based uint64, name string, rev uint64, o *Object) {
		id := ID{Resource: "things", Name: name}
		h.Commits = append(h.Commits, Commit{ID: id, Rev: rev, Object: o, Step: int64(rev) * 10})
		c := &Call{N: len(h.Calls) + 1, Client: "w", Verb: verb, ID: id, Based: based, Called: int64(rev)*10 - 1, Returned: int64(rev)*10 + 1, Code: 200}
		if o != nil {
			c.Rev, c.Objects = o.Rev, []*Object{o}
		}
		h.Calls = append(h.Calls, c)
	}
	commit("create", 0, "a", 11, a11)
	commit("create", 0, "b", 12, b12)
	commit("update", 11, "a", 13, a13)
	commit("patch", 0, "b", 14, b14)
	commit("delete", 13, "a", 15, nil)
	commit("create", 0, "a", 16, a16)
	commit("update", 14, "b", 17, b17)
	all := Scope{Resource: "things"}
	list := func(at int64, c Call) {
		c.N, c.Client, c.Verb, c.Scope, c.Code, c.Called, c.Returned = len(h.Calls)+1, "r", "list", all, 200, at, at+1
		h.Calls = append(h.Calls, &c)
	}
	list(132, Call{Limit: 1, Rev: 13, Objects: []*Object{a13}, Next: "t"})
	list(142, Call{Limit: 1, Rev: 13, Objects: []*Object{b12}, Continue: "t"})
	list(172, Call{Rev: 17, Objects: []*Object{a16, b17}})
	list(182, Call{Version: "14", Match: "Exact", Rev: 14, Objects: []*Object{a13, b14}})
	for _, at := range []int64{145, 175} {
		o := []*Object{b14, b17}[(at-145)/30]
		h.Calls = append(h.Calls, &Call{N: 50, Client: "r", Verb: "get", ID: ID{Resource: "things", Name: "b"}, Called: at, Returned: at + 1, Code: 200, Rev: o.Rev, Objects: []*Object{o}})
	}
	live := []Event{told(Modified, a13), told(Modified, b14), told(Deleted, gone(a13, 15)), told(Added, a16), told(Modified, b17)}
	h.Streams = []*Stream{
		{N: 1, Client: "c", Scope: all, Initial: true, Bookmarks: true, Called: 121, Events: []Event{told(Added, a11), told(Added, b12),
			mark(12, true), live[0], live[1], mark(14, false), live[2], live[3], live[4], mark(17, false)}},
		{N: 2, Client: "c", Scope: Scope{Resource: "things", Selector: "l=x"}, Version: "12", Called: 121, Events: []Event{live[0],
			told(Added, b14), live[2], live[3], told(Deleted, gone(b14, 17))}},
		{N: 3, Client: "c", Scope: all, Initial: true, Called: 121, Events: append([]Event{told(Added, a11), told(Added, b12)}, live...)},
	}
	return h
}

// change modifies an event of a stream without modifying data that it shares with other events.
func change(s *Stream, i int, f func(ev *Event, o *Object)) {
	ev := s.Events[i]
	if ev.Object != nil {
		o := *ev.Object
		ev.Object = &o
	}
	f(&ev, ev.Object)
	s.Events[i] = ev
}

// TestPlanted breaks each promise in the history of right, and checks that the violation is found.
func TestPlanted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		bug     string
		promise string
		plant   func(h *History, all, x *Stream)
	}{
		{"two events in the wrong order", "Ordered", func(h *History, all, x *Stream) { all.Events[3], all.Events[4] = all.Events[4], all.Events[3] }},
		{"an event told twice", "Unique", func(h *History, all, x *Stream) { all.Events = slices.Insert(all.Events, 4, all.Events[3]) }},
		{"an initial event told twice", "Unique", func(h *History, all, x *Stream) { all.Events = slices.Insert(all.Events, 1, all.Events[0]) }},
		{"an event lost", "Reliable", func(h *History, all, x *Stream) { all.Events = slices.Delete(all.Events, 4, 5) }},
		{"an event lost behind a selector", "Reliable", func(h *History, all, x *Stream) { x.Events = slices.Delete(x.Events, 1, 2) }},
		{"the first event after the revision lost", "Resumable", func(h *History, all, x *Stream) { x.Events = x.Events[1:] }},
		{"what was known told again", "Resumable", func(h *History, all, x *Stream) {
			x.Version = "13"
		}},
		{"a bookmark ahead of its events", "Bookmarkable", func(h *History, all, x *Stream) { all.Events[5].Rev = 15 }},
		{"a bookmark of the future", "Bookmarkable", func(h *History, all, x *Stream) { all.Events[9].Rev = 18 }},
		{"an end of the state in the future", "Bookmarkable", func(h *History, all, x *Stream) { all.Events[2].Step = 115 }},
		{"an event that the selector keeps out", "Filtered", func(h *History, all, x *Stream) {
			x.Version = "11"
			x.Events = slices.Insert(x.Events, 0, told(Added, thing("b", 12, "y", "u2")))
		}},
		{"leaving the selector told as a change", "Filtered", func(h *History, all, x *Stream) { x.Events[4].Type = Modified }},
		{"entering the selector told as a change", "Filtered", func(h *History, all, x *Stream) { x.Events[1].Type = Modified }},
		{"an initial event that does not match", "Filtered", func(h *History, all, x *Stream) { all.Scope.Selector = "l=x" }},
		{"no end of the initial events", "InitialEventsEnd", func(h *History, all, x *Stream) { all.Events = slices.Delete(all.Events, 2, 3) }},
		{"an end that never comes", "InitialEventsEnd", func(h *History, all, x *Stream) { all.Events = all.Events[:2] }},
		{"two ends of the initial events", "InitialEventsEnd", func(h *History, all, x *Stream) { all.Events[5].InitialEnd = true }},
		{"an end that nobody asked for", "InitialEventsEnd", func(h *History, all, x *Stream) {
			x.Events = append(x.Events, mark(17, true))
		}},
		{"initial events out of order", "InitialEventsEnd", func(h *History, all, x *Stream) { all.Events[0], all.Events[1] = all.Events[1], all.Events[0] }},
		{"a silent stream", "Delivered", func(h *History, all, x *Stream) { x.Events = x.Events[:3] }},
		{"a silent stream without bookmarks", "Delivered", func(h *History, all, x *Stream) {
			h.Streams[2].Events = h.Streams[2].Events[:1]
		}},
		{"an object that goes back", "Monotone", func(h *History, all, x *Stream) {
			all.Events = append(all.Events, told(Modified, thing("b", 14, "x", "u2")))
		}},
		{"a client whose reads go back", "Monotone", func(h *History, all, x *Stream) {
			back := *h.Calls[len(h.Calls)-2]
			back.Called, back.Returned = 190, 191
			h.Calls = append(h.Calls, &back)
		}},
		{"another uid in an event", "UIDConsistent", func(h *History, all, x *Stream) {
			change(all, 4, func(ev *Event, o *Object) { o.UID = "u9" })
		}},
		{"a uid that changes", "UIDConsistent", func(h *History, all, x *Stream) { h.Commits[2].Object.UID = "u9" }},
		{"a uid that comes again", "UIDConsistent", func(h *History, all, x *Stream) { h.Commits[5].Object.UID = "u1" }},
		{"a uid of two objects", "UIDConsistent", func(h *History, all, x *Stream) { h.Commits[1].Object.UID = "u1" }},
		{"an object that was never there", "Faithful", func(h *History, all, x *Stream) {
			change(all, 8, func(ev *Event, o *Object) { o.Rev, ev.Rev = 16, 16 })
		}},
		{"another content of a revision", "Faithful", func(h *History, all, x *Stream) {
			change(x, 0, func(ev *Event, o *Object) { o.Digest = 9 })
		}},
		{"a list of two revisions", "AtomicList", func(h *History, all, x *Stream) {
			h.Calls[9].Objects = []*Object{h.Commits[5].Object, h.Commits[3].Object}
		}},
		{"a list out of order", "AtomicList", func(h *History, all, x *Stream) { slices.Reverse(h.Calls[9].Objects) }},
		{"a page of another snapshot", "AtomicList", func(h *History, all, x *Stream) {
			h.Calls[8].Rev, h.Calls[8].Objects = 14, []*Object{h.Commits[3].Object}
		}},
		{"a page that leaves something out", "AtomicList", func(h *History, all, x *Stream) { h.Calls[8].Objects = nil }},
		{"a token behind the end", "AtomicList", func(h *History, all, x *Stream) { h.Calls[8].Next = "t2" }},
		{"a page without a token", "AtomicList", func(h *History, all, x *Stream) { h.Calls[7].Next = "" }},
		{"initial events that are no state", "AtomicList", func(h *History, all, x *Stream) { all.Events = all.Events[1:] }},
		{"a stale list that says it is new", "Fresh", func(h *History, all, x *Stream) {
			h.Calls[9].Rev, h.Calls[9].Objects = 14, h.Calls[10].Objects
		}},
		{"another revision than the exact one", "Fresh", func(h *History, all, x *Stream) { h.Calls[10].Version = "13" }},
		{"a list older than it was asked to be", "Fresh", func(h *History, all, x *Stream) {
			h.Calls[10].Match, h.Calls[10].Version = "NotOlderThan", "15"
		}},
		{"a stale get", "Fresh", func(h *History, all, x *Stream) { h.Calls[len(h.Calls)-1].Rev = 14 }},
		{"a get that misses what is there", "Fresh", func(h *History, all, x *Stream) { h.Calls[len(h.Calls)-1].Code = 404 }},
		{"a write that is lost", "Accounted", func(h *History, all, x *Stream) { h.Calls[1].Rev = 99 }},
		{"a write that nobody asked for", "Accounted", func(h *History, all, x *Stream) { h.Calls[3].Rev, h.Calls[3].Code = 0, 409 }},
		{"a create over what is there", "Accounted", func(h *History, all, x *Stream) { h.Calls[2].Verb = "create" }},
		{"one object for two creates", "Accounted", func(h *History, all, x *Stream) { h.Calls = append(h.Calls, h.Calls[0]) }},
		{"an update over somebody else's", "NoLostUpdate", func(h *History, all, x *Stream) { h.Calls[6].Based = 12 }},
		{"a delete of another revision", "NoLostUpdate", func(h *History, all, x *Stream) { h.Calls[4].Based = 11 }},
	} {
		t.Run(c.bug, func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			h := right()
			is.Equal(len(Check(h)), 0) // the unmodified history keeps all promises
			c.plant(h, h.Streams[0], h.Streams[1])
			found := slices.ContainsFunc(Check(h), func(v Violation) bool { return v.Promise == c.promise })
			is.True(found) // the check named after the promise finds the bug
		})
	}
}

// TestPromises checks the text of a violation, and that each promise has a description.
func TestPromises(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := right()
	h.Streams[0].Events = slices.Delete(h.Streams[0].Events, 4, 5)
	found := Check(h)
	i := slices.IndexFunc(found, func(v Violation) bool { return v.Promise == "Reliable" })
	is.Equal(fmt.Sprint(found[i]), `Reliable: between two events of a watch no event is missing: watch 1 (c: things/  rv=""): `+
		`MODIFIED things b at 14 is missing between 13 and 17`)
	for _, p := range Promises {
		is.True(p.Text != "" && !strings.HasSuffix(p.Text, ".")) // a promise has a description
	}
}

// TestRead checks that ReadEvent and ReadAnswer parse the server's bytes into comparable objects: kind, apiVersion and
// the revision do not change the digest.
func TestRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := &Stream{Scope: Scope{Resource: "configmaps"}}
	is.NoErr(s.ReadEvent([]byte(`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"7","labels":{"l":"x"}},"data":{"k":"v"}}}`), 1))
	is.NoErr(s.ReadEvent([]byte(`{"type":"BOOKMARK","object":{"kind":"ConfigMap","metadata":{"resourceVersion":"8","annotations":{"k8s.io/initial-events-end":"true"}}}}`), 2))
	is.NoErr(s.ReadEvent([]byte(`{"type":"ERROR","object":{"kind":"Status","code":410}}`), 3))
	is.True(s.Events[1].InitialEnd)
	is.Equal(s.Events[2].Code, 410)
	c := &Call{Verb: "list", Scope: s.Scope, Returned: 1}
	is.NoErr(c.ReadAnswer(200, []byte(`{"kind":"ConfigMapList","metadata":{"resourceVersion":"9","continue":"t"},"items":[{"metadata":{"labels":{"l":"x"},"name":"a","namespace":"n","resourceVersion":"7","uid":"u"},"data":{"k":"v"}}]}`)))
	is.Equal(c.Objects[0], s.Events[0].Object) // the item of the list is the object of the event
	is.Equal(c.Rev, uint64(9))
	is.Equal(c.Next, "t")
	is.True((&Call{Verb: "get"}).ReadAnswer(200, []byte(`{"kind":`)) != nil) // a truncated response
}

// FuzzRead checks that arbitrary responses and events are either parsed or rejected.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}}`))
	f.Add([]byte(`{"kind":"List","metadata":{"resourceVersion":"9"},"items":[{"metadata":null},3]}`))
	f.Add([]byte(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"x"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = (&Stream{}).ReadEvent(data, 1)
		for _, verb := range []string{"get", "list"} {
			c := &Call{Verb: verb, Returned: 1}
			if err := c.ReadAnswer(200, data); err != nil && !c.Broken {
				t.Errorf("%s: an answer that cannot be read is not broken: %v", verb, err)
			}
		}
	})
}

// TestRebuild checks that Rebuild reconstructs a complete log from watches without selectors.
func TestRebuild(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := right()
	all := h.Streams[0]
	log := &Stream{Scope: all.Scope, Version: "12", Events: slices.Clone(all.Events[3:])}
	h.Calls, h.Streams = h.Calls[2:], h.Streams[1:2]
	Rebuild(h, []*Call{{Scope: all.Scope, Rev: 12, Objects: []*Object{h.Commits[0].Object, h.Commits[1].Object}}}, []*Stream{log})
	is.Equal(len(h.Commits), 5)
	is.Equal(Check(h), nil) // all received data is consistent
	h.Calls[7].Objects = h.Calls[7].Objects[:1]
	is.Equal(Check(h)[0].Promise, "AtomicList") // an incomplete list is not
}
