package watchcache

import "time"

const (
	// bookmarkPeriod is the interval of bookmarks for a watch that allows them; another comes bookmarkMargin before its end.
	bookmarkPeriod = time.Minute
	bookmarkMargin = 2 * time.Second
)

// The timers of a watch: the one that ends it, and the one of its next bookmark.
const (
	timeoutTimer = iota
	bookmarkTimer
	timers
)

// Clock runs the timers of watches. The functions run with the Cluster's lock held.
type Clock interface {
	Now() time.Time
	After(d time.Duration, f func()) (stop func())
}

// Schedule ends the watch at its timeout, and sends bookmarks until then if the client allows them. A watch with a timeout of 0 does
// not end by itself.
func (w *Watch) Schedule(c Clock, timeout time.Duration) {
	if w.ended {
		return
	}
	var end time.Time
	if timeout > 0 {
		end = c.Now().Add(timeout)
		w.stops[timeoutTimer] = c.After(timeout, w.timeOut)
	}
	if w.bookmarks {
		w.scheduleBookmark(c, end)
	}
}

// timeOut ends the stream unless it is stalled.
func (w *Watch) timeOut() {
	if !w.stalled {
		w.End()
	}
}

// scheduleBookmark sets the timer of the next bookmark of a watch that ends at end, or does not if that is zero.
func (w *Watch) scheduleBookmark(c Clock, end time.Time) {
	next := bookmarkPeriod
	if !end.IsZero() {
		next = min(next, end.Sub(c.Now())-bookmarkMargin)
	}
	if next <= 0 || w.ended {
		return
	}
	w.stops[bookmarkTimer] = c.After(next, func() {
		w.Bookmark(false)
		w.scheduleBookmark(c, end)
	})
}
