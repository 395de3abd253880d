package engine

// Limits of prepare, in frames.
const (
	spareLeast = 500    // of a world that gets a spare run: a shorter history is replayed quickly
	spareMost  = 30_000 // of a spare run: a page has no memory for two larger worlds
	sliceMost  = 100    // of one call, unless a single operation has more: a page must not wait for it
	crossMost  = 1_000  // of a single operation that is executed ahead of an undo
)

// prepare brings the spare run closer to the operation before the newest one. A page sends it while its user does nothing. more reports
// whether another call would bring it closer still.
func (e *Engine) prepare(*request) (fields, error) {
	b, now := e.current, e.run
	if n := e.frames(); n < spareLeast || n > spareMost {
		return fields{"more": false}, nil
	}
	if e.spare == nil {
		r, err := e.begin.start()
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

// behind returns a run of the current branch that can be continued up to operation n: the spare run, or, if that has executed more, a
// new one that has executed nothing.
func (e *Engine) behind(b *branch, n int) (*run, error) {
	if r := e.spare; r != nil && b == e.current && r.done() <= n {
		return r, r.goOn(b, n)
	}
	return e.begin.replay(b, n)
}

// done returns the number of executed operations of the log.
func (r *run) done() int { return len(r.ends) - 1 }

// framesAfter returns the number of frames after the first n operations of the log.
func (r *run) framesAfter(n int) int { return r.frames[n] }
