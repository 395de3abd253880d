package clock

import (
	"container/heap"
	"sync"
	"time"
)

// Schedule runs functions under a lock when their time has come. Only one timer of its clock is used, for the earliest;
// functions of the same time run in the order in which they were added.
type Schedule struct {
	clock Clock
	lock  sync.Locker
	queue jobs
	count uint64
	timer Timer
	armed time.Time // when timer fires; zero if it is not set
}

// NewSchedule returns an empty schedule. Its functions are called with the lock held.
func NewSchedule(k Clock, lock sync.Locker) *Schedule { return &Schedule{clock: k, lock: lock} }

// job is one function and its time.
type job struct {
	at    time.Time
	order uint64
	run   func() // nil once it was taken back
}

// After runs f when d has passed. stop takes that back. The lock is held in both.
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

// Now is the time of the schedule's clock.
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

// Clear forgets all functions.
func (s *Schedule) Clear() {
	s.queue = nil
	s.Stop()
}

// Stop takes the timer back: nothing runs until a function is added.
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

// jobs is a heap of jobs, the earliest first.
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
