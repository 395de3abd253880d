package clock_test

import (
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// Jobs run when they are due. Jobs that are due at the same time run in the order in which they were added. A cancelled job does
// not run.
func TestSchedule(t *testing.T) {
	is := is.New(t)
	now := clock.NewManual(clock.Epoch())
	s := clock.NewSchedule(now, &sync.Mutex{})
	var ran []string
	note := func(name string) func() {
		return func() { ran = append(ran, name+"@"+now.Since(clock.Epoch()).String()) }
	}
	s.After(3*time.Second, note("c"))
	s.After(time.Second, note("a"))
	stop := s.After(2*time.Second, note("never"))
	s.After(time.Second, note("b"))
	s.After(time.Second, func() { s.After(time.Second, note("d")) })
	stop()
	now.Advance(10 * time.Second)
	is.Equal(ran, []string{"a@1s", "b@1s", "d@2s", "c@3s"})
	is.Equal(now.Waiters(), 0) // no timer is left
}
