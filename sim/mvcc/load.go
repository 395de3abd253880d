package mvcc

import "fmt"

// NewView returns a view of the keys at revision rev: what a Store was like once. The keys may come in any order.
func NewView(rev uint64, kvs []*KV) *View {
	index := newIndex()
	for _, kv := range kvs {
		index.put(kv)
	}
	return newView(rev, index, nil)
}

// Before returns the view without what e did, as of revision rev. To take several events back, begin with the newest.
func (v *View) Before(e *Event, rev uint64) *View {
	index := v.index().edit()
	index.apply(&Event{Key: e.Key, KV: e.Prev})
	return newView(rev, index, nil)
}

// As returns the view as that of another revision, in which the same was stored.
func (v *View) As(rev uint64) *View { return newView(rev, v.index(), nil) }

// Event returns the commit that made the view's revision; nil for the one that its store began with.
func (v *View) Event() *Event { return v.event }

// Load returns a store from saved parts: its oldest view, the commit that made it (nil for a store's first view), and the commits
// since. It checks that each commit makes the next revision, puts a value with that revision, and has the right Prev.
func Load(oldest *View, made *Event, events []*Event) (*Store, error) {
	if made != nil {
		if err := made.check(oldest.rev, oldest.Get(made.Key), made.Prev); err != nil {
			return nil, err
		}
	}
	s := begin(newView(oldest.rev, oldest.index(), made))
	for _, e := range events {
		if err := e.check(s.Rev()+1, e.KV, s.head.get(e.Key)); err != nil {
			return nil, err
		}
		s.commit(e)
	}
	return s, nil
}

// check returns an error if e is not a valid commit of revision rev that changes its key from prev to now.
func (e *Event) check(rev uint64, now, prev *KV) error {
	switch {
	case e.Rev != rev:
		return fmt.Errorf("mvcc: a commit of revision %d is where that of %d belongs", e.Rev, rev)
	case e.KV != now || e.Prev != prev:
		return fmt.Errorf("mvcc: the commit of revision %d does not fit to what %s was", rev, e.Key)
	case e.KV == nil && e.Prev == nil:
		return fmt.Errorf("mvcc: the commit of revision %d deletes %s, which is not there", rev, e.Key)
	case e.KV != nil && (e.KV.ModRev != rev || e.KV.Key != e.Key || e.Prev != nil && e.KV.CreateRev != e.Prev.CreateRev):
		return fmt.Errorf("mvcc: what the commit of revision %d puts at %s has other revisions or another key", rev, e.Key)
	}
	return nil
}
