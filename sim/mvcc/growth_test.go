package mvcc

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/btree"
	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/pack"
)

// The cost of a page of 1 or 500 objects hardly depends on the number of objects in the store. It is measured in key comparisons.
func TestPagesDoNotGrow(t *testing.T) {
	t.Parallel()
	few, many := 1_000, 100_000
	page := func(keys, limit, from int) int {
		compared := 0
		x := newIndex()
		x.keys = btree.NewG(degree, func(a, b *KV) bool { compared++; return a.Key < b.Key })
		for i := range keys {
			x.put(&KV{Key: fmt.Sprintf("/pods/%06d", i)})
		}
		v := newView(x, Event{Rev: 1})
		compared = 0
		first, left := fmt.Sprintf("/pods/%06d", from), limit
		v.Range("/pods/", first, func(*KV) bool { compared++; left--; return left > 0 })
		if n := v.Count("/pods/", first); n != keys-from {
			t.Fatal(n)
		}
		return compared
	}
	for _, limit := range []int{1, 500} {
		for _, place := range []float64{0, 0.5} {
			is := is.New(t)
			a, b := page(few, limit, int(place*float64(few))), page(many, limit, int(place*float64(many)))
			t.Logf("limit %d from %v: %d and %d comparisons", limit, place, a, b)
			grows := math.Log(float64(b)/float64(a)) / math.Log(float64(many)/float64(few))
			is.True(grows < 0.1) // 0 means no growth, 1 means proportional growth
		}
	}
}

// All values but the newest wholeMax bytes are packed, also those of revisions that have been compacted. Reading a packed value
// allocates memory for its bytes.
func TestOldValuesArePacked(t *testing.T) {
	is := is.New(t)
	s, value := New(1), strings.Repeat("a value that is similar to others; ", 300)
	write := func(from, to int) {
		for i := from; i < to; i++ {
			s.Put(fmt.Sprint(i), pack.New(fmt.Appendf(nil, "%d %s", i, value)), nil)
		}
	}
	enough := wholeMax/len(value) + 100
	write(0, enough)
	is.NoErr(s.Compact(s.Rev()))
	write(enough, enough+400)
	whole, size := 0, 0
	for i := range enough + 400 {
		kv, err := s.Get(fmt.Sprint(i), 0)
		is.NoErr(err)
		is.Equal(string(kv.Value()), fmt.Sprintf("%d %s", i, value))
		if testing.AllocsPerRun(1, func() { kv.Value() }) == 0 {
			whole++
			size += kv.Text.Len()
		} else {
			is.Equal(whole, 0) // the older values are packed
		}
	}
	is.True(whole > enough-200)
	is.True(size <= wholeMax)
}

// A key that was searched or written is not searched again, whatever was written to it since.
func TestSearchOnce(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	compared := 0
	x := newIndex()
	x.keys = btree.NewG(degree, func(a, b *KV) bool { compared++; return a.Key < b.Key })
	s := begin(newView(x, Event{Rev: 1}))
	for i := range 1000 {
		s.Put(fmt.Sprintf("/pods/%06d", i), nil, nil)
	}
	get := func(key string) (rev uint64, comparisons int) {
		compared = 0
		kv, err := s.Get(key, 0)
		is.NoErr(err)
		if kv != nil {
			rev = kv.ModRev
		}
		return rev, compared
	}
	for _, key := range []string{"/pods/000007", "/pods/none"} {
		_, comparisons := get(key)
		is.True(comparisons > 0)
		before, comparisons := get(key)
		is.Equal(comparisons, 0)
		written := s.Put(key, nil, nil).Rev
		rev, comparisons := get(key)
		is.Equal(rev, written)
		is.True(rev > before)
		is.Equal(comparisons, 0)
		_, deleted := s.Delete(key)
		is.True(deleted)
		rev, comparisons = get(key)
		is.Equal(rev, uint64(0))
		is.Equal(comparisons, 0)
	}
}

// A write after a short range of the newest view continues with the same tree. A write after a long range copies it.
func TestShortRange(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	s := New(1)
	for i := range 1000 {
		s.Put(fmt.Sprintf("/pods/%06d", i), nil, nil)
	}
	copied := func(prefix string) bool {
		tree := s.head.keys
		s.current().Range(prefix, "", func(*KV) bool { return true })
		s.Put("/pods/000007", nil, nil)
		return s.head.keys != tree
	}
	is.True(!copied("/daemonsets/"))
	is.True(!copied("/pods/00000")) // ten pods
	is.True(copied("/pods/0000"))   // a hundred
}
