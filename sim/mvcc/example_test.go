package mvcc_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/mvcc"
)

func ExampleNew() {
	s := mvcc.New(1)
	s.Put("/pods/default/a", []byte("pending"), nil)
	s.Put("/pods/default/a", []byte("running"), nil)
	s.Delete("/pods/default/a")

	then, _ := s.Get("/pods/default/a", 2)
	now, _ := s.Get("/pods/default/a", 0)
	fmt.Printf("%s %v\n", then.Value, now)

	_ = s.Events(2, func(e *mvcc.Event) bool {
		fmt.Println(e.Rev, e.KV != nil, string(e.Prev.Value))
		return true
	})
	// Output:
	// pending <nil>
	// 3 true pending
	// 4 false running
}

func ExampleStore_Compact() {
	s := mvcc.New(1)
	s.Put("a", []byte("1"), nil)
	s.Put("a", []byte("2"), nil)
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
