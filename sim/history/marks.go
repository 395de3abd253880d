package history

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/kubesim/kubesim/sim/random"
)

// Mark is the time of a revision, and the state of the random numbers after it. It has only the streams that had begun, which come first.
type Mark struct {
	Rev     uint64
	At      time.Time
	Streams []rand.PCG
}

// marks hold the data of each revision that the store does not have, back to the oldest revision of the store. With them a fork can
// continue from a revision as the cluster did:
//
//	revision   4005      4006      4007
//	at         00:00:01  00:00:01  00:00:12   when it was committed
//	streams    ▪▪▪       ▪▪▪       ▪▪▪▪       the random numbers after it; later streams had not been drawn from
type marks struct {
	list []Mark
	room []rand.PCG // where the next marks keep their streams
}

// roomMin is the least number of streams for which memory is allocated at once.
const roomMin = 512

// add adds the mark of a revision that was just committed.
func (p *marks) add(rev uint64, at time.Time, s *random.Streams) {
	if cap(p.room)-len(p.room) < s.Len() {
		p.room = make([]rand.PCG, 0, max(roomMin, s.Len()))
	}
	from := len(p.room)
	p.room = s.AppendState(p.room)
	p.list = append(p.list, Mark{rev, at, p.room[from:len(p.room):len(p.room)]})
}

// find returns the mark of the newest revision not after rev, or nil.
func (p *marks) find(rev uint64) *Mark {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev > rev })
	if i == 0 {
		return nil
	}
	return &p.list[i-1]
}

// revisionAt returns the newest revision that was committed not after t, or 0 when none is remembered.
func (p *marks) revisionAt(t time.Time) uint64 {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i].At.After(t) })
	if i == 0 {
		return 0
	}
	return p.list[i-1].Rev
}

// forget drops the marks of the revisions before first.
func (p *marks) forget(first uint64) {
	if i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev >= first }); i > 0 {
		p.list = slices.Clone(p.list[i:])
	}
}

// undo drops the marks of the revisions after last.
func (p *marks) undo(last uint64) {
	i := sort.Search(len(p.list), func(i int) bool { return p.list[i].Rev > last })
	p.list = p.list[:i:i]
}
