package scenario

import (
	"errors"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/object"
)

// recorder notes what clients ask for and see, and what happens in the store meanwhile: see Recording.
type recorder interface {
	// sent notes a request; nil: it is of no interest.
	sent(c *call) note
	committed(op int, c *sim.Commit, obj object.Object)
	// moved notes that the world goes on with another cluster: what was open stays behind.
	moved()
	// broken says which promises were broken. healed: everything that is on its way has arrived.
	broken(healed bool) []string
}

// note is what a recorder has of a request.
type note interface {
	answered(op int, c *call)
	event(op int, text []byte, frame object.Object)
	ended()
}

// ErrTooSmall is the error of operations that the first engine of a page cannot do, and the one with CEL can.
var ErrTooSmall = errors.New("this needs what the small engine is without (build tag nocel)")

// ended notes that a watch is over.
func (c *call) ended() {
	if c.note != nil {
		c.note.ended()
	}
}

// startRecording notes what happens from here on.
func (w *World) startRecording(op *Op) (err error) {
	if w.recording, err = newRecorder(w); err != nil {
		return err
	}
	w.cluster.OnCommit(w.committing)
	w.happened(op, "store", 0)
	return nil
}

// committing tells the recorder of a commit. The cluster's lock is held.
func (w *World) committing(c sim.Commit) { w.recording.committed(w.op, &c, w.read(c.Object)) }

// promisesKept is true while no promise of package checker has been broken.
func promisesKept(s *scope) (bool, string) {
	if s.w.recording == nil {
		s.fail(errors.New("promises can be judged when everything is on record: put the operation record before"))
		return false, ""
	}
	if broken := s.w.recording.broken(s.w.healed); len(broken) > 0 {
		return false, broken[0]
	}
	return true, "all promises are kept"
}
