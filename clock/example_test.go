package clock_test

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/clock"
)

func ExampleNewManual() {
	m := clock.NewManual(clock.Epoch())
	m.AfterFunc(5*time.Minute, func() { fmt.Println(m.Now().Format(time.TimeOnly), "compact") })
	m.AfterFunc(time.Minute, func() { fmt.Println(m.Now().Format(time.TimeOnly), "bookmark") })
	m.Advance(time.Hour)
	fmt.Println(m.Now().Format(time.TimeOnly))
	// Output:
	// 00:01:00 bookmark
	// 00:05:00 compact
	// 01:00:00
}

func ExampleManual_Step() {
	m := clock.NewManual(clock.Epoch())
	retry := m.NewTimer(10 * time.Second)
	for m.Step() {
		fmt.Println((<-retry.C()).Format(time.TimeOnly))
	}
	// Output: 00:00:10
}

// ExampleAs passes a clock to code that declares its own clock interface.
// With k8s.io/utils/clock it is clock.As[kclock.Timer, kclock.Ticker].
func ExampleAs() {
	m := clock.NewManual(clock.Epoch())
	var theirs otherClock = clock.As[otherTimer, otherTicker]{Clock: m}
	timer := theirs.NewTimer(time.Second)
	m.Advance(time.Minute)
	fmt.Println((<-timer.C()).Format(time.TimeOnly))
	// Output: 00:00:01
}
