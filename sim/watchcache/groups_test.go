package watchcache

import (
	"fmt"
	"slices"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// selecting opens a watch on the objects whose indexed field equals value. It adds to compared the number of objects that are
// compared with the value, and appends the value to order for each event.
func (b *bench) selecting(value string, compared *int, order *[]string) *Watch {
	o := Options{Definition: things, Prefix: "/registry/things/", Value: &value, Encoder: Encoder{Encode: func(n Notice) codec.Text {
		*order = append(*order, value)
		return text(n)
	}}}
	o.Match = func(it *resource.Item) bool {
		*compared++
		return it.Field("l") == value
	}
	return NewWatch(o)
}

// A commit is offered only to the watches that it may concern, in the order in which they joined, no matter how many watches exist.
func TestGroups(t *testing.T) {
	is := is.New(t)
	b := newBench()
	var order []string
	compared := 0
	var watches []*Watch
	for n := range 1000 {
		watches = append(watches, b.selecting(fmt.Sprint("n", 999-n), &compared, &order))
		b.cache.Start(watches[n], 100)
	}
	all := b.watch("")
	b.cache.Start(all, 100)
	b.put("a", "n7")
	b.put("b", "n7")
	b.put("a", "n8") // which joined before n7
	b.delete("a")
	b.put("c", "none")
	is.Equal(order, []string{"n7", "n7", "n8", "n7", "n8"})
	is.Equal(taken(watches[999-7]), "ADDED:a@101 ADDED:b@102 DELETED:a@103")
	is.Equal(taken(watches[999-8]), "ADDED:a@103 DELETED:a@104")
	is.Equal(taken(all), "ADDED:a@101 ADDED:b@102 MODIFIED:a@103 DELETED:a@104 ADDED:c@105")
	is.True(compared <= 10) // two objects for each of five events

	compared = 0
	state := b.selecting("n7", &compared, &order)
	state.SendState(b.cache)
	is.Equal(taken(state), "ADDED:b@102")
	is.Equal(compared, 1) // the other objects are indexed under other values
	b.cache.EndAll()
	is.Equal(len(b.cache.watches.all())+len(b.cache.watches.paths)+len(b.cache.watches.values), 0) // all watches have been removed
}

// Watches on a single object and on a namespace have separate groups.
func TestPaths(t *testing.T) {
	is := is.New(t)
	b := newBench()
	one, namespace := b.watch(""), b.watch("")
	one.key, namespace.prefix = "/registry/things/ns/a", "/registry/things/ns/"
	b.cache.Start(one, 100)
	b.cache.Start(namespace, 100)
	b.put("ns/a", "x")
	b.put("ns/ab", "x")
	b.put("ns2/a", "x")
	is.Equal(taken(one), "ADDED:ns/a@101")
	is.Equal(taken(namespace), "ADDED:ns/a@101 ADDED:ns/ab@102")
}

// The index is rebuilt after the state has changed without a commit.
func TestIndexAfterFollow(t *testing.T) {
	is := is.New(t)
	b := newBench()
	found := func(value string) (names []string) {
		b.cache.Select(things, value, "/registry/things/", func(kv *mvcc.KV) bool {
			names = append(names, resource.ItemOf(things, kv).Name)
			return true
		})
		return names
	}
	b.put("b", "x")
	b.put("a", "x")
	is.Equal(found("x"), []string{"a", "b"}) // in key order
	old := b.cache.View()
	b.put("a", "y")
	is.Equal(found("x"), []string{"b"})
	b.cache.Follow(&Position{View: old})
	is.Equal(found("x"), []string{"a", "b"})
	is.True(slices.Equal(found("y"), nil))
	b.position.View = old
	b.cache.Follow(b.position)
	is.Equal(found("x"), []string{"a", "b"})
	b.position.View, _ = b.store.At(0)
	b.cache.Refill()
	is.Equal(found("y"), []string{"a"})
}
