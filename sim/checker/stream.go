package checker

import (
	"iter"
	"slices"
	"strconv"
)

// parsedStream is a stream split into its parts:
//
//	ADDED a ─ ADDED b ─ BOOKMARK 4002 end ─ MODIFIED 4003 ─ BOOKMARK 4003 ─ ERROR
//	└──── initial ────┘     start 4002      └─────── live ───────┘
type parsedStream struct {
	*Stream
	initial []Event
	live    []Event // events and bookmarks, without errors
	marks   int     // the number of bookmarks that end the initial events
	start   uint64  // the revision after which live events begin
	known   bool    // start is known
	part    bool    // the stream ended before the end of the initial events
}

// parseStream splits the events of a stream into the initial events and the live ones. Error events are omitted.
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

// guess determines the end of the initial events of a stream without bookmarks. It looks for the newest revision whose
// state equals the initial events and whose later events follow. If no revision fits completely, it uses the one that
// fits best; the checks then find broken promises.
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

// fit returns the number of events that match a stream beginning with the state at a revision.
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

// visibleEvents yields events that contain an object.
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

// revs returns the revisions of the live events, and the index at which each was first received.
func (v *parsedStream) revs() map[uint64]int {
	out := map[uint64]int{}
	for i, ev := range v.changes {
		if _, ok := out[ev.Rev]; !ok {
			out[ev.Rev] = i
		}
	}
	return out
}
