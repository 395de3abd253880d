package mvcc

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// keepEvery is of how many revisions one keeps its index: the paths that a write has copied are half a kilobyte and more.
// The indexes of the others are made again when they are read, from the last one that was kept and the events since:
//
//	revision  16       17       18       19 …   31       32       33       34
//	index     kept ◀── put a ◀─ del b ◀─ put a  put c    kept ◀── put d ◀─ newest
const keepEvery = 16

// View is the store as it was at one revision. It never changes: any goroutine may read it while the store is written.
type View struct {
	rev   uint64
	event *Event // the commit that made this revision; nil for the one the store began with
	prev  *View  // before event; nil if the index is kept
	made  atomic.Pointer[index]
	head  atomic.Pointer[head] // the index while v is the newest view and has not been read; otherwise nil
}

func newView(rev uint64, x index, event *Event) *View {
	v := &View{rev: rev, event: event}
	v.made.Store(&x)
	return v
}

// fade frees the index, unless it is kept.
func (v *View) fade() {
	v.head.Store(nil)
	if v.prev != nil {
		v.made.Store(nil)
	}
}

// index returns the index of the view. One that is made again is one edit, in which no node is copied twice.
func (v *View) index() index {
	if h := v.head.Load(); h != nil {
		h.show(v)
	}
	var since []*Event
	kept := v.made.Load()
	for ; kept == nil; kept = v.made.Load() {
		since = append(since, v.event)
		v = v.prev
	}
	if len(since) == 0 {
		return *kept
	}
	x := kept.edit()
	for _, e := range slices.Backward(since) {
		x.apply(e)
	}
	return x
}

// head is the index of a store's newest view. Writes change it in place until the view is read: then the view keeps it, and the
// next write continues with a copy.
//
//	put a ─▶ head, of 17 ─ put b ─▶ head, of 18 ─ 18 is read ─▶ index of 18
//	                                                   put c ─▶ a copy: head, of 19
type head struct {
	mu   sync.Mutex // held while the following fields change: a reader of a view does not hold the store's lock
	view *View
	index
}

// show gives the view its index, if it is still the newest.
func (h *head) show(v *View) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v == h.view && v.made.Load() == nil {
		x := h.index
		v.made.Store(&x)
	}
}

// commit does what an event did and returns the view after it, and what it replaced.
func (h *head) commit(e *Event) (v *View, prev *KV) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.view.made.Load() != nil {
		h.index = h.index.edit()
	}
	prev = h.apply(e)
	v = &View{rev: e.Rev, event: e}
	if e.Rev%keepEvery == 0 {
		x := h.index
		v.made.Store(&x)
	} else {
		v.prev = h.view
		v.head.Store(h)
	}
	h.view.fade()
	h.view = v
	return v, prev
}

// Made returns the view with its index, for callers that read it more than once: otherwise each read may rebuild the index.
func (v *View) Made() *View { return newView(v.rev, v.index(), v.event) }

// Rev returns the revision of the view.
func (v *View) Rev() uint64 { return v.rev }

// Get returns the key, nil if it is absent.
func (v *View) Get(key string) *KV { return v.index().get(key) }

// Range yields the keys that begin with prefix and are not before from, in
// ascending byte order, until yield returns false.
// The empty prefix and the empty from leave nothing out.
func (v *View) Range(prefix, from string, yield func(*KV) bool) {
	v.index().ranged(prefix, from, yield)
}

// Count returns how many keys Range would yield.
// It visits few of them, however many they are.
func (v *View) Count(prefix, from string) int { return v.index().count(prefix, from) }

// listMax is the largest length of a cached list, and listsMax the largest number of cached lists.
const listMax, listsMax = 100, 1000

// List returns the current KVs of the keys that begin with a prefix, in ascending byte order. The caller must not change the slice.
//
// A short list of a prefix that ends in a slash is cached until one of its keys is written: most lists that an API server reads at
// each write (policies, webhooks, quotas, classes) are almost always empty, and rarely change.
func (s *Store) List(of []byte) []*KV {
	list, known := s.lists[string(of)]
	if known {
		return list
	}
	prefix := string(of)
	s.head.ranged(prefix, "", func(kv *KV) bool {
		list = append(list, kv)
		return true
	})
	if len(list) <= listMax && strings.HasSuffix(prefix, "/") {
		if s.lists == nil || len(s.lists) == listsMax {
			s.lists = map[string][]*KV{}
		}
		s.lists[prefix] = list
	}
	return list
}

// wrote forgets the lists that a key is in, or would be.
func (s *Store) wrote(key string) {
	for i := range len(key) {
		if key[i] == '/' {
			delete(s.lists, key[:i+1])
		}
	}
}

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
