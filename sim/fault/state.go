package fault

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// State is all that an Injector remembers.
type State struct {
	Seed      uint64
	Level     Level
	Faults    []FaultState
	Decisions []Decision
	Forgotten uint64
	Follows   []Decision // decisions of a replay, sorted; if nil, they are drawn
}

// FaultState is a fault that was added, with its state.
type FaultState struct {
	Text    string
	Added   time.Time
	Matched int
	Arrived int // requests that a fault has counted which counts them when they arrive
	Fired   int
	Sites   map[string]int // how often it matched at each site
	Stream  []byte         // the state of its random numbers
}

// State returns a copy of the Injector's state.
func (in *Injector) State() State {
	s := State{Seed: in.seed, Level: in.level, Forgotten: in.forgotten}
	s.Decisions, _ = in.Decisions()
	for _, l := range in.live {
		stream, _ := l.source.MarshalBinary() // cannot fail
		s.Faults = append(s.Faults, FaultState{l.text, l.added, l.matched, l.arrived, l.fired, maps.Clone(l.sites), stream})
	}
	if in.choices != nil {
		s.Follows = slices.SortedFunc(maps.Values(in.choices), func(a, b Decision) int {
			return cmp.Or(cmp.Compare(a.Fault, b.Fault), cmp.Compare(a.Site, b.Site), cmp.Compare(a.Nth, b.Nth))
		})
	}
	return s
}

// Load returns an Injector that continues from s.
func Load(s State) (*Injector, error) {
	in := &Injector{seed: s.Seed, level: s.Level, forgotten: s.Forgotten,
		decisions: slices.Clone(s.Decisions)}
	if len(in.decisions) > decisionsMax {
		return nil, fmt.Errorf("fault: %d decisions were saved; an injector keeps %d", len(in.decisions), decisionsMax)
	}
	if s.Level < Legal || s.Level > Illegal {
		return nil, fmt.Errorf("fault: there is no level %d", int(s.Level))
	}
	for _, f := range s.Faults {
		plan, err := Parse(f.Text)
		if err != nil || len(plan) != 1 {
			return nil, fmt.Errorf("fault: %q was saved as a fault, which it is not: %v", f.Text, err)
		}
		l := in.add(plan[0], f.Added)
		l.matched, l.arrived, l.fired = f.Matched, f.Arrived, f.Fired
		if f.Sites != nil {
			l.sites = maps.Clone(f.Sites)
		}
		if err := l.source.UnmarshalBinary(f.Stream); err != nil {
			return nil, fmt.Errorf("fault: the random numbers of %q: %w", f.Text, err)
		}
	}
	if s.Follows != nil { // an empty list decides that nothing happens
		in.Follow(s.Follows)
	}
	return in, nil
}
