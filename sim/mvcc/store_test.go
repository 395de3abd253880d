package mvcc_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

// draw returns a drawing of a store as in the package comment: one line per revision, with its keys and its commit.
func draw(s *mvcc.Store) string {
	commits := map[uint64]string{}
	err := s.Events(s.Compacted()-1, func(e *mvcc.Event) bool {
		text := "put " + e.Key
		if e.KV == nil {
			text = "delete " + e.Key
		}
		if e.Prev != nil {
			text += ", was " + storeEntry(e.Prev)
		}
		commits[e.Rev] = text
		return true
	})
	if err != nil {
		return err.Error()
	}
	var lines []string
	for rev := s.Compacted(); rev <= s.Rev(); rev++ {
		v, err := s.At(rev)
		if err != nil {
			return err.Error()
		}
		line := strings.TrimSpace(fmt.Sprint(rev, " ", viewRange(v, "", ""), " ", commits[rev]))
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// lines removes indentation and alignment from a drawing.
func lines(drawing string) string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(drawing)) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(all, "\n")
}

// TestStoreDrawing checks the drawing in the package comment, step by step.
//
//	New(1)       1 {}
//	Put a, b     2 {a: x@2}           put a
//	             3 {a: x@2, b: y@3}   put b
//	Put a        4 {a: z@2-4, b: y@3} put a, was x@2
//	Delete b     5 {a: z@2-4}         delete b, was y@3
//	Compact(4)   revisions from 4
//	Fork(4)      revision 4, and a separate revision 5
//	Restore(4)   revision 4, and a different revision 5
func TestStoreDrawing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	is.Equal(draw(s), lines(`1 {}`)) // it is empty at its first revision

	s.Put("a", pack.New([]byte("x")), nil)
	s.Put("b", pack.New([]byte("y")), nil)
	is.Equal(draw(s), lines(`
		1 {}
		2 {a: x@2}           put a
		3 {a: x@2, b: y@3}   put b`)) // one revision per put

	s.Put("a", pack.New([]byte("z")), nil)
	s.Delete("b")
	is.Equal(draw(s), lines(`
		1 {}
		2 {a: x@2}           put a
		3 {a: x@2, b: y@3}   put b
		4 {a: z@2-4, b: y@3} put a, was x@2
		5 {a: z@2-4}         delete b, was y@3`)) // older revisions stay as they were

	is.NoErr(s.Compact(4))
	compacted := lines(`
		4 {a: z@2-4, b: y@3} put a, was x@2
		5 {a: z@2-4}         delete b, was y@3`)
	is.Equal(draw(s), compacted) // nothing remains before 4

	f, err := s.Fork(4)
	is.NoErr(err)
	f.Put("c", pack.New([]byte("w")), nil)
	is.Equal(draw(f), lines(`
		4 {a: z@2-4, b: y@3}         put a, was x@2
		5 {a: z@2-4, b: y@3, c: w@5} put c`)) // the fork has another 5
	is.Equal(draw(s), compacted) // the store does not see it

	is.NoErr(s.Restore(4))
	is.Equal(draw(s), lines(`4 {a: z@2-4, b: y@3} put a, was x@2`)) // 5 has been undone
	s.Delete("a")
	is.Equal(draw(s), lines(`
		4 {a: z@2-4, b: y@3} put a, was x@2
		5 {b: y@3}           delete a, was z@2-4`)) // and is used again
	is.Equal(f.Rev(), uint64(5))
	is.Equal(strings.Count(draw(f), "c: w@5"), 1) // the fork does not see it
}

// history returns a store with revisions up to 15, compacted at 12.
//
//	12 {a: 2@11-12}         put a, was 1@11
//	13 {a: 2@11-12, b: 3@13} put b
//	14 {b: 3@13}            delete a, was 2@11-12
//	15 {a: 5@15, b: 3@13}   put a
func history(is *is.I) *mvcc.Store {
	s := mvcc.New(10)
	s.Put("a", pack.New([]byte("1")), nil)
	s.Put("a", pack.New([]byte("2")), nil)
	s.Put("b", pack.New([]byte("3")), nil)
	s.Delete("a")
	s.Put("a", pack.New([]byte("5")), nil)
	is.NoErr(s.Compact(12))
	return s
}

// TestStoreRevisions reads at each kind of revision. By etcd's rules, the compact revision can be read, and the events from it on
// can be watched.
func TestStoreRevisions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rev     uint64
		read    error // error of At, Get, Fork and Restore at rev
		events  error // error of Events after rev
		count   int   // number of these events
		compact error
	}{
		{rev: 0, events: mvcc.ErrCompacted, compact: mvcc.ErrCompacted},
		{rev: 1, read: mvcc.ErrCompacted, events: mvcc.ErrCompacted, compact: mvcc.ErrCompacted},
		{rev: 10, read: mvcc.ErrCompacted, events: mvcc.ErrCompacted, compact: mvcc.ErrCompacted},
		{rev: 11, read: mvcc.ErrCompacted, count: 4, compact: mvcc.ErrCompacted},
		{rev: 12, count: 3, compact: mvcc.ErrCompacted},
		{rev: 13, count: 2},
		{rev: 15},
		{rev: 16, read: mvcc.ErrFutureRevision, compact: mvcc.ErrFutureRevision},
		{rev: math.MaxUint64, read: mvcc.ErrFutureRevision, compact: mvcc.ErrFutureRevision},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint("revision ", test.rev), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			s := history(is)
			v, err := s.At(test.rev)
			is.Equal(err, test.read)             // a snapshot
			is.Equal(v != nil, test.read == nil) // or nothing
			_, err = s.Get("a", test.rev)
			is.Equal(err, test.read) // one key
			events, err := storeEvents(s, test.rev)
			is.Equal(err, test.events)        // the commits after it
			is.Equal(len(events), test.count) // their number
			f, err := s.Fork(test.rev)
			is.Equal(err, test.read)                           // a fork
			is.Equal(f != nil, test.read == nil)               // or nothing
			is.Equal(s.Compact(test.rev), test.compact)        // compaction
			is.Equal(history(is).Restore(test.rev), test.read) // restoring a backup
		})
	}
}

func TestStoreNew(t *testing.T) {
	t.Parallel()
	for _, rev := range []uint64{0, 1, 1000} {
		t.Run(fmt.Sprint("revision ", rev), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			s := mvcc.New(rev)
			is.Equal(s.Rev(), rev)       // the current revision
			is.Equal(s.Compacted(), rev) // earlier revisions do not exist
			_, ok := s.Delete("a")
			is.True(!ok)           // there is nothing to delete
			is.Equal(s.Rev(), rev) // and no revision is created
			e := s.Put("a", nil, nil)
			is.Equal(e.Rev, rev+1)   // the first write is the next revision
			is.Equal(s.Rev(), rev+1) // which is now the current one
		})
	}
}

// aux implements mvcc.Aux.
type aux struct{ labels string }

func (aux) Superseded() {}
func (aux) Packed()     {}

func TestStoreEvent(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)

	one, two := pack.New([]byte("1")), pack.New([]byte("2"))
	created := s.Put("a", one, aux{"app=web"})
	is.Equal(*created.KV, mvcc.KV{Key: "a", Text: one, CreateRev: 2, ModRev: 2, Version: 1, Aux: aux{"app=web"}})
	is.True(created.Prev == nil) // a create replaces nothing

	updated := s.Put("a", two, nil)
	is.Equal(*updated.KV, mvcc.KV{Key: "a", Text: two, CreateRev: 2, ModRev: 3, Version: 2})
	is.True(updated.Prev == created.KV) // the same KV, not a copy

	deleted, ok := s.Delete("a")
	is.True(ok)                                                        // the key existed
	is.Equal(*deleted, mvcc.Event{Rev: 4, Key: "a", Prev: updated.KV}) // a tombstone
	again := s.Put("a", pack.New([]byte("3")), nil)
	is.Equal(again.KV.CreateRev, uint64(5)) // the key was created again
	is.True(again.Prev == nil)              // the new key has no previous value

	var log []*mvcc.Event
	is.NoErr(s.Events(1, func(e *mvcc.Event) bool { log = append(log, e); return true }))
	is.Equal(len(log), 4)
	for i, e := range []*mvcc.Event{created, updated, deleted, again} {
		is.True(log[i] == e) // the log has the same events, in order
	}
	n := 0
	is.NoErr(s.Events(1, func(*mvcc.Event) bool { n++; return n < 2 }))
	is.Equal(n, 2) // it ends when yield returns false
}

// TestStoreChangesWhileReading writes and compacts while a view is being read. The view must not change.
func TestStoreChangesWhileReading(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := history(is)
	v, err := s.At(0)
	is.NoErr(err)
	var keys []string
	v.Range("", "", func(kv *mvcc.KV) bool {
		keys = append(keys, kv.Key)
		s.Delete("b")
		s.Put("c", nil, nil)
		return true
	})
	is.Equal(keys, []string{"a", "b"}) // the keys at the revision of the view
	var revs []uint64
	is.NoErr(s.Events(11, func(e *mvcc.Event) bool {
		revs = append(revs, e.Rev)
		s.Put("c", nil, nil)
		return s.Compact(s.Rev()) == nil
	}))
	is.Equal(revs[:4], []uint64{12, 13, 14, 15}) // the events from before the compaction
	is.Equal(revs[len(revs)-1], uint64(18))      // up to the current revision when it began
}

// TestStoreForkConcurrently uses a store and its forks concurrently, each in its own goroutine, and one view in all of them. It
// is a test for the race detector.
func TestStoreForkConcurrently(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := history(is)
	before := draw(s)
	shared, err := s.At(0)
	is.NoErr(err)
	const forks = 4
	looks := make(chan string)
	for range forks {
		f, err := s.Fork(0)
		is.NoErr(err)
		go func() {
			busy(f)
			looks <- viewRange(shared, "", "")
		}()
	}
	untouched, err := s.Fork(0)
	is.NoErr(err)
	busy(s)
	for range forks {
		is.Equal(<-looks, "{a: 5@15, b: 3@13}") // the view stays as it was
	}
	is.Equal(draw(untouched), before) // an unused fork stays the same as well
}

// TestNewestViewConcurrently reads the newest view for the first time while another goroutine writes to the store.
func TestNewestViewConcurrently(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	for n := range 200 {
		v, err := s.At(0)
		is.NoErr(err)
		looked := make(chan int)
		go func() { looked <- v.Count("", "") }()
		s.Put(fmt.Sprint("key", n), nil, nil)
		is.Equal(<-looked, n) // without the concurrent puts
	}
}

// busy writes to a store that history has created, and sometimes restores it.
func busy(s *mvcc.Store) {
	for i := range 100 {
		s.Put(fmt.Sprint("key", i%7), pack.New([]byte("v")), nil)
		if i%10 == 9 {
			_ = s.Restore(13 + uint64(i/10%3))
		}
	}
}

// TestList compares List, which caches short lists, with the keys of a view while the store is written.
func TestList(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	same := func() {
		v, err := s.At(0)
		is.NoErr(err)
		for _, prefix := range []string{"/pods/", "/pods/a/", "/pods/b/", "/pods"} {
			is.Equal(storeList(s, prefix), viewRange(v, prefix, ""))
		}
	}
	key := func(i int) string { return fmt.Sprintf("/pods/%c/%03d", "ab"[i%2], i) }
	for i := range 240 {
		same()
		s.Put(key(i), pack.New([]byte("x")), nil)
	}
	for i := range 240 {
		same()
		s.Put(key(i), pack.New([]byte("y")), nil)
		same()
		s.Delete(key(i))
	}
	same()
}

// TestVersion checks that a key's versions count its writes, regardless of compaction, and begin again when it is created again.
func TestVersion(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	for range 3 {
		s.Put("a", pack.New([]byte("x")), nil)
	}
	is.NoErr(s.Compact(s.Rev()))
	version := func(s *mvcc.Store) uint64 {
		kv, err := s.Get("a", 0)
		is.NoErr(err)
		return kv.Version
	}
	is.Equal(version(s), uint64(3))
	f, err := s.Fork(0)
	is.NoErr(err)
	f.Put("a", pack.New([]byte("y")), nil)
	is.Equal(version(f), uint64(4))
	is.Equal(version(s), uint64(3))
	s.Delete("a")
	s.Put("a", pack.New([]byte("z")), nil)
	is.Equal(version(s), uint64(1))
}
