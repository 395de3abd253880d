package mvcc

import (
	"strings"

	"github.com/google/btree"
)

// degree is that of the B-trees: a node has up to 2*degree-1 keys.
// A write copies one node per level, so small nodes are cheaper to write and
// large ones cheaper to read; BenchmarkPut and BenchmarkGet show how much.
const degree = 16

// runMax is how many keys a run may have: BenchmarkCount shows its price.
const runMax = 512

// index is the keys of a view, and how many they are:
//
//	keys   a b c d   e f g   h i j k
//	runs   "": 4     e: 3    h: 4      where each begins, and how many keys it has
//
// A count adds up runs and visits keys only in the two runs that it takes a
// part of. A write that makes no key and removes none leaves the runs alone.
type index struct {
	keys *btree.BTreeG[*KV]
	runs *btree.BTreeG[*run]
}

// run is the keys from one on, up to the next run. It never changes.
type run struct {
	first string
	n     int
}

func newIndex() index {
	x := index{
		keys: btree.NewG(degree, func(a, b *KV) bool { return a.Key < b.Key }),
		runs: btree.NewG(degree, func(a, b *run) bool { return a.first < b.first }),
	}
	x.runs.ReplaceOrInsert(&run{})
	return x
}

// edit returns a copy to write to. It shares its nodes with the index and copies
// those it changes.
//
// Clone also gives the tree it is called on a new identity, so that both may be
// written to. The tree of a view is never written to, but views of a fork are
// read under another lock: the call is made on a copy of the tree's header
// instead, and the view's stays as it is.
func (x index) edit() index { return index{keys: clone(x.keys), runs: x.runs} }

func clone[T any](t *btree.BTreeG[T]) *btree.BTreeG[T] {
	header := *t
	return header.Clone()
}

// put stores kv and returns what it replaces, nil for nothing.
func (x *index) put(kv *KV) *KV {
	prev, found := x.keys.ReplaceOrInsert(kv)
	if !found {
		x.resize(kv.Key, 1)
	}
	return prev
}

// delete removes a key that is there.
func (x *index) delete(key string) {
	x.keys.Delete(&KV{Key: key})
	x.resize(key, -1)
}

// apply does what an event did.
func (x *index) apply(e *Event) {
	if e.KV != nil {
		x.put(e.KV)
	} else {
		x.delete(e.Key)
	}
}

// get returns what is stored at a key, or nil.
func (x index) get(key string) *KV {
	kv, _ := x.keys.Get(&KV{Key: key})
	return kv
}

// resize adds n keys to the run that key is in. It cuts a run in two that has grown too large.
func (x *index) resize(key string, n int) {
	x.runs = clone(x.runs)
	r := *x.runOf(key)
	r.n += n
	if r.n > runMax {
		left := r.n / 2
		middle := ""
		x.each(r.first, func(kv *KV) bool {
			middle = kv.Key
			left--
			return left >= 0
		})
		x.runs.ReplaceOrInsert(&run{middle, r.n - r.n/2})
		r.n /= 2
	}
	if r.n == 0 && r.first != "" {
		x.runs.Delete(&r)
		return
	}
	x.runs.ReplaceOrInsert(&r)
}

// runOf returns the run that a key is in, or would be.
func (x index) runOf(key string) (found *run) {
	x.runs.DescendLessOrEqual(&run{first: key}, func(r *run) bool {
		found = r
		return false
	})
	return found
}

// each yields the keys that are not before from, in order.
func (x index) each(from string, yield func(*KV) bool) {
	x.keys.AscendGreaterOrEqual(&KV{Key: from}, yield)
}

// count returns how many keys there are from one on that begin with prefix.
func (x index) count(prefix, from string) int {
	from = max(prefix, from)
	if !strings.HasPrefix(from, prefix) {
		return 0 // all that do are before it
	}
	end, bounded := after(prefix)
	first, last, n := x.runOf(from), (*run)(nil), 0
	if bounded {
		last = x.runOf(end)
	}
	x.runs.AscendGreaterOrEqual(first, func(r *run) bool {
		n += r.n
		return r != last
	})
	n -= x.between(first.first, from)
	if bounded {
		n -= last.n - x.between(last.first, end)
	}
	return n
}

// between visits the keys from one on and before another, and returns how many they are.
func (x index) between(from, to string) int {
	n := 0
	x.keys.AscendRange(&KV{Key: from}, &KV{Key: to}, func(*KV) bool { n++; return true })
	return n
}

// after returns the first text after all that begin with prefix. It reports false when there is none.
func after(prefix string) (string, bool) {
	last := len(prefix) - 1
	for last >= 0 && prefix[last] == 0xff { // a byte, not a rune: strings.TrimRight would take U+FFFD for it
		last--
	}
	if last < 0 {
		return "", false
	}
	return prefix[:last] + string([]byte{prefix[last] + 1}), true
}
