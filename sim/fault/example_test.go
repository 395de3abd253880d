package fault_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/fault"
)

// A trigger selects operations, and its last method sets the action. Each fault has a text form.
func ExampleOn() {
	fmt.Println(fault.On("update", "widgets/status").Times(1).Conflict())
	fmt.Println(fault.On("create", "pods").Nth(3).CommitThenFail(fault.Timeout))
	fmt.Println(fault.On("watch", "pods").Delay(5 * time.Second))
	// Output:
	// on update widgets/status times=1 do fail Conflict
	// on create pods nth=3 do commit-then-fail Timeout
	// on watch pods do delay 5s
}

func ExampleParse() {
	plan, err := fault.Parse("on update widgets/status times=1 do fail Conflict # once\n")
	if err != nil {
		panic(err)
	}
	fmt.Println(len(plan), plan[0])
	_, err = fault.Parse("on update widgets do fall over")
	fmt.Println(err)
	// Output:
	// 1 on update widgets/status times=1 do fail Conflict
	// fault: line 1: unknown action "fall"
}

// The same seed produces the same plan. Clients have to survive these faults, because they can occur in a correct
// cluster.
func ExampleRandom() {
	fmt.Println(fault.Random(7, 4, "pods"))
	// Output:
	// on get,list pods p=0.2 times=2 do truncate 2
	// on get,list pods p=0.5 times=3 do truncate 95
	// on list pods p=0.4 times=4 do expire
	// on list pods p=0.3 times=4 do expire
}

// Shrink finds the smallest plan that still fails: here, a conflict.
func ExampleShrink() {
	plan, err := fault.Parse("on watch pods do delay 8s\non update pods times=3 do fail Conflict\non watch pods do close")
	if err != nil {
		panic(err)
	}
	fmt.Println(fault.Shrink(plan, func(p fault.Plan) bool { return strings.Contains(p.String(), "Conflict") }))
	// Output: on update pods times=1 do fail Conflict
}

// An Injector decides the faults of a cluster. State and Load transfer it to a fork or a file.
func ExampleNewInjector() {
	in := fault.NewInjector(1)
	if err := in.Add(time.Time{}, fault.On("get", "pods").Times(2).Conflict()); err != nil {
		panic(err)
	}
	fmt.Print(in)
	// Output: on get pods times=2 do fail Conflict # legal, matched 0, happened 0
}

func ExampleLoad() {
	in := fault.NewInjector(1)
	if err := in.Add(time.Time{}, fault.On("get", "pods").Times(2).Conflict()); err != nil {
		panic(err)
	}
	again, err := fault.Load(in.State())
	if err != nil {
		panic(err)
	}
	fmt.Print(again)
	// Output: on get pods times=2 do fail Conflict # legal, matched 0, happened 0
}
