package clock_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
)

// A jump changes the time of day, but does not affect timers.
func TestSkewed(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	base := clock.NewManual(clock.Epoch())
	s := clock.NewSkewed(base)
	began := s.Now()
	fired := 0
	s.AfterFunc(time.Minute, func() { fired++ })
	s.Jump(time.Hour)
	is.Equal(s.Since(began), time.Hour)
	is.Equal(base.Now(), clock.Epoch()) // others do not notice
	is.Equal(fired, 0)
	base.Advance(time.Minute)
	is.Equal(fired, 1)
	s.Jump(-2 * time.Hour)
	is.Equal(s.Now(), clock.Epoch().Add(time.Minute-time.Hour)) // it may go back
}
