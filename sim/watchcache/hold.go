package watchcache

import "errors"

// ErrBroken is the error of a stream whose connection is broken: the client has not received the end of the stream.
var ErrBroken = errors.New("watchcache: the connection of the watch is broken")

// Follow sets the position of the cache. The cache counts as having applied all commits up to p: the caller must apply the
// commits between the old position and p.
func (c *Cache) Follow(p *Position) { c.position, c.index = p, nil }

// Hold delays the stream to the client: frames and the end of the stream wait in the queue until Release. If the queue becomes too
// long, the watch ends like that of any slow client.
func (w *Watch) Hold() { w.hold(true) }

func (w *Watch) hold(held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
}

// Held reports whether the stream waits for Release.
func (w *Watch) Held() bool { return w.held }

// Release resumes a held stream and sends all frames that wait in the queue.
func (w *Watch) Release() {
	w.hold(false)
	w.wake()
}

// Break simulates a broken connection: waiting frames are lost, and the client sees an error instead of the end of the stream.
func (w *Watch) Break() {
	w.mu.Lock()
	w.queue, w.size, w.held, w.broken = nil, 0, false, true
	w.mu.Unlock()
	w.End() // must follow the line above, so that a reader that sees the end also sees that the connection is broken
	w.wake()
}

// Broken returns ErrBroken after Break. Callers check it after Take has reported the end of the stream.
func (w *Watch) Broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return ErrBroken
	}
	return nil
}

// Over reports whether nothing more will be sent to the client: the stream has ended and is not held.
func (w *Watch) Over() bool { return w.ended && !w.held }
