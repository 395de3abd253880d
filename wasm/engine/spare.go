package engine

// Limits of prepare, in frames.
const (
	spareLeast = 1_000  // after the newest checkpoint, before a spare run is made: fewer are replayed quickly
	spareMost  = 30_000 // of a spare run: a page has no memory for two larger worlds
	sliceMost  = 100    // of one call, unless a single operation has more: a page must not wait for it
	crossMost  = 1_000  // of a single operation that is executed ahead of an undo
)

// prepare brings the spare run closer to the operation before the newest one. A page sends it while its user does nothing. more reports
// whether another call would bring it closer still.
func (e *Engine) prepare(*request) (fields, error) {
	b, now := e.current, e.run
	if e.spare == nil {
		if n := now.size(); n > spareMost || n-b.kept.newest(b.n-1).size() < spareLeast {
			return fields{"more": false}, nil
		}
		r, err := e.begin.nearest(b, b.n-1)
		if err != nil {
			return nil, err
		}
		e.spare = r
	}
	for until := e.spare.framesAfter(e.spare.done()) + sliceMost; e.spare.done() < b.n-1; {
		at := e.spare.done()
		if now.framesAfter(at+1)-now.framesAfter(at) > crossMost {
			break
		}
		if e.spare.framesAfter(at) >= until {
			return fields{"more": true}, nil
		}
		if err := e.spare.goOn(b, at+1); err != nil {
			e.spare = nil
			return nil, err
		}
	}
	return fields{"more": false}, nil
}

// behind returns a run of a branch after operation n: the spare run, if it is close behind, or else a replay. It also returns the number
// of operations that it has executed for that. The branch keeps no later checkpoints.
func (e *Engine) behind(b *branch, n int) (r *run, replayed int, err error) {
	b.kept = b.kept.upTo(n)
	near := b.kept.newest(n)
	if r := e.spare; r != nil && b == e.current && r.done() <= n && r.size() >= near.size() {
		replayed = n - r.done()
		return r, replayed, r.goOn(b, n)
	}
	if replayed = n; near != nil {
		replayed -= near.done()
	}
	r, err = e.begin.replay(b, n)
	return r, replayed, err
}

// done returns the number of executed operations of the log.
func (r *run) done() int { return len(r.ends) - 1 }

// framesAfter returns the number of frames after the first n operations of the log.
func (r *run) framesAfter(n int) int { return r.frames[n] }

// size returns the number of frames, or 0 if r is nil.
func (r *run) size() int {
	if r == nil {
		return 0
	}
	return r.framesAfter(r.done())
}
