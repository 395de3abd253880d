package mvcc

import (
	"slices"
	"sort"
	"strings"

	"github.com/google/btree"
)

// degree is that of the B-trees: a node has up to 2*degree-1 keys.
// A write copies one node per level, so small nodes are cheaper to write and
// large ones cheaper to read; BenchmarkPut and BenchmarkGet show how much.
const degree = 16

// runMax is how many keys a run may have, and blockMax how many runs a block:
// BenchmarkCount shows the price of both.
const runMax, blockMax = 256, 16

// index is the keys of a view, and how many they are:
//
//	keys     a b c d   e f g   h i j k   l m     where each begins, and how many keys it has
//	runs    ╭"": 4 ─── e: 3╮  ╭h: 4 ──── l: 2╮
//	blocks  ╰───── 7 ──────╯  ╰───── 6 ──────╯
//
// A count adds up blocks and runs, and visits keys only in the two runs that it
// takes a part of. A write that makes no key and removes none leaves them alone.
type index struct {
	keys   *btree.BTreeG[*KV]
	blocks []*block // which nobody changes, as nobody does the blocks
}

// block is runs, up to the next block.
type block struct {
	runs []run
	n    int // keys
}

// run is the keys from one on, up to the next run.
type run struct {
	first string
	n     int
}

func newIndex() index {
	return index{
		keys:   btree.NewG(degree, func(a, b *KV) bool { return a.Key < b.Key }),
		blocks: []*block{newBlock(make([]run, 1))},
	}
}

func newBlock(runs []run) *block {
	b := &block{runs: runs}
	for _, r := range runs {
		b.n += r.n
	}
	return b
}

// edit returns a copy to write to. It shares its nodes with the index and copies
// those it changes.
//
// Clone also gives the tree it is called on a new identity, so that both may be
// written to. The tree of a view is never written to, but views of a fork are
// read under another lock: the call is made on a copy of the tree's header
// instead, and the view's stays as it is.
func (x index) edit() index {
	header := *x.keys
	return index{keys: header.Clone(), blocks: x.blocks}
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

// resize adds n keys to the run that key is in. It cuts in two a run or a block that has grown too large.
func (x *index) resize(key string, n int) {
	i, j := x.find(key)
	runs := slices.Clone(x.blocks[i].runs)
	r := &runs[j]
	if r.n += n; r.n > runMax {
		left := r.n / 2
		middle := ""
		x.each(r.first, func(kv *KV) bool {
			middle = kv.Key
			left--
			return left >= 0
		})
		second := run{middle, r.n - r.n/2}
		r.n /= 2
		runs = slices.Insert(runs, j+1, second)
	} else if r.n == 0 && r.first != "" {
		runs = slices.Delete(runs, j, j+1)
	}
	x.blocks = slices.Clone(x.blocks)
	switch half := len(runs) / 2; {
	case len(runs) == 0:
		x.blocks = slices.Delete(x.blocks, i, i+1)
	case len(runs) > blockMax:
		x.blocks[i] = newBlock(slices.Clone(runs[:half]))
		x.blocks = slices.Insert(x.blocks, i+1, newBlock(slices.Clone(runs[half:])))
	default:
		x.blocks[i] = newBlock(runs)
	}
}

// find returns the place of the block that a key is in, or would be, and that of the run in it.
func (x index) find(key string) (i, j int) {
	i = max(0, sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].runs[0].first > key })-1)
	runs := x.blocks[i].runs
	return i, max(0, sort.Search(len(runs), func(j int) bool { return runs[j].first > key })-1)
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
	n := -x.before(from)
	if end, bounded := after(prefix); bounded {
		return n + x.before(end)
	}
	for _, b := range x.blocks {
		n += b.n
	}
	return n
}

// before returns how many keys are before one.
func (x index) before(key string) (n int) {
	i, j := x.find(key)
	for _, b := range x.blocks[:i] {
		n += b.n
	}
	runs := x.blocks[i].runs
	for _, r := range runs[:j] {
		n += r.n
	}
	return n + x.between(runs[j].first, key)
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
