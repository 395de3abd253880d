package history_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/resource"
)

// cluster is a minimal cluster with a history.
type cluster struct {
	*history.History
	clock  *clock.Manual
	log    commit.Log
	random random.Streams
	told   []uint64 // compactions that the caches were notified of; 0 for Forget

	followed int // calls of Followed
}

func (c *cluster) Compacted(rev uint64)                   { c.told = append(c.told, rev) }
func (c *cluster) Forget()                                { c.told = append(c.told, 0) }
func (c *cluster) Followed()                              { c.followed++ }
func (c *cluster) Definition(string) *resource.Definition { return nil }

func newCluster(now time.Time) *cluster {
	c := &cluster{clock: clock.NewManual(now)}
	c.log = commit.Log{Clock: c.clock, Known: c, Store: mvcc.New(1)}
	c.random.Begin(1)
	c.History = history.New(&c.log, clock.NewSchedule(c.clock, &sync.Mutex{}), &c.random, c)
	c.log.Listeners = []commit.Listener{c.History}
	c.Reset()
	return c
}

// put advances the clock by a minute, draws a random number and writes a key.
func (c *cluster) put(key string) {
	c.clock.Advance(time.Minute)
	c.random.Draw("names", 10)
	c.log.Committed(nil, c.log.Store.Put(key, nil, nil))
}

// A State of the past has the time and the random numbers of its revision. Repeating the later writes gives the same result.
func TestStateAt(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := newCluster(clock.Epoch())
	for range 4 {
		c.put("/registry/a/b")
	}
	s, err := c.StateAt(3, true)
	is.NoErr(err)
	is.Equal(s.Now, clock.Epoch().Add(2*time.Minute))
	f := newCluster(s.Now)
	is.NoErr(f.Load(s))
	for range 2 {
		f.put("/registry/a/b")
	}
	is.Equal(f.State().Streams, c.State().Streams) // the same numbers are drawn again
	is.Equal(marks(f), marks(c))
	_, err = c.StateAt(9, true)
	is.Equal(err.Error(), "revision 9: the store has those from 1 to 5")
}

// At the end of each interval the store is compacted to the interval's beginning. Caches are notified 15 s later.
func TestCompaction(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := newCluster(clock.Epoch())
	for range 4 {
		c.put("/registry/a/b")
	}
	c.clock.AdvanceTo(clock.Epoch().Add(5 * time.Minute))
	c.CatchUp()
	is.Equal(c.Store().Compacted(), uint64(1)) // it has only noted the newest revision
	c.clock.Advance(5 * time.Minute)
	c.CatchUp()
	is.Equal(c.Store().Compacted(), uint64(5))
	_, known := c.Floor()
	is.True(!known)
	c.clock.Advance(15 * time.Second)
	c.CatchUp()
	is.Equal(c.told, []uint64{5})
	_, there := c.TimeOf(4)
	is.True(!there) // leases and marks of older revisions are dropped as well
	at, there := c.TimeOf(5)
	is.True(there)
	is.Equal(at, clock.Epoch().Add(4*time.Minute))
}

// An object is deleted when its lease expires, unless it has been written again.
func TestLease(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	c := newCluster(clock.Epoch())
	c.put("/registry/events/a")
	c.Grant(time.Hour, "/registry/events/a", 2)
	c.put("/registry/events/b")
	c.Grant(time.Hour, "/registry/events/b", 3)
	c.put("/registry/events/b")
	f := newCluster(c.clock.Now())
	is.NoErr(f.Load(c.State()))
	f.TakeUp()
	for _, x := range []*cluster{c, f} {
		x.clock.Advance(time.Hour)
		is.True(x.log.Newest().Get("/registry/events/a") == nil) // also in the loaded history
		is.True(x.log.Newest().Get("/registry/events/b") != nil)
	}
}

func marks(c *cluster) []history.Mark {
	s := c.State()
	return slices.Collect(s.Marks.All())
}
