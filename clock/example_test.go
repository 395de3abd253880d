package clock_test

import (
	"fmt"
	"sync"
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

// ExampleAs passes a clock to code that declares its own clock interface. With k8s.io/utils/clock the type is
// clock.As[kclock.Timer, kclock.Ticker].
func ExampleAs() {
	m := clock.NewManual(clock.Epoch())
	var theirs otherClock = clock.As[otherTimer, otherTicker]{Clock: m}
	timer := theirs.NewTimer(time.Second)
	m.Advance(time.Minute)
	fmt.Println((<-timer.C()).Format(time.TimeOnly))
	// Output: 00:00:01
}

// A Schedule is for a caller that has its own lock: functions run with the lock held.
func ExampleNewSchedule() {
	var lock sync.Mutex
	m := clock.NewManual(clock.Epoch())
	s := clock.NewSchedule(m, &lock)
	lock.Lock()
	s.After(time.Minute, func() { fmt.Println(s.Now().Format(time.TimeOnly), "bookmark") })
	cancel := s.After(time.Minute, func() { fmt.Println("never") })
	cancel()
	lock.Unlock()
	m.Advance(time.Hour)
	// Output: 00:01:00 bookmark
}

func ExampleNewSkewed() {
	m := clock.NewManual(clock.Epoch())
	machine := clock.NewSkewed(m)
	machine.Jump(time.Hour) // the time of this machine is set
	m.Advance(time.Minute)
	fmt.Println(m.Now().Format(time.TimeOnly), machine.Now().Format(time.TimeOnly))
	// Output: 00:01:00 01:01:00
}
