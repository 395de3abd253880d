package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/random"
)

// State is a copy of a History's state. It shares no mutable data with the History.
//
//	Store    views and commits since the last compaction; Marks say when each was made
type State struct {
	Now        time.Time
	Store      *mvcc.Store
	Marks      Marks
	Streams    []random.Stream
	Compaction Compaction
	Leases     []Lease
}

// State returns the current state.
func (h *History) State() State {
	store, err := h.log.Store.Fork(0)
	if err != nil {
		panic("history: the store has no newest revision: " + err.Error())
	}
	return State{Now: h.schedule.Now(), Store: store, Marks: h.marks.Clone(), Streams: h.random.State(),
		Compaction: h.compact, Leases: h.leases()}
}

// StateAt returns the state just after a revision was committed. If back is set, its time is that of the revision, otherwise the
// current time. StateAt returns an error if the store does not have the revision.
func (h *History) StateAt(rev uint64, back bool) (State, error) {
	s := h.State()
	store, err := h.log.Store.Fork(rev)
	if err != nil || rev == 0 {
		return s, fmt.Errorf("revision %d: the store has those from %d to %d", rev, h.log.Store.Compacted(), h.log.Store.Rev())
	}
	s.Store = store
	s.Compaction.Floor = 0
	m, ok := h.marks.find(rev)
	if !ok {
		return s, nil
	}
	streams := s.Streams
	s.Streams = nil
	for i, state := range m.Streams {
		s.Streams = append(s.Streams, random.Stream{Purpose: streams[i].Purpose, State: state})
	}
	s.Marks.undo(rev)
	s.Leases = slices.DeleteFunc(s.Leases, func(l Lease) bool { return l.Rev > rev })
	if back {
		s.Now = m.At
		s.Compaction = h.compactionAt(m.At, rev)
	}
	s.Compaction.Seen = min(s.Compaction.Seen, rev)
	return s, nil
}

// Load restores a State. TakeUp sets the timers of its leases. Load returns an error if the State is inconsistent.
func (h *History) Load(s State) error {
	store, err := s.Store.Fork(0)
	if err != nil {
		return err
	}
	h.log.Begin(store)
	h.random.Load(s.Streams)
	h.marks = s.Marks.Clone()
	h.compact = s.Compaction
	h.batches = nil
	for _, l := range s.Leases {
		h.add(l)
	}
	return nil
}
