package engine

import "slices"

// Limits of checkpoints. An undo executes about as many frames again as there are between two of them.
const (
	spacing  = 500    // minimum number of frames between two of them
	keptMost = 60_000 // frames of all of them, unless there is only one: the memory of a page is limited
	farthest = 1024   // operations between one of them and the newest operation of a log that is replayed
	long     = 8_000  // operations of a log that is replayed with fewer of them
)

// checkpoints are copies of a branch's earlier runs, oldest first. A replay continues a copy of one of them. They are dense near the newest
// operation and sparse before it, so their number grows with the logarithm of the number of frames:
//
//	log           ●━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━●  position
//	checkpoints          ○         ○        ○     ○   ○
type checkpoints []*run

// copy returns an independent run in the same state, or nil if the run's world cannot be copied. A lesson is not copied: it is short.
func (r *run) copy() *run {
	if r.session != nil {
		return nil
	}
	w := r.world.Copy()
	if w == nil {
		return nil
	}
	return &run{world: w, room: r.room, ends: slices.Clip(r.ends), frames: slices.Clip(r.frames), results: slices.Clip(r.results)}
}

// add adds a copy of a run, unless it is not far ahead of the newest checkpoint or cannot be copied.
func (c *checkpoints) add(r *run) {
	now := r.size()
	if n := len(*c); now < spacing || n > 0 && now < (*c)[n-1].size()+spacing {
		return
	}
	made := r.copy()
	if made == nil {
		return
	}
	*c = append(*c, made)
	for i := len(*c) - 2; i > 0; i-- {
		before, after := (*c)[i-1].size(), (*c)[i+1].size()
		if after-before < (now-after)/2 {
			*c = slices.Delete(*c, i, i+1)
		}
	}
	for len(*c) > 1 && c.frames() > keptMost {
		*c = slices.Delete(*c, 0, 1)
	}
}

// frames returns the number of frames of all checkpoints.
func (c checkpoints) frames() (sum int) {
	for _, r := range c {
		sum += r.size()
	}
	return sum
}

// upTo returns the checkpoints at and before operation n.
func (c checkpoints) upTo(n int) checkpoints {
	i := slices.IndexFunc(c, func(r *run) bool { return r.done() > n })
	if i < 0 {
		return c
	}
	return slices.Clip(c[:i])
}

// newest returns the newest checkpoint at or before operation n, or nil if there is none.
func (c checkpoints) newest(n int) *run {
	if c = c.upTo(n); len(c) > 0 {
		return c[len(c)-1]
	}
	return nil
}

// nearest returns a run of a branch at or before operation n: a copy of a checkpoint, or a new world.
func (b *beginning) nearest(of *branch, n int) (*run, error) {
	if r := of.kept.newest(n); r != nil {
		return r.copy(), nil
	}
	return b.start()
}

// goOn executes the operations of a branch up to operation n in a run, and adds checkpoints that are dense near n.
func (b *branch) goOn(r *run, n int) error {
	for before := farthest; before > 1; before /= 4 {
		if n-before <= r.done() || n > long && before == farthest {
			continue
		}
		if err := r.goOn(b, n-before); err != nil {
			return err
		}
		b.kept.add(r)
	}
	return r.goOn(b, n)
}
