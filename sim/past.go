package sim

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// past is what a Cluster remembers of each revision beside what its store holds, as far back as the store goes, so that
// a fork can go on from there as the Cluster once did:
//
//	revision   4005      4006      4007
//	at         00:00:01  00:00:01  00:00:12   when it was committed
//	streams    ▪▪▪       ▪▪▪       ▪▪▪▪       the random numbers after it; later streams had not been drawn from
type past struct {
	marks []Mark
	room  []rand.PCG // where the next marks keep their streams
}

// roomMin is for how many streams memory is made at once.
const roomMin = 512

// add remembers a revision that was just committed.
func (p *past) add(rev uint64, at time.Time, s *streams) {
	if cap(p.room)-len(p.room) < len(s.list) {
		p.room = make([]rand.PCG, 0, max(roomMin, len(s.list)))
	}
	from := len(p.room)
	p.room = s.appendState(p.room)
	p.marks = append(p.marks, Mark{rev, at, p.room[from:len(p.room):len(p.room)]})
}

// find returns the mark of the newest revision not after rev, or nil.
func (p *past) find(rev uint64) *Mark {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].Rev > rev })
	if i == 0 {
		return nil
	}
	return &p.marks[i-1]
}

// revisionAt returns the newest revision that was committed not after t, or 0 when none is remembered.
func (p *past) revisionAt(t time.Time) uint64 {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].At.After(t) })
	if i == 0 {
		return 0
	}
	return p.marks[i-1].Rev
}

// forget drops what is remembered of the revisions before first.
func (p *past) forget(first uint64) {
	if i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].Rev >= first }); i > 0 {
		p.marks = slices.Clone(p.marks[i:])
	}
}

// undo drops what is remembered of the revisions after last: they have never happened.
func (p *past) undo(last uint64) {
	i := sort.Search(len(p.marks), func(i int) bool { return p.marks[i].Rev > last })
	p.marks = p.marks[:i:i]
}

// grant gives the object that was just written at a key a time to live.
func (c *Cluster) grant(ttl time.Duration, key string, rev uint64) {
	l := Lease{key, rev, c.now().Add(ttl)}
	c.leases = append(c.leases, l)
	if c.journal != nil {
		c.journal.Grant(l)
	}
	c.schedule.after(ttl, func() { c.lapse(l) })
}

// lapse deletes an object whose time has come.
func (c *Cluster) lapse(l Lease) {
	if kv, err := c.store.Get(l.Key, 0); err != nil || kv == nil || kv.ModRev != l.Rev {
		return
	}
	if event, ok := c.store.Delete(l.Key); ok {
		c.committed(event)
	}
}

// forgetPast drops what only revisions before the store's oldest one need.
func (c *Cluster) forgetPast() {
	first := c.store.Compacted()
	c.past.forget(first)
	if m := c.past.find(first); m != nil {
		c.leases = slices.DeleteFunc(c.leases, func(l Lease) bool { return !l.At.After(m.At) })
	}
}

// RevisionAt returns the newest revision that there was at a time of the past. It reports false when the store does not go
// back so far.
func (c *Cluster) RevisionAt(t time.Time) (uint64, bool) {
	c.lock()
	defer c.mu.Unlock()
	rev := c.past.revisionAt(t)
	return rev, rev >= c.store.Compacted() && rev != 0
}

// TimeOf returns when a revision was committed. It reports false for one that the store does not have.
func (c *Cluster) TimeOf(rev uint64) (time.Time, bool) {
	c.lock()
	defer c.mu.Unlock()
	m := c.past.find(rev)
	if m == nil || m.Rev != rev {
		return time.Time{}, false
	}
	return m.At, true
}
