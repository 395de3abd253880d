package mvcc_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/pack"
)

func ExampleNew() {
	s := mvcc.New(1)
	s.Put("/pods/default/a", pack.New([]byte("pending")), nil)
	s.Put("/pods/default/a", pack.New([]byte("running")), nil)
	s.Delete("/pods/default/a")

	then, _ := s.Get("/pods/default/a", 2)
	now, _ := s.Get("/pods/default/a", 0)
	fmt.Printf("%s %v\n", then.Value(), now)

	_ = s.Events(2, func(e *mvcc.Event) bool {
		fmt.Println(e.Rev, e.KV != nil, string(e.Prev.Value()))
		return true
	})
	// Output:
	// pending <nil>
	// 3 true pending
	// 4 false running
}

func ExampleStore_Compact() {
	s := mvcc.New(1)
	s.Put("a", pack.New([]byte("1")), nil)
	s.Put("a", pack.New([]byte("2")), nil)
	fmt.Println(s.Compact(3))
	_, err := s.At(2)
	fmt.Println(err)
	_, err = s.At(4)
	fmt.Println(err)
	// Output:
	// <nil>
	// mvcc: required revision has been compacted
	// mvcc: required revision is a future revision
}

// NewView creates a View, the state of a store at one revision, from saved keys.
func ExampleNewView() {
	v := mvcc.NewView(7, []*mvcc.KV{
		{Key: "/pods/default/b", Text: pack.New([]byte("running")), CreateRev: 5, ModRev: 7},
		{Key: "/pods/default/a", Text: pack.New([]byte("pending")), CreateRev: 6, ModRev: 6},
	})
	v.Range("/pods/", "", func(kv *mvcc.KV) bool {
		fmt.Println(kv.Key, kv.ModRev)
		return true
	})
	// Output:
	// /pods/default/a 6
	// /pods/default/b 7
}

// Load creates a store from its oldest view and the commits since.
func ExampleLoad() {
	s := mvcc.New(1)
	oldest, _ := s.At(0)
	events := []*mvcc.Event{s.Put("a", pack.New([]byte("1")), nil), s.Put("a", pack.New([]byte("2")), nil)}

	again, err := mvcc.Load(oldest, nil, events)
	fmt.Println(again.Rev(), err)
	then, _ := again.Get("a", 2)
	fmt.Println(string(then.Value()))
	_, err = mvcc.Load(oldest, nil, events[1:]) // the first commit is missing
	fmt.Println(err != nil)
	// Output:
	// 3 <nil>
	// 1
	// true
}
