package history

import (
	"iter"
	"math/rand/v2"
	"slices"
	"sort"
	"time"
)

// Mark records the time of a revision, and the state of the random number streams after it. It only contains the streams that
// had been used by then, which are the first ones. The revisions between this Mark and the next one have the same time and
// state.
type Mark struct {
	Rev     uint64
	At      time.Time
	Streams []rand.PCG
}

// Marks records data about revisions that is not in the store, back to the store's oldest revision. With it, a fork can
// continue from a revision as the cluster did. A commit changes few of the values, so Marks keeps the changes of each value:
//
//	revision     4005      4006      4007      4008      4009
//	times        00:00:01            00:00:12                      when it was committed
//	used         2                   3                             number of streams in use after it
//	streams[0]   ▪         ▪         ▪                   ▪         the random numbers after it
//	streams[1]   ▪                             ▪
//	streams[2]                       ▪
type Marks struct {
	times   changes[time.Time]
	used    changes[int]
	streams []changes[rand.PCG]
}

// Add adds the mark of a revision that is newer than all others. It does not keep streams.
func (m *Marks) Add(rev uint64, at time.Time, streams []rand.PCG) {
	if last, ok := m.times.last(); !ok || !last.Equal(at) {
		m.times = append(m.times, change[time.Time]{rev, at})
	}
	if last, ok := m.used.last(); !ok || last != len(streams) {
		m.used = append(m.used, change[int]{rev, len(streams)})
	}
	for i, now := range streams {
		if i == len(m.streams) {
			m.streams = append(m.streams, nil)
		}
		if last, ok := m.streams[i].last(); !ok || last != now {
			m.streams[i] = append(m.streams[i], change[rand.PCG]{rev, now})
		}
	}
}

// All yields the marks in the order of their revisions.
func (m *Marks) All() iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		revs := append(m.times.revs(nil), m.used.revs(nil)...)
		for _, s := range m.streams {
			revs = s.revs(revs)
		}
		slices.Sort(revs)
		for _, rev := range slices.Compact(revs) {
			if mark, ok := m.find(rev); ok && !yield(Mark{rev, mark.At, mark.Streams}) {
				return
			}
		}
	}
}

// Clone returns a copy. Both can be changed independently.
func (m *Marks) Clone() Marks {
	c := Marks{m.times.clip(), m.used.clip(), make([]changes[rand.PCG], len(m.streams))}
	for i, s := range m.streams {
		c.streams[i] = s.clip()
	}
	return c
}

// WithoutStreams returns a copy that only has the times.
func (m *Marks) WithoutStreams() (c Marks) {
	for _, x := range m.times {
		c.Add(x.rev, x.value, nil)
	}
	return c
}

// find returns the mark of the newest revision not after rev. It returns false if there is none.
func (m *Marks) find(rev uint64) (mark Mark, ok bool) {
	at, ok := m.times.find(rev)
	if !ok {
		return mark, false
	}
	mark = Mark{Rev: rev, At: at}
	n, _ := m.used.find(rev)
	for _, s := range m.streams[:n] {
		state, _ := s.find(rev)
		mark.Streams = append(mark.Streams, state)
	}
	return mark, true
}

// revisionAt returns the newest revision committed at or before t, or 0 if there is no mark that old. newest is the newest
// revision of the store.
func (m *Marks) revisionAt(t time.Time, newest uint64) uint64 {
	switch i := sort.Search(len(m.times), func(i int) bool { return m.times[i].value.After(t) }); i {
	case 0:
		return 0
	case len(m.times):
		return newest
	default:
		return m.times[i].rev - 1
	}
}

// forget drops the marks that are only needed for revisions before first.
func (m *Marks) forget(first uint64) {
	m.times, m.used = m.times.from(first), m.used.from(first)
	for i, s := range m.streams {
		m.streams[i] = s.from(first)
	}
}

// undo drops the marks of all revisions after last.
func (m *Marks) undo(last uint64) {
	m.times, m.used = m.times.upTo(last), m.used.upTo(last)
	for i, s := range m.streams {
		m.streams[i] = s.upTo(last)
	}
}

// changes lists the successive values of a mark. Each has the revision from which it applies. Elements are never modified, so copies
// may share them.
type changes[T any] []change[T]

type change[T any] struct {
	rev   uint64
	value T
}

// after returns the index of the first change after a revision.
func (c changes[T]) after(rev uint64) int {
	return sort.Search(len(c), func(i int) bool { return c[i].rev > rev })
}

// find returns the value at a revision. It returns false if there was none.
func (c changes[T]) find(rev uint64) (value T, ok bool) { return c[:c.after(rev)].last() }

// last returns the newest value. It returns false if there is none.
func (c changes[T]) last() (value T, ok bool) {
	if len(c) == 0 {
		return value, false
	}
	return c[len(c)-1].value, true
}

// revs appends the revisions of all changes to all.
func (c changes[T]) revs(all []uint64) []uint64 {
	for _, x := range c {
		all = append(all, x.rev)
	}
	return all
}

// from returns the changes that are needed for the revisions from first on.
func (c changes[T]) from(first uint64) changes[T] {
	i := c.after(first) - 1
	if i < 0 {
		return c
	}
	left := slices.Clone(c[i:]) // a copy, so that the dropped changes are freed
	left[0].rev = first
	return left
}

// upTo returns the changes up to a revision.
func (c changes[T]) upTo(last uint64) changes[T] { return c[:c.after(last)].clip() }

// clip returns the changes without room for more, so that appending one does not affect other copies.
func (c changes[T]) clip() changes[T] { return slices.Clip(c) }
