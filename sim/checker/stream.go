package checker

import (
	"iter"
	"slices"
	"strconv"
)

// parsedStream is a stream taken apart:
//
//	ADDED a ─ ADDED b ─ BOOKMARK 4002 end ─ MODIFIED 4003 ─ BOOKMARK 4003 ─ ERROR
//	└──── initial ────┘     start 4002      └─────── live ───────┘
type parsedStream struct {
	*Stream
	initial []Event
	live    []Event // events and bookmarks, no errors
	marks   int     // bookmarks that end the initial events
	start   uint64  // revision after which live events begin
	known   bool    // start is known
	part    bool    // the stream broke off before the initial events ended
}

// parseStream splits a stream into its parts.
func (e *Evidence) parseStream(s *Stream) *parsedStream {
	v := &parsedStream{Stream: s}
	events := slices.DeleteFunc(slices.Clone(s.Events), func(ev Event) bool { return ev.Type == Error })
	end := -1
	for i := range events {
		if events[i].InitialEnd {
			if v.marks++; end < 0 {
				end = i
			}
		}
	}
	if !s.Initial {
		v.live = events
		n, err := strconv.ParseUint(s.Version, 10, 64)
		v.start, v.known = n, err == nil && n > 0
		return v
	}
	switch {
	case end >= 0:
		v.initial, v.start, v.known = events[:end], events[end].Rev, true
		v.live = events[end+1:]
	case s.Bookmarks:
		v.initial, v.part = events, true
	default:
		e.guess(v, events)
	}
	return v
}

// guess finds where the initial events of a stream without bookmarks end: at the state of a revision that they show and
// whose later events follow, the newest such revision. A stream that fits nowhere is taken to begin where it fits best;
// that breaks promises.
func (e *Evidence) guess(v *parsedStream, events []Event) {
	low, _ := strconv.ParseUint(v.Version, 10, 64)
	if v.Version == "" && e.timed() {
		low = e.newest(v.Called - 1)
	}
	low, best := max(low, e.From), -1
	for rev := e.End(); rev >= low; rev-- {
		if rev > e.From && e.commit(rev) == nil {
			continue
		}
		state, n := len(e.state(&v.Scope, rev)), e.fit(v, events, rev)
		if n > best {
			best = n
			size := min(state, len(events))
			v.initial, v.live, v.start, v.known = events[:size], events[size:], rev, true
			v.part = state > len(events)
		}
		if n == len(events) && (!v.part || !e.Settled || v.Ended) {
			return
		}
	}
}

// fit returns the number of events that match a stream that begins with the state of a revision.
func (e *Evidence) fit(v *parsedStream, events []Event, rev uint64) int {
	n := 0
	for _, o := range e.state(&v.Scope, rev) {
		if n == len(events) {
			return n
		}
		if ev := &events[n]; ev.Type != Added || ev.Object.Name != o.Name || ev.Object.Namespace != o.Namespace || ev.Rev != o.Rev {
			return n
		}
		n++
	}
	for _, d := range e.expectedEvents(&v.Scope, rev, e.End()) {
		if n == len(events) || events[n].Rev != d.rev {
			return n
		}
		n++
	}
	return n
}

// changes yields the live events except bookmarks, with their indexes.
func (v *parsedStream) changes(yield func(i int, ev *Event) bool) {
	for i := range v.live {
		if v.live[i].Type != Bookmark && !yield(i, &v.live[i]) {
			return
		}
	}
}

// visibleEvents yields events that show an object.
func visibleEvents(events []Event) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		for i := range events {
			if events[i].Object != nil && !yield(&events[i]) {
				return
			}
		}
	}
}

// id returns the ID of the event's object.
func (v *parsedStream) id(ev *Event) ID {
	return ID{v.Scope.Resource, ev.Object.Namespace, ev.Object.Name}
}

// revs returns the revisions of the live events, and where each was received first.
func (v *parsedStream) revs() map[uint64]int {
	out := map[uint64]int{}
	for i, ev := range v.changes {
		if _, ok := out[ev.Rev]; !ok {
			out[ev.Rev] = i
		}
	}
	return out
}
