package mvcc

import (
	"strings"

	"github.com/google/btree"
)

// degree is that of the B-trees: a node has up to 2*degree-1 keys.
// A write copies one node per level, so small nodes are cheaper to write and
// large ones cheaper to read; BenchmarkPut and BenchmarkGet show how much.
const degree = 16

// View is the store as it was at one revision. It never changes:
// it may be read while the store goes on, from any goroutine.
type View struct {
	rev   uint64
	index *btree.BTreeG[*KV] // by key
	event *Event             // the commit that made this revision; nil for the one the store began with
}

func less(a, b *KV) bool { return a.Key < b.Key }

// Rev returns the revision of the view.
func (v *View) Rev() uint64 { return v.rev }

// Get returns the key, nil if it is absent.
func (v *View) Get(key string) *KV {
	kv, _ := v.index.Get(&KV{Key: key})
	return kv
}

// Range yields the keys that begin with prefix and are not before from, in
// ascending byte order, until yield returns false.
// The empty prefix and the empty from leave nothing out.
func (v *View) Range(prefix, from string, yield func(*KV) bool) {
	start := &KV{Key: max(prefix, from)}
	v.index.AscendGreaterOrEqual(start, func(kv *KV) bool {
		return strings.HasPrefix(kv.Key, prefix) && yield(kv)
	})
}

// Count returns how many keys Range would yield.
// It visits them, unless it is asked for all keys of the store.
func (v *View) Count(prefix, from string) int {
	if prefix == "" && from == "" {
		return v.index.Len()
	}
	n := 0
	v.Range(prefix, from, func(*KV) bool { n++; return true })
	return n
}

// edit returns a copy of the index to write to. It shares its nodes with the
// view and copies those it changes.
//
// Clone also gives the tree it is called on a new identity, so that both may be
// written to. The view's tree is never written to, but views of a fork are read
// under another lock: the call is made on a copy of the tree's header instead,
// and the view's stays as it is.
func (v *View) edit() *btree.BTreeG[*KV] {
	header := *v.index
	return header.Clone()
}
