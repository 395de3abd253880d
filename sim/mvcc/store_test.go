package mvcc_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// draw returns a store as the package comment draws it: a line per revision,
// with its keys and the commit that made it.
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

// lines removes the indentation of a drawing and the spaces that align it.
func lines(drawing string) string {
	var all []string
	for line := range strings.Lines(strings.TrimSpace(drawing)) {
		all = append(all, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(all, "\n")
}

// TestStoreDrawing is the drawing of the package comment, step by step.
//
//	New(1)       1 {}
//	Put a, b     2 {a: x@2}           put a
//	             3 {a: x@2, b: y@3}   put b
//	Put a        4 {a: z@2-4, b: y@3} put a, was x@2
//	Delete b     5 {a: z@2-4}         delete b, was y@3
//	Compact(4)   from 4 on
//	Fork(4)      4, and its own 5
//	Restore(4)   4, and another 5
func TestStoreDrawing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)
	is.Equal(draw(s), lines(`1 {}`)) // empty at its first revision

	s.Put("a", []byte("x"), nil)
	s.Put("b", []byte("y"), nil)
	is.Equal(draw(s), lines(`
		1 {}
		2 {a: x@2}           put a
		3 {a: x@2, b: y@3}   put b`)) // one revision per put

	s.Put("a", []byte("z"), nil)
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
	is.Equal(draw(s), compacted) // nothing before 4

	f, err := s.Fork(4)
	is.NoErr(err)
	f.Put("c", []byte("w"), nil)
	is.Equal(draw(f), lines(`
		4 {a: z@2-4, b: y@3}         put a, was x@2
		5 {a: z@2-4, b: y@3, c: w@5} put c`)) // the fork has another 5
	is.Equal(draw(s), compacted) // the store does not see it

	is.NoErr(s.Restore(4))
	is.Equal(draw(s), lines(`4 {a: z@2-4, b: y@3} put a, was x@2`)) // 5 never happened
	s.Delete("a")
	is.Equal(draw(s), lines(`
		4 {a: z@2-4, b: y@3} put a, was x@2
		5 {b: y@3}           delete a, was z@2-4`)) // and is given out again
	is.Equal(f.Rev(), uint64(5))
	is.Equal(strings.Count(draw(f), "c: w@5"), 1) // the fork does not see it
}

// history returns a store of revisions 10 to 15, compacted at 12.
//
//	12 {a: 2@11-12}         put a, was 1@11
//	13 {a: 2@11-12, b: 3@13} put b
//	14 {b: 3@13}            delete a, was 2@11-12
//	15 {a: 5@15, b: 3@13}   put a
func history(is *is.I) *mvcc.Store {
	s := mvcc.New(10)
	s.Put("a", []byte("1"), nil)
	s.Put("a", []byte("2"), nil)
	s.Put("b", []byte("3"), nil)
	s.Delete("a")
	s.Put("a", []byte("5"), nil)
	is.NoErr(s.Compact(12))
	return s
}

// TestStoreRevisions reads at every kind of revision: etcd's rules are that the compact revision can be read, and that the events
// from it on can be watched.
func TestStoreRevisions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rev     uint64
		read    error // of At, Get, Fork, Restore
		events  error // of Events after rev
		count   int   // of these events
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
			is.Equal(len(events), test.count) // so many
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
			is.Equal(s.Compacted(), rev) // there is nothing before
			_, ok := s.Delete("a")
			is.True(!ok)           // there is nothing to delete
			is.Equal(s.Rev(), rev) // and that spends no revision
			e := s.Put("a", nil, nil)
			is.Equal(e.Rev, rev+1)   // the first write is the next revision
			is.Equal(s.Rev(), rev+1) // which is the current one now
		})
	}
}

// aux is an mvcc.Aux.
type aux struct{ labels string }

func (aux) Superseded() {}

func TestStoreEvent(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := mvcc.New(1)

	created := s.Put("a", []byte("1"), aux{"app=web"})
	is.Equal(*created.KV, mvcc.KV{Key: "a", Value: []byte("1"), CreateRev: 2, ModRev: 2, Aux: aux{"app=web"}})
	is.True(created.Prev == nil) // a create replaces nothing

	updated := s.Put("a", []byte("2"), nil)
	is.Equal(*updated.KV, mvcc.KV{Key: "a", Value: []byte("2"), CreateRev: 2, ModRev: 3})
	is.True(updated.Prev == created.KV) // the very value that was replaced

	deleted, ok := s.Delete("a")
	is.True(ok)                                                        // there was something to delete
	is.Equal(*deleted, mvcc.Event{Rev: 4, Key: "a", Prev: updated.KV}) // a tombstone
	again := s.Put("a", []byte("3"), nil)
	is.Equal(again.KV.CreateRev, uint64(5)) // a new life
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

// TestStoreChangesWhileReading writes and compacts inside a yield: the view that is being read does not change.
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

// TestStoreForkConcurrently uses a store and its forks from goroutines, each
// under its own lock, and one view from all, for the race detector.
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
	is.Equal(draw(untouched), before) // an untouched fork stays the same, too
}

// The newest view is read, for the first time, while the store is written.
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

// busy writes to a store that history made, and takes it back at times.
func busy(s *mvcc.Store) {
	for i := range 100 {
		s.Put(fmt.Sprint("key", i%7), []byte("v"), nil)
		if i%10 == 9 {
			_ = s.Restore(13 + uint64(i/10%3))
		}
	}
}

// A Store lists the same of a few keys, which it remembers, as of many.
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
		s.Put(key(i), []byte("x"), nil)
	}
	for i := range 240 {
		same()
		s.Put(key(i), []byte("y"), nil)
		same()
		s.Delete(key(i))
	}
	same()
}
