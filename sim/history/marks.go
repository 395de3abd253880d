package history

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/kubesim/kubesim/sim/random"
)

// Mark records the time of a revision, and the state of the random number streams after it. It only contains the streams that
// had been used by then, which are the first ones. The revisions between this Mark and the next one have the same time and
// state.
type Mark struct {
	Rev     uint64
	At      time.Time
	Streams []rand.PCG
}

// marks records data about revisions that is not in the store, back to the store's oldest revision. With it, a fork can
// continue from a revision as the cluster did:
//
//	revision   4005      4006      4007 4008  4009
//	at         00:00:01  00:00:01  00:00:12   00:00:12   when it was committed
//	streams    ▪▪▪       ▪▪▪       ▪▪▪▪       ▪▪▪▪       the random numbers after it; later streams were not yet in use
type marks struct {
	list []Mark
	room []rand.PCG // memory for the streams of further marks
}

// roomMin is the minimum number of streams for which memory is allocated at once.
const roomMin = 512

// add adds the mark of a revision that was just committed.
func (p *marks) add(rev uint64, at time.Time, s *random.Streams) {
	if cap(p.room)-len(p.room) < s.Len() {
		p.room = make([]rand.PCG, 0, max(roomMin, s.Len()))
	}
	from := len(p.room)
	p.room = s.AppendState(p.room)
	streams := p.room[from:len(p.room):len(p.room)]
	if n := len(p.list); n > 0 && p.list[n-1].At.Equal(at) && slices.Equal(p.list[n-1].Streams, streams) {
		p.room = p.room[:from]
		return
	}
	p.list = append(p.list, Mark{rev, at, streams})
}

// find returns the mark of the newest revision not after rev, or nil.
func (p *marks) find(rev uint64) *Mark {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev > rev })
	if i == 0 {
		return nil
	}
	return &p.list[i-1]
}

// revisionAt returns the newest revision committed at or before t, or 0 if there is no mark that old. newest is the newest
// revision of the store.
func (p *marks) revisionAt(t time.Time, newest uint64) uint64 {
	switch i := sort.Search(len(p.list), func(i int) bool { return p.list[i].At.After(t) }); i {
	case 0:
		return 0
	case len(p.list):
		return newest
	default:
		return p.list[i].Rev - 1
	}
}

// forget drops the marks that are only needed for revisions before first.
func (p *marks) forget(first uint64) {
	if i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev > first }) - 1; i >= 0 {
		p.list = slices.Clone(p.list[i:])
		p.list[0].Rev = max(p.list[0].Rev, first)
	}
}

// undo drops the marks of all revisions after last.
func (p *marks) undo(last uint64) {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev > last })
	p.list = p.list[:i:i]
}
