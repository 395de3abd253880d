package mvcc

import (
	"slices"
	"sort"
	"strings"

	"github.com/google/btree"
)

// degree is the degree of the B-trees: a node has up to 2*degree-1 keys. A write to an index that has been read copies one node per
// level, so small nodes are cheaper to write and large ones cheaper to read; BenchmarkPut and BenchmarkGet show how much.
const degree = 16

// runMax is the largest number of keys in a run, and blockMax the largest number of runs in a block: BenchmarkCount shows the cost
// of both.
const runMax, blockMax = 256, 16

// index contains the keys of a view, and counts of them:
//
//	keys     a b c d   e f g   h i j k   l m     the first key of each run, and its number of keys
//	runs    ╭"": 4 ─── e: 3╮  ╭h: 4 ──── l: 2╮
//	blocks  ╰───── 7 ──────╯  ╰───── 6 ──────╯
//
// A count adds up blocks and runs, and visits keys only in the two runs that it partly covers. A write that neither adds nor
// removes a key does not change them.
type index struct {
	keys   *btree.BTreeG[*KV]
	blocks []*block
}

// block is runs, up to the next block.
type block struct {
	runs []run
	n    int                // keys
	of   *btree.BTreeG[*KV] // keys of the index that may change it; the others share it
}

// run is the keys from one on, up to the next run.
type run struct {
	first string
	n     int
}

func newIndex() index {
	keys := btree.NewG(degree, func(a, b *KV) bool { return a.Key < b.Key })
	return index{keys, []*block{{runs: make([]run, 1), of: keys}}}
}

// edit returns a copy to write to. It shares its nodes and blocks with the index and copies the ones that it changes.
//
// Clone also gives the tree it is called on a new identity, so that both may be written to. The tree of a view is never written to,
// but views of a fork are read under another lock: so Clone is called on a copy of the tree's header, and the view's is not
// changed.
func (x index) edit() index {
	header := *x.keys
	return index{header.Clone(), slices.Clone(x.blocks)}
}

// put stores kv and returns the KV that it replaces, or nil.
func (x *index) put(kv *KV) *KV {
	prev, found := x.keys.ReplaceOrInsert(kv)
	if !found {
		x.resize(kv.Key, 1)
	}
	return prev
}

// delete removes an existing key.
func (x *index) delete(key string) {
	x.keys.Delete(&KV{Key: key})
	x.resize(key, -1)
}

// apply applies an event and returns the KV that a put replaced, or nil.
func (x *index) apply(e *Event) *KV {
	if e.KV != nil {
		return x.put(e.KV)
	}
	x.delete(e.Key)
	return nil
}

// get returns the KV of a key, or nil.
func (x index) get(key string) *KV {
	kv, _ := x.keys.Get(&KV{Key: key})
	return kv
}

// resize adds n keys to the run that key is in. It cuts in two a run or a block that has grown too large.
func (x *index) resize(key string, n int) {
	i, j := x.find(key)
	b := x.own(i)
	b.n += n
	if b.runs[j].n += n; b.runs[j].n > runMax {
		x.halve(b, j)
	} else if r := b.runs[j]; r.n == 0 && r.first != "" {
		b.runs = slices.Delete(b.runs, j, j+1)
	}
	switch half := len(b.runs) / 2; {
	case len(b.runs) == 0:
		x.blocks = slices.Delete(x.blocks, i, i+1)
	case len(b.runs) > blockMax:
		second := &block{runs: slices.Clone(b.runs[half:]), of: x.keys}
		for _, r := range second.runs {
			second.n += r.n
		}
		b.runs, b.n = b.runs[:half:half], b.n-second.n
		x.blocks = slices.Insert(x.blocks, i+1, second)
	}
}

// own returns a block, which may be changed from now on.
func (x *index) own(i int) *block {
	b := x.blocks[i]
	if b.of != x.keys {
		b = &block{slices.Clone(b.runs), b.n, x.keys}
		x.blocks[i] = b
	}
	return b
}

// halve makes two runs of a run of a block.
func (x *index) halve(b *block, j int) {
	r := &b.runs[j]
	left, middle := r.n/2, ""
	x.each(r.first, func(kv *KV) bool {
		middle = kv.Key
		left--
		return left >= 0
	})
	second := run{middle, r.n - r.n/2}
	r.n /= 2
	b.runs = slices.Insert(b.runs, j+1, second)
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

// ranged yields the keys from one on that begin with prefix, in order.
func (x index) ranged(prefix, from string, yield func(*KV) bool) {
	x.each(max(prefix, from), func(kv *KV) bool {
		return strings.HasPrefix(kv.Key, prefix) && yield(kv)
	})
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

// after returns the first text after all that begin with prefix. It returns false if there is none.
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
