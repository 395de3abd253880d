package fault

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"
)

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// traffic sends about n requests to an Injector and returns the actions that occur.
func traffic(in *Injector, n int, extra bool) []string {
	var happened []string
	for i := range n {
		if extra { // an additional client
			in.At(RequestArrived, &Op{Verb: "get", Resource: "secrets", UserAgent: "other/v1"}, began)
		}
		for _, p := range []Point{RequestArrived, RequestDecided} {
			for _, f := range in.At(p, &Op{Verb: "update", Resource: "pods", Name: fmt.Sprint("p", i%7), UserAgent: "op/v1 (linux)", Replica: 1 + i%2}, began) {
				happened = append(happened, fmt.Sprint(i, " ", f.Action))
			}
		}
	}
	return happened
}

// mixed contains random faults, counted faults, and two equal faults.
const mixed = `
		on * * p=0.3 do delay-request 4s
		on * * p=0.3 do delay-request 4s
		on update pods nth=3 do fail Conflict
		on update pods p=0.2 times=5 do fail Timeout`

func drawn(t *testing.T) (*Injector, []string) {
	in := NewInjector(7)
	addMixed(t, in)
	return in, traffic(in, 60, false)
}

// replay returns an Injector with the same faults that follows the decisions in list.
func replay(t *testing.T, list []Decision) *Injector {
	in := NewInjector(0)
	in.Follow(list)
	addMixed(t, in)
	return in
}

func addMixed(t *testing.T, in *Injector) {
	t.Helper()
	plan, err := Parse(mixed)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Add(began, plan...); err != nil {
		t.Fatal(err)
	}
}

// TestReplay checks that a replay has the same result as the recorded run, also from its text form and with additional
// requests.
func TestReplay(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	in, want := drawn(t)
	decisions, _ := in.Decisions()
	var lines [][]byte
	for _, d := range decisions {
		line, err := json.Marshal(d)
		is.NoErr(err)
		lines = append(lines, line)
	}
	read, err := ParseDecisions(lines)
	is.NoErr(err)
	is.Equal(read, decisions)
	is.True(strings.HasSuffix(decisions[0].Site, "update pods p0 client=op/v1")) // with the client
	for _, extra := range []bool{false, true} {
		again := replay(t, read)
		is.Equal(traffic(again, 60, extra), want)
	}
	again := replay(t, read[:1])
	is.True(len(traffic(again, 60, false)) <= 1) // a fault without a decision does not occur
}

// TestState checks that a loaded Injector decides like the saved one.
func TestState(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	in, _ := drawn(t)
	again, err := Load(in.State())
	is.NoErr(err)
	is.Equal(traffic(again, 60, true), traffic(in, 60, true))
	is.Equal(again.State(), in.State())
	s := in.State()
	s.Faults[0].Text = "on"
	_, err = Load(s)
	is.True(err != nil)
}

// TestShrink checks that Shrink finds the two necessary faults among many, with the shortest sufficient wait.
func TestShrink(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		plan := Random(r.Uint64(), 20, "pods", "nodes")
		at := r.IntN(len(plan))
		plan = slices.Insert(plan, at, On("watch", "pods").Times(9).Delay(10*time.Second), On("*", "*").Compact())
		runs := 0
		small := Shrink(plan, func(p Plan) bool {
			runs++
			wait, compacts := false, false
			for _, f := range p {
				wait = wait || f.Action().Kind == Delay && f.Action().Wait >= 3*time.Second
				compacts = compacts || f.Action().Kind == Compact
			}
			return wait && compacts
		})
		is.Equal(len(small), 2)
		for _, f := range small {
			if f.Action().Kind == Delay {
				is.True(f.Action().Wait < 6*time.Second) // half of it would not be sufficient
				is.True(f.trigger.times <= 1)
			}
		}
		is.True(runs < 200)
	}
	plan := Random(1, 5)
	is.Equal(Shrink(plan, func(Plan) bool { return false }), plan) // nothing to shrink
}

// TestShrinkDecisions checks that ShrinkDecisions finds the single necessary decision.
func TestShrinkDecisions(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	in, _ := drawn(t)
	decisions, _ := in.Decisions()
	fired := 0
	small := ShrinkDecisions(decisions, func(list []Decision) bool {
		again := replay(t, list)
		fired++
		for _, line := range traffic(again, 60, false) {
			if i, rest, _ := strings.Cut(line, " "); rest == "fail Timeout" && i != "0" {
				return true
			}
		}
		return false
	})
	is.Equal(len(small), 1)
	is.True(strings.Contains(small[0].Fault, "Timeout"))
	is.True(fired < 40)
}

func FuzzParseDecisions(f *testing.F) {
	f.Add([]byte(`{"fault":"on * pods do delay 3s","site":"watch.sent ADDED pods","nth":1,"fired":true,"wait":"1s"}`))
	f.Add([]byte(`{"fault":"on * *"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		list, err := ParseDecisions([][]byte{line})
		if err != nil {
			return
		}
		printed, err := json.Marshal(list[0])
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseDecisions([][]byte{printed})
		if err != nil || back[0] != list[0] {
			t.Errorf("%+v became %+v: %v", list[0], back, err)
		}
	})
}
