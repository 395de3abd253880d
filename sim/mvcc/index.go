package mvcc

import (
	"slices"
	"sort"
	"strings"

	"github.com/google/btree"
)

// degree is the degree of the B-trees: a node has up to 2*degree-1 keys. A write to an index that has been read copies one node
// per level. Therefore small nodes make writes cheaper, and large nodes make reads cheaper (see BenchmarkPut and BenchmarkGet).
const degree = 16

// runMax is the maximum number of keys in a run, and blockMax the maximum number of runs in a block. BenchmarkCount measures
// the effect of both.
const runMax, blockMax = 256, 16

// index contains the keys of a view, and their counts:
//
//	keys     a b c d   e f g   h i j k   l m     the first key of each run, and its number of keys
//	runs    ╭"": 4 ─── e: 3╮  ╭h: 4 ──── l: 2╮
//	blocks  ╰───── 7 ──────╯  ╰───── 6 ──────╯
//
// To count keys, it adds up blocks and runs, and only visits keys in the two runs that are partly covered. A write that neither
// adds nor removes a key changes no count.
type index struct {
	keys   *btree.BTreeG[*KV]
	blocks []*block
}

// block is a sequence of runs.
type block struct {
	runs []run
	n    int                // number of keys
	of   *btree.BTreeG[*KV] // the tree of the index that may modify the block; other indexes must copy it
}

// run counts the keys from first up to the next run.
type run struct {
	first string
	n     int
}

func newIndex() index {
	keys := btree.NewG(degree, func(a, b *KV) bool { return a.Key < b.Key })
	return index{keys, []*block{{runs: make([]run, 1), of: keys}}}
}

// edit returns a copy that can be written to. It shares nodes and blocks with the index, and copies them when it changes them.
//
// Clone would also change the identity of the original tree, so that both can be written to. The tree of a view is never
// written to, but views of a fork are read under another lock. Therefore edit clones a copy of the tree's header and leaves the
// view's tree unchanged.
func (x index) edit() index {
	header := *x.keys
	return index{header.Clone(), slices.Clone(x.blocks)}
}

// put stores kv. It returns the KV that it replaces, or nil.
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

// apply applies an event. It returns the KV that a put replaces, or nil.
func (x *index) apply(e *Event) *KV {
	if e.KV != nil {
		return x.put(e.KV)
	}
	x.delete(e.Key)
	return nil
}

// get returns the KV of a key, or nil if the key does not exist.
func (x index) get(key string) *KV {
	kv, _ := x.keys.Get(&KV{Key: key})
	return kv
}

// resize adds n, which may be negative, to the count of the run that contains key. It splits a run or block that has become too
// large.
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

// own returns block i for modification. If other indexes share the block, own copies it first.
func (x *index) own(i int) *block {
	b := x.blocks[i]
	if b.of != x.keys {
		b = &block{slices.Clone(b.runs), b.n, x.keys}
		x.blocks[i] = b
	}
	return b
}

// halve splits run j of block b into two runs.
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

// find returns the index of the block that contains key or would contain it, and the index of the run within the block.
func (x index) find(key string) (i, j int) {
	i = max(0, sort.Search(len(x.blocks), func(i int) bool { return x.blocks[i].runs[0].first > key })-1)
	runs := x.blocks[i].runs
	return i, max(0, sort.Search(len(runs), func(j int) bool { return runs[j].first > key })-1)
}

// each yields the keys that are not less than from, in order.
func (x index) each(from string, yield func(*KV) bool) {
	x.keys.AscendGreaterOrEqual(&KV{Key: from}, yield)
}

// ranged yields the keys that begin with prefix and are not less than from, in order.
func (x index) ranged(prefix, from string, yield func(*KV) bool) {
	x.each(max(prefix, from), func(kv *KV) bool {
		return strings.HasPrefix(kv.Key, prefix) && yield(kv)
	})
}

// count returns the number of keys that begin with prefix and are not less than from.
func (x index) count(prefix, from string) int {
	from = max(prefix, from)
	if !strings.HasPrefix(from, prefix) {
		return 0 // all keys with the prefix are less than from
	}
	n := -x.before(from)
	if end, bounded := prefixEnd(prefix); bounded {
		return n + x.before(end)
	}
	for _, b := range x.blocks {
		n += b.n
	}
	return n
}

// before returns the number of keys that are less than key.
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

// between returns the number of keys k with from <= k < to. It visits each of them.
func (x index) between(from, to string) int {
	n := 0
	x.keys.AscendRange(&KV{Key: from}, &KV{Key: to}, func(*KV) bool { n++; return true })
	return n
}

// prefixEnd returns the smallest string that is greater than all strings with the prefix. It returns false if there is none.
func prefixEnd(prefix string) (string, bool) {
	last := len(prefix) - 1
	for last >= 0 && prefix[last] == 0xff { // compares bytes, not runes: strings.TrimRight would take the byte for U+FFFD
		last--
	}
	if last < 0 {
		return "", false
	}
	return prefix[:last] + string([]byte{prefix[last] + 1}), true
}
