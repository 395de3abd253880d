package checker

import "slices"

// Ordered checks that revisions do not decrease within a stream, including bookmarks. It ignores initial events, which
// are sorted by key.
func Ordered(e *Evidence, report Report) {
	for _, v := range e.streams {
		last := uint64(0)
		for i := range v.live {
			ev := &v.live[i]
			if ev.Rev < last {
				report("%s: %s came after revision %d", v, ev, last)
			}
			last = max(last, ev.Rev)
		}
	}
}

// Unique checks that a stream has one event per revision, and one initial event per object.
func Unique(e *Evidence, report Report) {
	for _, v := range e.streams {
		objects := map[ID]bool{}
		for ev := range visibleEvents(v.initial) {
			if objects[v.id(ev)] {
				report("%s: initial %s came twice", v, ev)
			}
			objects[v.id(ev)] = true
		}
		revs := map[uint64]bool{}
		for _, ev := range v.changes {
			if revs[ev.Rev] {
				report("%s: %s came twice", v, ev)
			}
			revs[ev.Rev] = true
		}
	}
}

// Reliable checks that a stream contains all events of the log between its first and its last event.
func Reliable(e *Evidence, report Report) {
	for _, v := range e.streams {
		revs := v.revs()
		first, last := uint64(0), uint64(0)
		for rev := range revs { // the order does not matter: only the minimum and the maximum are used
			if first == 0 || rev < first {
				first = rev
			}
			last = max(last, rev)
		}
		if first == 0 {
			continue
		}
		for _, d := range e.expectedEvents(&v.Scope, max(first, v.start), last) {
			if _, ok := revs[d.rev]; !ok {
				report("%s: %s %s at %d is missing between %d and %d", v, d.kind, d.id, d.rev, first, last)
			}
		}
	}
}

// Resumable checks the beginning of a stream: the first event must be the first one after the revision at which the
// watch began.
func Resumable(e *Evidence, report Report) {
	for _, v := range e.streams {
		first := uint64(0)
		for _, ev := range v.changes {
			if v.known && ev.Rev <= v.start {
				report("%s: %s is not after revision %d, with which the watch began", v, ev, v.start)
			} else if first == 0 || ev.Rev < first {
				first = ev.Rev
			}
		}
		if !v.known || first == 0 {
			continue
		}
		for _, d := range e.expectedEvents(&v.Scope, v.start, first-1) {
			report("%s: %s %s at %d is missing: the watch began after %d and its first event is at %d", v, d.kind, d.id,
				d.rev, v.start, first)
		}
	}
}

// Bookmarkable checks that a bookmark follows all events up to its revision and precedes all later ones, and that its
// revision is not newer than the store.
func Bookmarkable(e *Evidence, report Report) {
	for _, v := range e.streams {
		if !v.known {
			continue
		}
		revs := v.revs()
		delivered := v.start // bookmarks up to here have been checked
		if v.marks > 0 {
			if end := v.mark(); end.Rev > e.newest(end.Step) {
				report("%s: %s: the store has only reached %d", v, end, e.newest(end.Step))
			}
		}
		for i := range v.live {
			ev := &v.live[i]
			switch {
			case ev.Type != Bookmark && ev.Rev <= delivered && ev.Rev > v.start:
				report("%s: %s came after the bookmark at %d", v, ev, delivered)
			case ev.Type != Bookmark:
				continue
			case ev.Rev > e.newest(ev.Step) && ev.Rev > v.start:
				report("%s: %s: the store has only reached %d", v, ev, e.newest(ev.Step))
			}
			for _, d := range e.expectedEvents(&v.Scope, delivered, ev.Rev) {
				if at, ok := revs[d.rev]; !ok || at > i {
					report("%s: %s: %s %s at %d had not been delivered", v, ev, d.kind, d.id, d.rev)
				}
			}
			if ev.Type == Bookmark {
				delivered = max(delivered, ev.Rev)
			}
		}
	}
}

// mark returns the bookmark that ends the initial events.
func (v *parsedStream) mark() *Event {
	i := slices.IndexFunc(v.Events, func(ev Event) bool { return ev.InitialEnd })
	return &v.Events[i]
}

// Filtered checks that the type of each event matches the effect of the commit on the selector.
func Filtered(e *Evidence, report Report) {
	for _, v := range e.streams {
		for i := range v.initial {
			if ev := &v.initial[i]; ev.Type != Bookmark && (ev.Type != Added || !e.matches(&v.Scope, ev.Object)) {
				report("%s: initial %s is not an ADDED that matches the selector", v, ev)
			}
		}
		for _, ev := range v.changes {
			c := e.commit(ev.Rev)
			if c == nil || c.ID != v.id(ev) {
				report("%s: %s: there is no such commit", v, ev)
				continue
			}
			switch d := e.change(&v.Scope, c); d.kind {
			case ev.Type:
			case "":
				report("%s: %s: the object matches neither before nor after", v, ev)
			default:
				report("%s: %s should be %s", v, ev, d.kind)
			}
		}
	}
}

// InitialEventsEnd checks that exactly one bookmark ends the initial events of a watch that requested them with
// bookmarks, that other watches have no such bookmark, and that the initial events before it are sorted by key.
func InitialEventsEnd(e *Evidence, report Report) {
	for _, v := range e.streams {
		early := slices.ContainsFunc(v.Events, func(ev Event) bool {
			return ev.Type == Bookmark || ev.Type == Modified || ev.Type == Deleted
		})
		switch asked := v.Initial && v.Bookmarks; {
		case !asked && v.marks > 0:
			report("%s: a bookmark that ends initial events, which was not requested", v)
		case v.marks > 1:
			report("%s: initial events end %d times", v, v.marks)
		case asked && v.marks == 0 && e.Settled && !v.Ended:
			report("%s: initial events never end: %d events have come", v, len(v.Events))
		case asked && v.marks == 0 && early:
			report("%s: other events come, and the initial ones have not ended", v)
		}
		last := ""
		for ev := range visibleEvents(v.initial) {
			if key := v.id(ev).Key(); key < last {
				report("%s: initial %s came after %s", v, ev, last)
			} else {
				last = key
			}
		}
	}
}

// Delivered checks, in a settled history, that each stream that has not ended is complete.
func Delivered(e *Evidence, report Report) {
	for _, v := range e.streams {
		if !e.Settled || v.Ended || !v.known {
			continue
		}
		revs := v.revs()
		if v.part {
			report("%s: the initial events are not all there: %d have come", v, len(v.initial))
		}
		for _, d := range e.expectedEvents(&v.Scope, v.start, e.End()) {
			if _, ok := revs[d.rev]; !ok {
				report("%s: %s %s at %d never came", v, d.kind, d.id, d.rev)
			}
		}
	}
}
