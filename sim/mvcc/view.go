package mvcc

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// keepEvery is the interval of revisions whose indexes are kept. An index costs at least half a kilobyte, for the tree nodes
// that a write has copied. Other indexes are rebuilt when they are read, from the last kept index and the events since then:
//
//	revision  256      257      258      259 …  511      512      513      514
//	index     kept ◀── put a ◀─ del b ◀─ put a  put c    kept ◀── put d ◀─ newest
const keepEvery = 256

// View is the state of the store at one revision. It is immutable: goroutines may read it while the store is written.
type View struct {
	event Event // the commit that created this revision; a store's initial view has only its Rev
	prev  *View // the previous view; nil if the index is kept
	made  atomic.Pointer[index]
	head  atomic.Pointer[head] // the index while v is the newest view; otherwise nil
}

// newView returns a view with an index. If no commit created it, event has only a Rev.
func newView(x index, event Event) *View {
	v := &View{event: event}
	v.made.Store(&x)
	return v
}

// fade frees the index when the view is no longer the newest one, unless the index is kept.
func (v *View) fade() {
	v.head.Store(nil)
	if v.prev != nil {
		v.made.Store(nil)
	}
}

// index returns the index of the view. If necessary, it rebuilds the index in a single edit, in which no node is copied twice.
func (v *View) index() index {
	if h := v.head.Load(); h != nil {
		h.show(v)
	}
	var since []*View
	kept := v.made.Load()
	for ; kept == nil; kept = v.made.Load() {
		since = append(since, v)
		v = v.prev
	}
	if len(since) == 0 {
		return *kept
	}
	x := kept.edit()
	for _, v := range slices.Backward(since) {
		x.apply(&v.event)
	}
	return x
}

// head is the index of a store's newest view. Writes change it in place until a range of the view is read. Then the view keeps it,
// and the next write continues with a copy.
//
//	put a ─▶ head, of 17 ─ put b ─▶ head, of 18 ─ 18 is listed ─▶ index of 18
//	                                                     put c ─▶ a copy: head, of 19
type head struct {
	mu   sync.Mutex // guards the following fields, because readers of a view do not hold the store's lock
	view *View
	index
	recent [recentKeys]found
	probe  KV // the argument of a search
}

// recentKeys is the number of keys that a head remembers. It is a power of two.
const recentKeys = 256

// found is the result of a search for a key. A search takes some ten comparisons of keys, each of which reads memory that is in no
// cache of the processor if the store is large, and a write searches for its key up to four times.
type found struct {
	key string
	kv  *KV // nil if the key does not exist
}

// slot returns where the head remembers a key. Keys differ mostly at their ends.
func (h *head) slot(key string) *found {
	n := uint32(len(key))
	for i := max(0, len(key)-16); i < len(key); i++ {
		n = (n ^ uint32(key[i])) * 0x01000193 // FNV-1a
	}
	return &h.recent[n%recentKeys]
}

// search returns the KV of a key, or nil if the key does not exist. The caller must hold h.mu.
func (h *head) search(key string) *KV {
	at := h.slot(key)
	if at.key != key || key == "" {
		h.probe.Key = key
		kv, _ := h.keys.Get(&h.probe)
		*at = found{key, kv}
	}
	return at.kv
}

// get returns the current KV of a key, or nil if the key does not exist.
func (h *head) get(key string) *KV {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.search(key)
}

// show stores the index in v if v is still the newest view and does not have it yet.
func (h *head) show(v *View) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v == h.view && v.made.Load() == nil {
		x := h.index
		v.made.Store(&x)
	}
}

// getAt returns the KV of a key in a view. It returns false if the view is no longer the newest one. Unlike show, it does not keep a
// reference to the index, so the next write need not copy the index.
func (h *head) getAt(v *View, key string) (kv *KV, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v != h.view {
		return nil, false
	}
	return h.search(key), true
}

// fewMax is the largest number of keys that a range may have to be read without keeping the index.
const fewMax = 16

// few returns the KVs of a range of a view if there are at most fewMax. It returns false if there are more, or if the view is no longer
// the newest one. Unlike show, it does not keep a reference to the index: most ranges that controllers read for each commit, such as
// all DaemonSets, have hardly any keys.
func (h *head) few(v *View, prefix, from string) (all []*KV, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v != h.view || v.made.Load() != nil {
		return nil, false
	}
	ok = true
	h.ranged(prefix, from, func(kv *KV) bool {
		ok = len(all) < fewMax
		all = append(all, kv)
		return ok
	})
	return all, ok
}

// commit applies the event of a new view. It returns the KV that the event replaced.
func (h *head) commit(v *View) (prev *KV) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.view.made.Load() != nil {
		h.index = h.index.edit()
	}
	prev = h.apply(&v.event)
	*h.slot(v.event.Key) = found{v.event.Key, v.event.KV}
	if v.Rev()%keepEvery == 0 {
		x := h.index
		v.made.Store(&x)
	} else {
		v.prev = h.view
		v.head.Store(h)
	}
	h.view.fade()
	h.view = v
	return prev
}

// Made returns a copy of the view that keeps its index. Callers that read a view more than once use the copy, because otherwise
// each read may rebuild the index.
func (v *View) Made() *View { return newView(v.index(), v.event) }

// Rev returns the revision of the view.
func (v *View) Rev() uint64 { return v.event.Rev }

// Get returns the KV of a key, or nil if the key does not exist.
func (v *View) Get(key string) *KV {
	if h := v.head.Load(); h != nil {
		if kv, ok := h.getAt(v, key); ok {
			return kv
		}
	}
	return v.index().get(key)
}

// Range yields the keys that begin with prefix and are not less than from, in ascending byte order, until yield returns false.
// An empty prefix or from does not restrict the keys.
func (v *View) Range(prefix, from string, yield func(*KV) bool) {
	if h := v.head.Load(); h != nil {
		if all, ok := h.few(v, prefix, from); ok {
			for _, kv := range all {
				if !yield(kv) {
					return
				}
			}
			return
		}
	}
	v.index().ranged(prefix, from, yield)
}

// Count returns the number of keys that Range would yield. Its cost hardly depends on that number.
func (v *View) Count(prefix, from string) int { return v.index().count(prefix, from) }

// listMax is the maximum length of a cached list, and listsMax the maximum number of cached lists.
const listMax, listsMax = 100, 1000

// List returns the current KVs of the keys that begin with a prefix, in ascending byte order. The caller must not modify the slice.
//
// A short list of a prefix that ends in a slash is cached until a key with the prefix is written. Most lists that an API server
// reads for each write (policies, webhooks, quotas, classes) are almost always empty and rarely change.
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

// wrote drops the cached lists that a write of key affects.
func (s *Store) wrote(key string) {
	for i := range len(key) {
		if key[i] == '/' {
			delete(s.lists, key[:i+1])
		}
	}
}

// NewView returns a view that contains the given KVs, in any order, at revision rev.
func NewView(rev uint64, kvs []*KV) *View {
	index := newIndex()
	for _, kv := range kvs {
		index.put(kv)
	}
	return newView(index, Event{Rev: rev})
}

// Before returns a copy of the view in which e is undone. The copy has revision rev. To undo several events, begin with the newest.
func (v *View) Before(e *Event, rev uint64) *View {
	index := v.index().edit()
	index.apply(&Event{Key: e.Key, KV: e.Prev})
	return newView(index, Event{Rev: rev})
}

// As returns a copy of the view with another revision.
func (v *View) As(rev uint64) *View { return newView(v.index(), Event{Rev: rev}) }

// Event returns the commit that created the view's revision. It returns nil for the initial view of a store.
func (v *View) Event() *Event {
	if v.event.KV == nil && v.event.Prev == nil {
		return nil
	}
	return &v.event
}

// Load returns a store from saved data: its oldest view, the commit that created it (nil for a store's initial view), and the
// commits since then. It returns an error unless each commit has the next revision, puts a value with that revision, and has the
// previous KV of its key as Prev.
func Load(oldest *View, made *Event, events []*Event) (*Store, error) {
	if made != nil {
		if err := made.check(oldest.Rev(), oldest.Get(made.Key), made.Prev); err != nil {
			return nil, err
		}
	}
	first := Event{Rev: oldest.Rev()}
	if made != nil {
		first = *made
	}
	s := begin(newView(oldest.index(), first))
	for _, e := range events {
		if err := e.check(s.Rev()+1, e.KV, s.head.get(e.Key)); err != nil {
			return nil, err
		}
		s.commit(s.newView(*e))
	}
	return s, nil
}

// check returns an error if e is not a valid commit of revision rev that changes the value of its key from prev to now.
func (e *Event) check(rev uint64, now, prev *KV) error {
	switch {
	case e.Rev != rev:
		return fmt.Errorf("mvcc: a commit of revision %d is where that of %d belongs", e.Rev, rev)
	case e.KV != now || e.Prev != prev:
		return fmt.Errorf("mvcc: the commit of revision %d does not fit to what %s was", rev, e.Key)
	case e.KV == nil && e.Prev == nil:
		return fmt.Errorf("mvcc: the commit of revision %d deletes %s, which does not exist", rev, e.Key)
	case e.KV != nil && (e.KV.ModRev != rev || e.KV.Key != e.Key || e.Prev != nil && e.KV.CreateRev != e.Prev.CreateRev):
		return fmt.Errorf("mvcc: what the commit of revision %d puts at %s has other revisions or another key", rev, e.Key)
	}
	return nil
}
