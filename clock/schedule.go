package clock

import (
	"container/heap"
	"sync"
	"time"
)

// Schedule runs functions under a lock when they are due. It uses a single timer of its clock, for the earliest function. Functions
// that are due at the same time run in the order in which they were added.
type Schedule struct {
	clock Clock
	lock  sync.Locker
	queue jobs
	count uint64
	timer Timer
	armed time.Time // time at which timer fires
}

// NewSchedule returns an empty schedule. Its functions are called with the lock held.
func NewSchedule(k Clock, lock sync.Locker) *Schedule { return &Schedule{clock: k, lock: lock} }

// job is a function and the time at which it is due.
type job struct {
	at    time.Time
	order uint64
	run   func() // nil after it was cancelled
}

// After runs f when d has passed, unless stop is called before. After and stop must be called with the lock held.
func (s *Schedule) After(d time.Duration, f func()) (stop func()) {
	s.count++
	j := &job{at: s.clock.Now().Add(d), order: s.count, run: f}
	heap.Push(&s.queue, j)
	s.arm()
	return func() {
		j.run = nil
		s.arm()
	}
}

// Now returns the time of the schedule's clock.
func (s *Schedule) Now() time.Time { return s.clock.Now() }

// arm sets the timer for the earliest job.
func (s *Schedule) arm() {
	for len(s.queue) > 0 && s.queue[0].run == nil {
		heap.Pop(&s.queue)
	}
	if len(s.queue) == 0 {
		s.Stop()
		return
	}
	if at := s.queue[0].at; s.timer == nil || !at.Equal(s.armed) {
		s.Stop()
		s.armed = at
		s.timer = s.clock.AfterFunc(max(at.Sub(s.clock.Now()), 0), s.fire)
	}
}

// Clear removes all functions.
func (s *Schedule) Clear() {
	s.queue = nil
	s.Stop()
}

// Stop stops the timer. Nothing runs until another function is added.
func (s *Schedule) Stop() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// fire runs the functions that are due. The clock calls it.
func (s *Schedule) fire() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.timer = nil
	now := s.clock.Now()
	for len(s.queue) > 0 && !s.queue[0].at.After(now) {
		if j := heap.Pop(&s.queue).(*job); j.run != nil {
			j.run()
		}
	}
	s.arm()
}

// jobs is a heap of jobs, earliest first.
type jobs []*job

func (q jobs) Len() int      { return len(q) }
func (q jobs) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *jobs) Push(x any)   { *q = append(*q, x.(*job)) }

func (q jobs) Less(i, j int) bool {
	if !q[i].at.Equal(q[j].at) {
		return q[i].at.Before(q[j].at)
	}
	return q[i].order < q[j].order
}

func (q *jobs) Pop() any {
	old := *q
	last := len(old) - 1
	x := old[last]
	old[last] = nil
	*q = old[:last]
	return x
}
