package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// update records one write that one watch receives.
func update(t *Trace, at time.Time) {
	arrived := t.Add(&Record{At: at, Site: RequestArrived, Replica: 1, Client: "op/v1 (linux)", User: "jane", Verb: "update", What: "pods", Key: "default/a"})
	decided := t.Add(&Record{At: at, Site: RequestDecided, Cause: arrived, Replica: 1, Client: "op/v1 (linux)", Verb: "update", What: "pods", Key: "default/a"})
	committed := t.Add(&Record{At: at, Site: StoreCommitted, Cause: decided, Replica: 1, Verb: "MODIFIED", What: "pods", Key: "default/a", Rev: 4017})
	t.Add(&Record{At: at, Site: ReplicaApplied, Cause: committed, Replica: 1, Verb: "MODIFIED", What: "pods", Key: "default/a", Rev: 4017})
	t.Add(&Record{At: at, Site: WatchSent, Cause: committed, Replica: 1, Client: "kubelet/v1", Verb: "MODIFIED", What: "pods", Key: "default/a", Rev: 4017})
	t.Add(&Record{At: at, Site: Fault, Cause: arrived, Text: "on update pods do commit-then-fail Timeout"})
	t.Add(&Record{At: at, Site: RequestAnswered, Cause: arrived, Replica: 1, Client: "op/v1 (linux)", Verb: "update", What: "pods", Key: "default/a", Code: 504})
}

func TestJSONL(t *testing.T) {
	is := is.New(t)
	tr := New(Options{Keep: 100})
	update(tr, start)
	lines := strings.Split(strings.TrimSpace(string(tr.Log().JSONL())), "\n")
	is.Equal(len(lines), 8)
	is.Equal(lines[0], `{"trace":1}`) // an empty header
	is.Equal(lines[1], `{"n":1,"t":"2026-01-01T00:00:00Z","site":"request.arrived","replica":1,"client":"op/v1 (linux)","user":"jane","verb":"update","what":"pods","key":"default/a"}`)
	is.Equal(lines[3], `{"n":3,"t":"2026-01-01T00:00:00Z","site":"store.committed","cause":2,"replica":1,"verb":"MODIFIED","what":"pods","key":"default/a","rv":4017}`)
	for _, line := range lines {
		is.True(json.Valid([]byte(line)))
	}
}

func TestTimeline(t *testing.T) {
	is := is.New(t)
	tr := New(Options{Keep: 100})
	update(tr, start)
	tr.Add(&Record{At: start.Add(90 * time.Second), Site: WatchSent, Replica: 1, Client: "kubelet/v1", Verb: "BOOKMARK", What: "pods", Rev: 4017})
	is.Equal(tr.Log().Timeline(), strings.TrimPrefix(`
      1 +0s         op/v1 ▶ 1                    update pods default/a
      3 +0s         store.committed              MODIFIED pods default/a, revision 4017
      5 +0s         1 ▶ kubelet/v1               MODIFIED pods default/a, revision 4017
      6 +0s         fault                        on update pods do commit-then-fail Timeout
      7 +0s         op/v1 ◀ 1                    504 update pods default/a
      8 +1m30s      clock                        +1m30s
      9 +1m30s      1 ▶ kubelet/v1               BOOKMARK pods, revision 4017
`, "\n"))
}

func TestMermaid(t *testing.T) {
	is := is.New(t)
	tr := New(Options{Keep: 100})
	update(tr, start)
	is.Equal(tr.Log().Mermaid(), strings.TrimPrefix(`
sequenceDiagram
    participant client1 as op/v1
    participant client2 as kubelet/v1
    participant replica1 as API server 1
    participant store
    client1->>replica1: update pods default/a
    replica1->>store: MODIFIED pods default/a, revision 4017
    store-->>replica1: MODIFIED pods default/a, revision 4017
    replica1-)client2: MODIFIED pods default/a, revision 4017
    Note over store: on update pods do commit-then-fail Timeout
    replica1-->>client1: 504 update pods default/a
`, "\n"))
}

func TestRing(t *testing.T) {
	is := is.New(t)
	for _, keep := range []int{0, 1, 3, 100} {
		tr := New(Options{Keep: keep})
		for i := range 10 {
			is.Equal(tr.Add(&Record{At: start, Text: fmt.Sprint(i)}), uint64(i+1)) // numbers have no gaps
		}
		l := tr.Log()
		is.Equal(len(l.Records), min(keep, 10))
		is.Equal(l.Dropped, uint64(10-len(l.Records))) // dropped records are counted
		for i, r := range l.Records {
			is.Equal(r.N, l.Dropped+uint64(i)+1) // the newest, in order
		}
		is.Equal(len(tr.Since(9)), min(keep, 1))
		is.Equal(len(tr.Since(10)), 0)
		is.Equal(len(tr.Since(99)), 0)
	}
}

// TestTimesCountFromTheStart checks that times are relative to the first record, even if it was dropped, and in a Trace
// that continues from a saved one.
func TestTimesCountFromTheStart(t *testing.T) {
	is := is.New(t)
	tr := New(Options{Keep: 1})
	tr.Add(&Record{At: start, Site: Fault, Text: "a"})
	tr.Add(&Record{At: start.Add(100 * time.Millisecond), Site: Fault, Text: "b"})
	is.True(strings.Contains(tr.Log().Timeline(), " +100ms "))
	again, err := Load(Options{Keep: 1}, tr.State())
	is.NoErr(err)
	again.Add(&Record{At: start.Add(200 * time.Millisecond), Site: Fault, Text: "c"})
	is.True(strings.Contains(again.Log().Timeline(), " +200ms "))
}

func TestTailCostsNothing(t *testing.T) {
	tr := New(Options{Keep: 50})
	update(tr, start)
	for range 50 {
		update(tr, start)
	}
	if n := testing.AllocsPerRun(100, func() { update(tr, start) }); n != 0 {
		t.Errorf("%v allocations for a write in a ring that is full", n)
	}
}

func TestHash(t *testing.T) {
	is := is.New(t)
	run := func(keep int, times ...time.Time) *Trace {
		tr := New(Options{Keep: keep, Hash: true})
		for _, at := range times {
			update(tr, at)
		}
		return tr
	}
	a := run(100, start, start.Add(time.Minute))
	is.Equal(len(a.Hash()), 64)
	is.Equal(run(2, start, start.Add(time.Minute)).Hash(), a.Hash()) // dropped records are included in the hash
	is.True(run(100, start, start).Hash() != a.Hash())               // another time changes the hash
	is.Equal(New(Options{Keep: 5}).Hash(), "")                       // only if enabled
}

func TestSemantic(t *testing.T) {
	is := is.New(t)
	state := func(objects ...string) func(func(string, object.Object) bool) {
		return func(yield func(string, object.Object) bool) {
			for i, text := range objects {
				obj, err := object.Parse([]byte(text))
				is.NoErr(err)
				if !yield(fmt.Sprint(i), obj) {
					return
				}
			}
		}
	}
	commits := func(list ...string) *Trace {
		tr := New(Options{Hash: true})
		for _, c := range list {
			verb, key, _ := strings.Cut(c, " ")
			tr.Add(&Record{At: start, Site: StoreCommitted, Verb: verb, What: "pods", Key: key})
		}
		return tr
	}
	one := state(`{"metadata":{"name":"a","uid":"1","resourceVersion":"5","ownerReferences":[{"name":"o","uid":"7"}]},"spec":1}`)
	same := state(`{"metadata":{"name":"a","uid":"2","creationTimestamp":"t","managedFields":[],"ownerReferences":[{"name":"o","uid":"8"}]},"spec":1}`)
	other := state(`{"metadata":{"name":"a"},"spec":2}`)
	want := commits("ADDED a", "ADDED b", "DELETED b").Semantic(one)
	is.Equal(commits("ADDED b", "ADDED a", "DELETED b").Semantic(same), want)            // order and uids do not matter
	is.True(commits("ADDED a", "ADDED b", "DELETED b").Semantic(other) != want)          // the state matters
	is.True(commits("ADDED a", "ADDED b", "ADDED b", "DELETED b").Semantic(one) != want) // the number of events matters
	is.Equal(New(Options{Keep: 5}).Semantic(one), "")                                    // only if enabled
}

func TestFollow(t *testing.T) {
	is := is.New(t)
	tr := New(Options{Keep: 5})
	more, stop := tr.Follow()
	tr.Add(&Record{At: start})
	tr.Add(&Record{At: start})
	<-more
	is.Equal(len(tr.Since(0)), 2) // one signal for both records
	stop()
	stop()
	tr.Add(&Record{At: start})
	is.Equal(len(more), 0) // no signal after stop
}
