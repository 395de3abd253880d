package watchcache

import "time"

const (
	// bookmarkPeriod is the interval of bookmarks for a watch that allows them. The last bookmark is sent bookmarkMargin before
	// the watch ends.
	bookmarkPeriod = time.Minute
	bookmarkMargin = 2 * time.Second
)

// The timers of a watch: one for its end, and one for its next bookmark.
const (
	timeoutTimer = iota
	bookmarkTimer
	timers
)

// Clock runs the timers of watches. It calls the functions with the Cluster's lock held.
type Clock interface {
	Now() time.Time
	After(d time.Duration, f func()) (stop func())
}

// Schedule starts the timers that send bookmarks, if the client allows them, and end the watch after the timeout. If the
// timeout is 0, the watch does not end by itself.
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

// timeOut ends the stream when its timeout has passed. A stalled stream stays open.
func (w *Watch) timeOut() {
	if !w.stalled {
		w.End()
	}
}

// scheduleBookmark sets the timer for the next bookmark. end is the time at which the watch ends, or the zero time if it does not
// time out.
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
