// Package mvcc is a store of keys and bytes that keeps every revision.
//
// It does not depend on Kubernetes. Its terms and rules are etcd's: every put and every delete is one commit and makes one revision
// of the whole store; older revisions can be read until they are compacted.
//
// A Store is a list of views, one per revision. A view is an index, a B-tree from key to the newest write of that key, and the
// event that led to it. A write to a view that has been read copies the nodes of the tree on the path to its key and shares the
// rest; the indexes of most older views are freed, and rebuilt when they are read. From an empty store at revision 1:
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
// z@2-4 is a KV created at revision 2 and last written at revision 4. After
// Compact(4), revisions 4 and 5 can be read and the events of both can be
// watched; all before is ErrCompacted. From there:
//
//	f, _ := s.Fork(4)    4 {a: z@2-4, b: y@3} put a, was x@2     first: 4
//	f.Put("c", "w")      5 {a: z@2-4, b: y@3, c: w@5} put c      in f; s is as before
//
//	s.Restore(4)         4 {a: z@2-4, b: y@3} put a, was x@2     first: 4
//	s.Delete("a")        5 {b: y@3}           delete a, was z@2-4
package mvcc

import (
	"errors"
	"slices"
)

// Errors of reads at a revision the store cannot serve.
var (
	ErrCompacted      = errors.New("mvcc: required revision has been compacted")
	ErrFutureRevision = errors.New("mvcc: required revision is a future revision")
)

// KV is one write of a key. It never changes once it is stored.
type KV struct {
	Key       string
	Value     []byte
	CreateRev uint64 // revision of the put that created the key
	ModRev    uint64 // revision of this write
	// Aux is a value that the writer wants to find again with the KV, or nil. The store does not use it, and it is not part of the
	// data.
	Aux Aux
}

// Aux is derived from a value by its writer, such as the parsed object.
type Aux interface {
	// Superseded frees parts that readers can compute again. It is called when there is a newer value.
	Superseded()
}

// Event is one commit.
type Event struct {
	Rev  uint64
	Key  string
	KV   *KV // nil for a delete
	Prev *KV // nil for a create
}

// Store is a store of keys and bytes with its history.
//
// It is not safe for concurrent use: its owner has the lock. The views, KVs and
// events it returns never change, so they may be used without that lock. A fork
// shares nothing that changes with the store it comes from.
//
// In every method but Compact and Events, revision 0 means the current one.
type Store struct {
	first uint64  // revision of views[0]; everything before has been compacted
	views []*View // views[i] is the store at revision first+i; never empty
	head  *head   // of the last one

	lists map[string][]*KV // by prefix: see List
}

// New returns an empty store whose current revision is rev.
// It counts as compacted at rev: nothing before can be read.
func New(rev uint64) *Store {
	return begin(newView(rev, newIndex(), nil))
}

// begin returns a store whose history begins with a view, which has its index.
func begin(oldest *View) *Store {
	return &Store{first: oldest.rev, views: []*View{oldest}, head: &head{view: oldest, index: oldest.index()}}
}

// Rev returns the current revision, that of the last commit.
func (s *Store) Rev() uint64 { return s.current().rev }

// Compacted returns the compact revision: the oldest one that can be read.
func (s *Store) Compacted() uint64 { return s.first }

// Put writes value at key: one commit.
// The store keeps value and aux as they are; the caller must not change them.
func (s *Store) Put(key string, value []byte, aux Aux) *Event {
	rev := s.Rev() + 1
	kv := &KV{Key: key, Value: value, CreateRev: rev, ModRev: rev, Aux: aux}
	e := &Event{Rev: rev, Key: key, KV: kv}
	if prev := s.commit(e); prev != nil {
		kv.Key, kv.CreateRev = prev.Key, prev.CreateRev // the same text, in memory once
		e.Key, e.Prev = prev.Key, prev
	}
	return e
}

// Delete removes key: one commit. The event is its tombstone.
// If the key is absent it reports false, and no revision is spent.
func (s *Store) Delete(key string) (*Event, bool) {
	prev := s.head.get(key)
	if prev == nil {
		return nil, false
	}
	e := &Event{Rev: s.Rev() + 1, Key: key, Prev: prev}
	s.commit(e)
	return e, true
}

// Get returns the key as it was at revision rev, nil if it was absent.
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

// At returns the store as it was at revision rev.
// It fails with ErrFutureRevision above the current revision and with
// ErrCompacted below the compact revision; at the compact revision it works.
func (s *Store) At(rev uint64) (*View, error) {
	i, err := s.find(rev)
	if err != nil {
		return nil, err
	}
	return s.views[i], nil
}

// Events yields the commits after revision after, in order, until yield returns
// false. None have happened after the current revision or a future one.
//
// It fails with ErrCompacted if the first one, after+1, is below the compact
// revision. As in etcd, the commit of the compact revision itself is still there.
func (s *Store) Events(after uint64, yield func(*Event) bool) error {
	if after >= s.Rev() {
		return nil
	}
	if after+1 < s.first {
		return ErrCompacted
	}
	for _, v := range s.views[after+1-s.first:] {
		if v.event != nil && !yield(v.event) {
			break
		}
	}
	return nil
}

// Compact discards everything before revision rev. It fails with ErrFutureRevision above the current revision, and with
// ErrCompacted if the store has been compacted at rev or later. There is no revision 0 to compact at. Views taken before stay
// readable.
func (s *Store) Compact(rev uint64) error {
	switch {
	case rev > s.Rev():
		return ErrFutureRevision
	case rev <= s.first:
		return ErrCompacted
	}
	s.views = slices.Clone(s.views[rev-s.first:]) // a copy, so that the rest is collected
	s.first = rev
	return nil
}

// Fork returns a new store with the history up to revision rev. The two stores are independent afterwards, under locks of their
// own. It fails as At does.
func (s *Store) Fork(rev uint64) (*Store, error) {
	i, err := s.find(rev)
	if err != nil {
		return nil, err
	}
	return s.upTo(i), nil
}

// Restore takes the store back to revision rev, as an etcd restored from an older backup: the commits after rev are lost, and the
// next write makes revision rev+1 for the second time. Clients that have seen the first rev+1 are then ahead of the store, or
// confuse the two; etcdutl's --bump-revision and --mark-compacted exist to avoid that. It fails as At does.
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

// find returns the place of revision rev in views.
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

// upTo returns a store with the views up to views[i]. The newest is a copy, which has its index.
func (s *Store) upTo(i int) *Store {
	v := s.views[i]
	newest := newView(v.rev, v.index(), v.event)
	newest.prev = v.prev
	return &Store{first: s.first, views: append(s.views[:i:i], newest), head: &head{view: newest, index: newest.index()}}
}

// commit creates the view that e leads to from the current one. It returns the KV that a put replaced.
func (s *Store) commit(e *Event) (prev *KV) {
	v, prev := s.head.commit(e)
	s.views = append(s.views, v)
	s.wrote(e.Key)
	return prev
}
