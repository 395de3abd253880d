// Package mvcc is a key-value store that keeps every revision.
//
// It does not depend on Kubernetes. Its terms and rules are those of etcd: each put or delete is a commit that creates one
// revision of the whole store. Older revisions can be read until they are compacted.
//
// A Store is a list of views, one per revision. A view consists of an index, a B-tree from keys to their newest writes, and the
// event that created the view. A write after a range of the newest view has been read copies the tree nodes on the path to its
// key and shares the rest. The indexes of most older views are freed, and rebuilt when they are read. From an empty store at
// revision 1:
//
//	s := mvcc.New(1)     1 {}                             first: 1
//
//	s.Put("a", "x")      1 {}                             first: 1
//	s.Put("b", "y")      2 {a: x@2}           put a
//	                     3 {a: x@2, b: y@3}   put b
//
//	s.Put("a", "z")      1 {}                             first: 1
//	s.Delete("b")        2 {a: x@2}           put a
//	                     3 {a: x@2, b: y@3}   put b
//	                     4 {a: z@2-4, b: y@3} put a, was x@2
//	                     5 {a: z@2-4}         delete b, was y@3
//
//	s.Compact(4)         4 {a: z@2-4, b: y@3} put a, was x@2     first: 4
//	                     5 {a: z@2-4}         delete b, was y@3
//
// z@2-4 is a KV created at revision 2 and last written at revision 4. After Compact(4), revisions 4 and 5 can be read, and the
// events of both can be watched. Everything before that is ErrCompacted. From there:
//
//	f, _ := s.Fork(4)    4 {a: z@2-4, b: y@3} put a, was x@2     first: 4
//	f.Put("c", "w")      5 {a: z@2-4, b: y@3, c: w@5} put c      in f; s is as before
//
//	s.Restore(4)         4 {a: z@2-4, b: y@3} put a, was x@2     first: 4
//	s.Delete("a")        5 {b: y@3}           delete a, was z@2-4
//
// Values are often similar, such as the pods of a workload or the revisions of one pod. The store packs all values but the newest
// (package pack). This is invisible to readers.
package mvcc

import (
	"errors"
	"slices"

	"github.com/kubesim/kubesim/sim/pack"
)

// Errors of reads at revisions that the store does not have.
var (
	ErrCompacted      = errors.New("mvcc: required revision has been compacted")
	ErrFutureRevision = errors.New("mvcc: required revision is a future revision")
)

// KV is a key with the value of one write. It is immutable once it is stored.
type KV struct {
	Key       string
	Text      *pack.Text // the value
	CreateRev uint64     // revision of the put that created the key
	ModRev    uint64     // revision of this write
	Version   uint64     // number of writes since the key was created; in a store that was loaded, at least since the oldest revision
	// Aux is a value that the writer attaches to the KV, or nil. It is not part of the data.
	Aux Aux
}

// Value returns the value. The caller must not change it.
func (kv *KV) Value() []byte { return kv.Text.Bytes() }

// Aux is data that the writer derives from a value, such as the parsed object.
type Aux interface {
	// Superseded frees data that can be recomputed. It is called when the key has a newer value.
	Superseded()
	// Packed frees data that is probably not needed soon. It is called when the value is packed, after many newer values of any keys
	// have been written.
	Packed()
}

// Event is one commit.
type Event struct {
	Rev  uint64
	Key  string
	KV   *KV // nil for a delete
	Prev *KV // nil for a create
}

// Store is a key-value store with its history.
//
// It is not safe for concurrent use; its owner must lock it. The views, KVs and events that it returns are immutable, so they
// may be used without the lock. A fork shares no mutable data with the original store.
//
// In all methods except Compact and Events, revision 0 means the current one.
type Store struct {
	first uint64  // revision of views[0]; all earlier revisions have been compacted
	views []*View // views[i] is the state at revision first+i; never empty
	head  *head   // the head of the last view

	lists  map[string][]*KV // cached results of List by prefix
	room   []View           // the views that newView returns next
	packer pack.Packer
	whole  []*KV // the newest writes, the values of which are not packed yet, in the order of their commits
	size   int   // the sum of the lengths of these values
}

// wholeMax is the number of bytes of the newest values that are not packed. Most values that are read were written recently, and
// packing the values of a small store would take time for little memory.
const wholeMax = 16 << 20

// New returns an empty store whose current revision is rev. The store counts as compacted at rev, so earlier revisions cannot
// be read.
func New(rev uint64) *Store {
	return begin(newView(newIndex(), Event{Rev: rev}))
}

// begin returns a store whose history begins with oldest. The view must have its index.
func begin(oldest *View) *Store {
	return &Store{first: oldest.Rev(), views: []*View{oldest}, head: &head{view: oldest, index: oldest.index()}}
}

// Rev returns the current revision, which is that of the last commit.
func (s *Store) Rev() uint64 { return s.current().Rev() }

// Compacted returns the compact revision, which is the oldest one that can be read.
func (s *Store) Compacted() uint64 { return s.first }

// Put writes value at key in one commit and returns its event. The store keeps value and aux, so the caller must not change them.
func (s *Store) Put(key string, value *pack.Text, aux Aux) *Event {
	rev := s.Rev() + 1
	kv := &KV{Key: key, Text: value, CreateRev: rev, ModRev: rev, Aux: aux}
	v := s.newView(Event{Rev: rev, Key: key, KV: kv})
	if prev := s.commit(v); prev != nil {
		kv.Key, kv.CreateRev = prev.Key, prev.CreateRev // reuse the string of the key, so that memory holds one copy
		v.event.Key, v.event.Prev = prev.Key, prev
	}
	return &v.event
}

// Delete removes key in one commit and returns the event, a tombstone. If the key does not exist, it returns false and creates
// no revision.
func (s *Store) Delete(key string) (*Event, bool) {
	prev := s.head.get(key)
	if prev == nil {
		return nil, false
	}
	v := s.newView(Event{Rev: s.Rev() + 1, Key: key, Prev: prev})
	s.commit(v)
	return &v.event, true
}

// Get returns the KV of key at revision rev, or nil if the key did not exist. It returns the same errors as At.
func (s *Store) Get(key string, rev uint64) (*KV, error) {
	if rev == 0 {
		return s.head.get(key), nil
	}
	v, err := s.At(rev)
	if err != nil {
		return nil, err
	}
	return v.Get(key), nil
}

// At returns the state of the store at revision rev. It returns ErrFutureRevision above the current revision, and ErrCompacted
// below the compact revision. The compact revision itself can be read.
func (s *Store) At(rev uint64) (*View, error) {
	i, err := s.find(rev)
	if err != nil {
		return nil, err
	}
	return s.views[i], nil
}

// Events yields the commits after revision after, in order, until yield returns false. If after is the current revision or a
// future one, there are none.
//
// It returns ErrCompacted if the first commit, that of after+1, is below the compact revision. As in etcd, the commit of the
// compact revision itself is still available.
func (s *Store) Events(after uint64, yield func(*Event) bool) error {
	if after >= s.Rev() {
		return nil
	}
	if after+1 < s.first {
		return ErrCompacted
	}
	for _, v := range s.views[after+1-s.first:] {
		if e := v.Event(); e != nil && !yield(e) {
			break
		}
	}
	return nil
}

// Compact discards everything before revision rev. It returns ErrFutureRevision above the current revision, and ErrCompacted if
// the store has already been compacted at rev or later. Revision 0 has no special meaning here. Existing views remain readable.
func (s *Store) Compact(rev uint64) error {
	switch {
	case rev > s.Rev():
		return ErrFutureRevision
	case rev <= s.first:
		return ErrCompacted
	}
	s.views = slices.Clone(s.views[rev-s.first:]) // a copy, so that the discarded views are freed
	s.first = rev
	return nil
}

// Fork returns a new store with the history up to revision rev. The two stores are independent and need separate locks. It
// returns the same errors as At.
func (s *Store) Fork(rev uint64) (*Store, error) {
	i, err := s.find(rev)
	if err != nil {
		return nil, err
	}
	return s.upTo(i), nil
}

// Restore resets the store to revision rev, as if etcd had been restored from an older backup: the commits after rev are lost, and
// the next write creates revision rev+1 a second time. A client that has seen the first rev+1 is then ahead of the store, or takes
// the second for the first. (etcdutl prevents this with --bump-revision and --mark-compacted.) Restore returns the same errors as
// At.
func (s *Store) Restore(rev uint64) error {
	i, err := s.find(rev)
	if err != nil {
		return err
	}
	*s = *s.upTo(i)
	return nil
}

// current returns the newest view.
func (s *Store) current() *View { return s.views[len(s.views)-1] }

// find returns the index of revision rev in views. It returns the same errors as At.
func (s *Store) find(rev uint64) (int, error) {
	switch {
	case rev == 0:
		return len(s.views) - 1, nil
	case rev > s.Rev():
		return 0, ErrFutureRevision
	case rev < s.first:
		return 0, ErrCompacted
	}
	return int(rev - s.first), nil
}

// upTo returns a store with views[:i+1]. Its newest view is a copy that has its index.
func (s *Store) upTo(i int) *Store {
	v := s.views[i]
	newest := newView(v.index(), v.event)
	newest.prev = v.prev
	return &Store{first: s.first, views: append(s.views[:i:i], newest), head: &head{view: newest, index: newest.index()}}
}

// viewsAtOnce is the number of views that are allocated together. A view that is in use keeps all of them in memory.
const viewsAtOnce = 64

// newView returns a view of an event, without an index. A store has a view for each revision. Allocating many of them together is less
// work for the garbage collector.
func (s *Store) newView(e Event) *View {
	if len(s.room) == 0 {
		s.room = make([]View, viewsAtOnce)
	}
	v := &s.room[0]
	s.room = s.room[1:]
	v.event = e
	return v
}

// commit appends a view and applies its event. It returns the KV that the event replaced.
func (s *Store) commit(v *View) (prev *KV) {
	prev = s.head.commit(v)
	if kv := v.event.KV; kv != nil && kv.Version == 0 {
		kv.Version = 1
		if prev != nil {
			kv.Version += max(prev.Version, 1)
		}
	}
	s.views = append(s.views, v)
	s.wrote(v.event.Key)
	if kv := v.event.KV; kv != nil {
		s.packOld(kv)
	}
	return prev
}

// packOld packs the oldest values that are not packed, so that they and the new one have at most wholeMax bytes.
func (s *Store) packOld(newest *KV) {
	s.whole = append(s.whole, newest)
	for s.size += newest.Text.Len(); s.size > wholeMax; s.whole = s.whole[1:] {
		oldest := s.whole[0]
		s.whole[0] = nil // the array may be used for some time
		s.size -= oldest.Text.Len()
		s.packer.Pack(oldest.Text)
		if oldest.Aux != nil {
			oldest.Aux.Packed()
		}
	}
}
