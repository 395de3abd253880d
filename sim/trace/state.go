package trace

import (
	"encoding"
	"errors"
	"fmt"
	"time"
)

// State is the complete state of a Trace except its followers.
type State struct {
	N       uint64    // of the newest record
	Start   time.Time // of the first record
	Last    time.Time
	Hash    []byte    // the state of the hash of all records, if one is kept
	Objects [2]uint64 // the sum of all commits
	Records []Record  `json:"-"` // the records that are still kept, the oldest first
}

// State returns a copy of the Trace's state.
func (t *Trace) State() State {
	s := State{N: t.n, Start: t.start, Last: t.last, Objects: t.objects, Records: t.Since(0)}
	if t.hash != nil {
		s.Hash, _ = t.hash.(encoding.BinaryMarshaler).MarshalBinary() // that of SHA-256 cannot fail
	}
	return s
}

// Load returns a Trace that continues from s. It refuses a state that is inconsistent with o.
func Load(o Options, s State) (*Trace, error) {
	t := New(o)
	t.n, t.start, t.last, t.objects = s.N, s.Start, s.Last, s.Objects
	if want := min(s.N, uint64(max(o.Keep, 0))); uint64(len(s.Records)) != want {
		return nil, fmt.Errorf("trace: %d records were saved of %d, of which %d are kept", len(s.Records), s.N, want)
	}
	t.ring = make([]Record, len(s.Records))
	for i, r := range s.Records {
		if r.N != s.N-uint64(len(s.Records))+uint64(i)+1 {
			return nil, fmt.Errorf("trace: record %d is where another one belongs", r.N)
		}
		t.ring[(r.N-1)%uint64(t.keep)] = r
	}
	if t.hash == nil {
		return t, nil
	}
	if err := t.hash.(encoding.BinaryUnmarshaler).UnmarshalBinary(s.Hash); err != nil {
		return nil, errors.Join(errors.New("trace: the hash cannot go on"), err)
	}
	return t, nil
}
