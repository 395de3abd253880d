package checker_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/checker"
	"github.com/kubesim/kubesim/sim/object"
)

func parsed(text string) object.Object {
	o, err := object.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return o
}

// Objects have the same digest if they differ only in resourceVersion.
func ExampleObjectOf() {
	one, err := checker.ObjectOf(parsed(`{"metadata":{"name":"a","resourceVersion":"7"},"data":{"color":"red"}}`))
	if err != nil {
		panic(err)
	}
	other, err := checker.ObjectOf(parsed(`{"metadata":{"name":"a","resourceVersion":"9"},"data":{"color":"red"}}`))
	if err != nil {
		panic(err)
	}
	fmt.Println(one.Rev, other.Rev, one.Digest == other.Digest)
	// Output: 7 9 true
}

func ExampleEventOf() {
	ev, err := checker.EventOf(parsed(`{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"9","annotations":{"k8s.io/initial-events-end":"true"}}}}`))
	fmt.Println(ev.Type, ev.Rev, ev.InitialEnd, err)
	// Output: BOOKMARK 9 true <nil>
}

// A check finds the violations of one promise in the evidence; Check checks all promises.
func ExampleIndex() {
	a := &checker.Object{Name: "a", Rev: 5}
	h := &checker.History{From: 4,
		Commits: []checker.Commit{{ID: checker.ID{Resource: "things", Name: "a"}, Rev: 5, Object: a, Step: 1}},
		Calls:   []*checker.Call{{N: 1, Client: "jane", Verb: "list", Scope: checker.Scope{Resource: "things"}, Code: 200, Called: 2, Returned: 3, Rev: 5}},
	}
	checker.AtomicList(checker.Index(h), func(format string, args ...any) { fmt.Printf(format+"\n", args...) })
	// Output: call 1 (jane: list things rv="" match="" limit=0): the list at 5 is [], the state is [a@5]
}
