package scenario_test

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/scenario"
)

const conflict = `# Two clients have read the same revision. The second write is refused.

create configmap a --from-literal color=red
get configmap a --as alice
patch configmap a -p '{"data":{"color":"blue"}}' --as bob
! patch configmap a --rv last -p '{"data":{"color":"green"}}' --as alice
expect status 409 Conflict
`

func ExampleParse() {
	op, err := scenario.Parse("! delete pod web --grace 0 --as alice")
	if err != nil {
		panic(err)
	}
	as, _ := op.Flag("as")
	fmt.Println(op.Name, op.Args, as, op.Fails)
	_, err = scenario.Parse("delete pod web --grace soon")
	fmt.Println(err)
	// Output:
	// delete [pod web] alice true
	// column 27: --grace takes a number, not "soon"
}

// A World runs operations in order and evaluates conditions.
func ExampleNew() {
	w, err := scenario.New(scenario.Options{})
	if err != nil {
		panic(err)
	}
	op, err := scenario.Parse("create configmap a --from-literal color=red")
	if err != nil {
		panic(err)
	}
	if _, err := w.Do(op); err != nil {
		panic(err)
	}
	fmt.Println(w.Holds("configmaps/a .data.color == red"))
	// Output: true configmaps/a .data.color is red <nil>
}

func ExampleParseFile() {
	f, err := scenario.ParseFile([]byte(conflict))
	if err != nil {
		panic(err)
	}
	fmt.Println(f.Story)
	_, err = scenario.ParseFile([]byte("# A story.\n\ncreate configmap a\nexpect status is 201\n"))
	fmt.Println(err)
	// Output:
	// Two clients have read the same revision. The second write is refused.
	// line 4, column 15: "is" is not a comparison; there are == != < <= > >= contains, exists, absent and older
}

func ExampleRun() {
	f, err := scenario.ParseFile([]byte(conflict))
	if err != nil {
		panic(err)
	}
	out, err := scenario.Run(f, scenario.RunOptions{})
	fmt.Println(out.Failure, err)
	// Output: <nil> <nil>
}

// A sweep runs a scenario under the random faults of a seed.
func ExampleNewSweep() {
	f, err := scenario.ParseFile([]byte("# A list stays what it is.\n\nlist configmaps\nnever count configmaps == 7\n"))
	if err != nil {
		panic(err)
	}
	s := scenario.NewSweep(f)
	for seed := uint64(1); seed <= 3; seed++ {
		out, err := s.Run(seed)
		fmt.Println(seed, out.Failure, err)
	}
	// Output:
	// 1 <nil> <nil>
	// 2 <nil> <nil>
	// 3 <nil> <nil>
}

func ExampleParseTrace() {
	f, err := scenario.ParseFile([]byte(conflict))
	if err != nil {
		panic(err)
	}
	out, err := scenario.Run(f, scenario.RunOptions{})
	if err != nil {
		panic(err)
	}
	t, err := scenario.ParseTrace(out.Trace(f, scenario.RunOptions{}).JSONL())
	if err != nil {
		panic(err)
	}
	again, difference, err := t.Replay()
	fmt.Println(again.Hash == out.Hash, difference == "", err)
	// Output: true true <nil>
}

func ExampleParseCondition() {
	c, err := scenario.ParseCondition("not count pods -l app=web >= 2 and pods/a exists")
	fmt.Println(c, err)
	_, err = scenario.ParseCondition("count pods is 2")
	fmt.Println(err)
	// Output:
	// not count pods -l app=web >= 2 and pods/a exists <nil>
	// column 12: "is" is not a comparison; there are == != < <= > >= contains, exists, absent and older
}

func ExampleParseRules() {
	r, err := scenario.ParseRules("watch: [pods]\nrules:\n- for: configmaps\n  when: count pods == 0\n  do: create -f pod.yaml\n")
	if err != nil {
		panic(err)
	}
	fmt.Println(r.Watch, len(r.Rules))
	// Output: [pods configmaps] 1
}

func ExampleFindCommand() {
	fmt.Println(scenario.FindCommand("expire").Help)
	// Output: compact the store, and clear the history of every watch cache
}

// In a test, use scenario.RunT(t, "testdata/conflict.txtar").
func ExampleRunT() {
	out := scenario.RunT(aloud{}, "../../examples/scenarios/conflict_loop.txtar")
	fmt.Println(out.Failure)
	// Output: <nil>
}

// aloud replaces the *testing.T of a test.
type aloud struct{}

func (aloud) Helper()                           {}
func (aloud) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (aloud) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (aloud) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (aloud) Logf(string, ...any)               {}
func (aloud) Log(...any)                        {}
func (aloud) Name() string                      { return "Example" }
