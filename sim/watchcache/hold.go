package watchcache

import "errors"

// ErrBroken is the error of a broken connection, on which the client has not seen the end of the stream.
var ErrBroken = errors.New("watchcache: the connection of the watch is broken")

// Follow makes p the position of the cache, up to which it has applied all commits. The caller must apply the commits between the
// old position and p.
func (c *Cache) Follow(p *Position) { c.position = p }

// Hold stops the stream on its way to the client: frames wait in the queue, and so does the end of the stream, until
// Release. A watch whose queue grows too long meanwhile is cut off as any other that is not read.
func (w *Watch) Hold() { w.hold(true) }

func (w *Watch) hold(held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = held
}

// Held reports whether the stream waits for Release.
func (w *Watch) Held() bool { return w.held }

// Release lets a held stream go on with all that waits.
func (w *Watch) Release() {
	w.hold(false)
	w.wake()
}

// Break breaks the connection: waiting frames are lost, and the client sees an error instead of an end.
func (w *Watch) Break() {
	w.End()
	w.mu.Lock()
	w.queue, w.size, w.held, w.broken = nil, 0, false, true
	w.mu.Unlock()
	w.wake()
}

// Broken returns ErrBroken after Break, to be looked at once Take has said that the stream is over.
func (w *Watch) Broken() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken {
		return ErrBroken
	}
	return nil
}

// Over reports whether nothing more will reach the client: the stream has ended, and its end is not held back.
func (w *Watch) Over() bool { return w.ended && !w.held }
