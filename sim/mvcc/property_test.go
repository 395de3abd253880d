package mvcc_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

// op is an operation of a run. A fuzz input contains it as two bytes.
//
//	kind  put delete compact restore fork use
//	arg   key, revision below the current one, or which store
type op struct{ kind, arg byte }

const (
	opPut = iota
	opDelete
	opCompact
	opRestore
	opFork
	opUse
	opKinds
)

var opKeys = []string{"a", "a/b", "a/c", "a/c/d", "b", "ä", ""}

// storesMax is the maximum number of stores in a run. Further forks are skipped.
const storesMax = 4

func (o op) String() string {
	name := [...]string{"put", "delete", "compact -", "restore -", "fork -", "use "}[o.kind%opKinds]
	if o.kind%opKinds <= opDelete {
		return fmt.Sprintf("%s %q", name, o.key())
	}
	return fmt.Sprint(name, o.arg%8)
}

func (o op) key() string { return opKeys[int(o.arg)%len(opKeys)] }

// rev returns a revision: the one after the current one, the current one, an earlier one, or 0.
func (o op) rev(current uint64) uint64 {
	back := uint64(o.arg % 8)
	if back > current+1 {
		return 0
	}
	return current + 1 - back
}

// run holds the stores of a run with their models, and views that were taken earlier.
type run struct {
	stores []*mvcc.Store
	models []*model
	now    int // index of the store in use
	count  int // number of operations so far; used as the next value
	kept   []*mvcc.View
	looks  []string // content of kept[i] when it was taken
}

func newRun(rev uint64) *run {
	return &run{stores: []*mvcc.Store{mvcc.New(rev)}, models: []*model{newModel(rev)}}
}

// mark implements mvcc.Aux.
type mark int

func (mark) Superseded() {}
func (mark) Packed()     {}

// do runs an operation on the store and the model in use. It returns an error if the results differ.
func (r *run) do(o op) error {
	s, m := r.stores[r.now], r.models[r.now]
	r.count++
	var got, want error
	switch o.kind % opKinds {
	case opPut:
		value := fmt.Sprint("v", r.count)
		e := s.Put(o.key(), pack.New([]byte(value)), mark(r.count))
		m.put(o.key(), value)
		if e.Rev != m.rev || e.KV.Aux != mark(r.count) {
			return fmt.Errorf("event %+v, want revision %d and aux %d", e, m.rev, r.count)
		}
	case opDelete:
		e, ok := s.Delete(o.key())
		if wantOK := m.delete(o.key()); ok != wantOK || (e != nil) != wantOK {
			return fmt.Errorf("deleted: %v, want %v", ok, wantOK)
		}
	case opCompact:
		got, want = s.Compact(o.rev(m.rev)), m.compact(o.rev(m.rev))
	case opRestore:
		rev := o.rev(m.rev)
		got, want = s.Restore(rev), m.restore(rev)
	case opFork:
		got, want = r.fork(o.rev(m.rev))
	case opUse:
		r.now = int(o.arg) % len(r.stores)
	}
	if !errors.Is(got, want) || !errors.Is(want, got) {
		return fmt.Errorf("error %v, want %v", got, want)
	}
	return nil
}

// fork adds a fork of the store in use and switches to it.
func (r *run) fork(rev uint64) (got, want error) {
	if len(r.stores) == storesMax {
		return nil, nil
	}
	s, got := r.stores[r.now].Fork(rev)
	m, want := r.models[r.now].fork(rev)
	if got == nil && want == nil {
		r.now = len(r.stores)
		r.stores, r.models = append(r.stores, s), append(r.models, m)
	}
	return got, want
}

// keep saves a view of the store in use and its content, so that check can compare them later.
func (r *run) keep() error {
	v, err := r.stores[r.now].At(0)
	if err == nil {
		r.kept, r.looks = append(r.kept, v), append(r.looks, viewRange(v, "", ""))
	}
	return err
}

// check compares all stores with their models, and all views with their earlier content.
func (r *run) check() error {
	for i, s := range r.stores {
		if err := check(s, r.models[i]); err != nil {
			return fmt.Errorf("store %d: %w", i, err)
		}
	}
	for i, v := range r.kept {
		if got := viewRange(v, "", ""); got != r.looks[i] {
			return fmt.Errorf("the view of %d became %s, was %s", v.Rev(), got, r.looks[i])
		}
	}
	return nil
}

// play runs all operations and checks the stores after each one.
func play(rev uint64, ops []op) error {
	r := newRun(rev)
	for i, o := range ops {
		err := r.do(o)
		if err == nil {
			err = errors.Join(r.keep(), r.check())
		}
		if err != nil {
			return fmt.Errorf("from revision %d: %v: %w", rev, ops[:i+1], err)
		}
	}
	return nil
}

// ops decodes at most 64 operations from a fuzz input.
func ops(data []byte) (all []op) {
	for pair := range slices.Chunk(data, 2) {
		if len(pair) == 2 && len(all) < 64 {
			all = append(all, op{pair[0] % opKinds, pair[1]})
		}
	}
	return all
}

// TestStoreRandom runs 100 random sequences of operations (20 with -short).
func TestStoreRandom(t *testing.T) {
	t.Parallel()
	seeds := uint64(100)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			is := is.New(t)
			r := rand.New(rand.NewPCG(seed, 0))
			var all []op
			for range 40 {
				// Three in four operations are writes, so that the history is long enough.
				kind := byte(r.IntN(2))
				if r.IntN(4) == 0 {
					kind = byte(r.IntN(opKinds))
				}
				all = append(all, op{kind, byte(r.IntN(256))})
			}
			is.NoErr(play(seed%3, all)) // the store and the model give the same results
		})
	}
}

// TestStoreLarge writes enough keys for a tree with several levels, whose nodes are split and joined.
func TestStoreLarge(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 0))
	s, m := mvcc.New(1), newModel(1)
	var kept []*mvcc.View
	var looks []string
	for i := range 3000 {
		key := fmt.Sprintf("key-%03d", r.IntN(600))
		if i%1000 < 700 {
			s.Put(key, pack.New([]byte("v")), nil)
			m.put(key, "v")
		} else if _, ok := s.Delete(key); ok {
			m.delete(key)
		}
		if i%100 == 0 {
			v, err := s.At(0)
			is.NoErr(err)
			kept, looks = append(kept, v), append(looks, viewRange(v, "", ""))
		}
	}
	want, count := m.rangeAt(m.rev, "", "")
	v, err := s.At(0)
	is.NoErr(err)
	is.Equal(viewRange(v, "", ""), want) // the current state
	is.Equal(v.Count("key-", ""), count) // the number of keys
	is.NoErr(s.Compact(s.Rev()))
	for i, v := range kept {
		is.Equal(viewRange(v, "", ""), looks[i]) // no view has changed, even if its revision was compacted
		at, _ := m.rangeAt(v.Rev(), "", "")
		is.Equal(looks[i], at) // and its content was right when it was taken
	}
}

// TestCountLarge compares Count, which does not visit the keys, with the number of keys that Range yields. Its stores have some
// thousand keys. They grow, lose ranges of keys, and grow again.
func TestCountLarge(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := rand.New(rand.NewPCG(2, 0))
	key := func(n int) string { return fmt.Sprintf("/%c/%d/%04d", 'a'+n%3, n%7, n) }
	s := mvcc.New(1)
	for round := range 40 {
		from, deletes := r.IntN(8000), round%4 == 3
		for n := from; n < from+r.IntN(3000); n++ {
			if deletes {
				s.Delete(key(n))
			} else {
				s.Put(key(n), nil, nil)
			}
		}
		v, err := s.At(s.Compacted() + uint64(r.IntN(int(s.Rev()-s.Compacted())+1)))
		is.NoErr(err)
		for range 20 {
			prefix, start := key(r.IntN(11000)), key(r.IntN(11000))
			prefix = prefix[:r.IntN(len(prefix)+1)]
			start = start[:r.IntN(len(start)+1)]
			want := 0
			v.Range(prefix, start, func(*mvcc.KV) bool { want++; return true })
			is.Equal(v.Count(prefix, start), want)
		}
	}
}

// TestStoreExhaustive runs all sequences of up to five of its operations (four with -short).
func TestStoreExhaustive(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	alphabet := []op{
		{opPut, 0}, {opPut, 1}, {opDelete, 0}, // two keys
		{opCompact, 1}, {opCompact, 2}, // at the current revision and earlier
		{opRestore, 2}, {opFork, 1}, {opFork, 2}, {opUse, 0},
	}
	length := 5
	if testing.Short() {
		length = 4
	}
	var sequence []op
	var all func()
	all = func() {
		r := newRun(1)
		for _, o := range sequence {
			is.NoErr(r.do(o)) // each result equals that of the model
			is.NoErr(r.keep())
		}
		if err := r.check(); err != nil {
			t.Fatalf("%v: %v", sequence, err)
		}
		if len(sequence) == length {
			return
		}
		for _, o := range alphabet {
			sequence = append(sequence, o)
			all()
			sequence = sequence[:len(sequence)-1]
		}
	}
	all()
}

// FuzzStore runs the operations that are encoded in the input, in two bytes each. The committed inputs are in
// testdata/fuzz/FuzzStore; -v prints their operations.
func FuzzStore(f *testing.F) {
	f.Add([]byte{opPut, 0, opPut, 1, opDelete, 0, opCompact, 2, opPut, 0})
	f.Add([]byte{opPut, 0, opPut, 0, opFork, 2, opPut, 1, opUse, 0, opPut, 2, opRestore, 3, opPut, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		t.Log(strings.Trim(fmt.Sprint(ops(data)), "[]"))
		if err := play(1, ops(data)); err != nil {
			t.Fatal(err)
		}
	})
}
