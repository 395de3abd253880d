package deadline_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/deadline"
)

// schedule returns a clock that the test moves, and a Clock for deadlines.
func schedule() (*clock.Manual, *clock.Schedule) {
	k := clock.NewManual(clock.Epoch())
	return k, clock.NewSchedule(k, &sync.Mutex{})
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k, s := schedule()
	d := deadline.Begin(s, nil, time.Minute)
	d.Shorten(34 * time.Second)
	d.Shorten(time.Hour)
	left, ok := d.Left()
	is.True(ok)
	is.Equal(left, 34*time.Second) // the shortest limit counts
	over := 0
	d.OnOver(func() { over++ })
	ctx := d.Context()
	k.Advance(33 * time.Second)
	is.NoErr(d.Err())
	is.NoErr(ctx.Err())
	k.Advance(time.Second)
	is.True(errors.Is(d.Err(), context.DeadlineExceeded))
	is.True(errors.Is(context.Cause(ctx), context.DeadlineExceeded))
	is.Equal(over, 1)
	is.True(d.Over())
	is.True(d.Passed(34 * time.Second))
	is.True(!d.Passed(35 * time.Second))
}

func TestDeadlineEndsWithItsClient(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k, s := schedule()
	client, leave := context.WithCancel(context.Background())
	d := deadline.Begin(s, client, 0)
	ctx := d.Context()
	k.Advance(time.Hour)
	is.NoErr(d.Err()) // it may take any time
	_, ok := d.Left()
	is.True(!ok)
	leave()
	is.True(errors.Is(d.Err(), context.Canceled))
	<-ctx.Done()
	is.True(!d.Over()) // it has no limit
}

func TestDeadlineEnd(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k, s := schedule()
	d := deadline.Begin(s, nil, time.Second)
	ctx := d.Context()
	d.OnOver(func() { t.Error("called after End") })
	d.End()
	d.End()
	is.Equal(k.Waiters(), 0) // the timer is gone
	<-ctx.Done()
	k.Advance(time.Minute)
}

// A nil Deadline and the zero value never end.
func TestNoDeadline(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	var none *deadline.Deadline
	for _, d := range []*deadline.Deadline{none, {}} {
		is.NoErr(d.Err())
		is.NoErr(d.Context().Err())
		_, ok := d.Left()
		is.True(!ok)
		is.True(!d.Over())
	}
}
