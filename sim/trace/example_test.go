package trace_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/trace"
)

func ExampleNew() {
	t := trace.New(trace.Options{Keep: 1})
	t.Add(&trace.Record{Site: trace.RequestArrived, Client: "jane", Verb: "create", What: "configmaps", Key: "default/a"})
	t.Add(&trace.Record{Site: trace.RequestArrived, Client: "jane", Verb: "get", What: "configmaps", Key: "default/a"})
	for _, r := range t.Since(0) {
		fmt.Println(r.N, r.Verb, r.Key) // the first record was dropped
	}
	// Output: 2 get default/a
}

func ExampleLoad() {
	o := trace.Options{Keep: 8, Hash: true}
	t := trace.New(o)
	t.Add(&trace.Record{Site: trace.RequestArrived, Verb: "get", What: "pods"})
	again, err := trace.Load(o, t.State())
	if err != nil {
		panic(err)
	}
	fmt.Println(again.Len(), again.Hash() == t.Hash())
	// Output: 1 true
}

func ExampleParse() {
	t := trace.New(trace.Options{Keep: 8})
	t.Add(&trace.Record{Site: trace.RequestArrived, Verb: "get", What: "pods"})
	log, err := trace.Parse(t.Log().JSONL())
	if err != nil {
		panic(err)
	}
	fmt.Println(len(log.Records), log.Records[0].What)
	// Output: 1 pods
}

func ExampleParseRecord() {
	line := (&trace.Record{N: 1, Site: trace.RequestArrived, Verb: "get", What: "pods"}).AppendJSON(nil)
	r, err := trace.ParseRecord(line)
	fmt.Println(r.N, r.Verb, r.What, err)
	// Output: 1 get pods <nil>
}
