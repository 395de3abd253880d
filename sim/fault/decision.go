package fault

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Decision is the decision about one fault at one site. A replay looks it up by Fault, Site and Nth. If something
// changes elsewhere, decisions occur at other times, but these keys stay the same.
type Decision struct {
	Fault string        `json:"fault"`           // its text; if there are equal faults, followed by # and a number
	Site  string        `json:"site"`            // point, operation, client: RequestDecided update widgets/status default/a client=op/v1
	Nth   int           `json:"nth"`             // the number of matches of the fault at this site so far
	Match int           `json:"match,omitempty"` // the number of matches of the fault at all sites so far
	Fired bool          `json:"fired"`           // the fault occurred
	Wait  time.Duration `json:"-"`               // the duration, if the action waits
}

// plainDecision is a Decision without its methods. decisionLine is the JSON form of a Decision.
type (
	plainDecision Decision
	decisionLine  struct {
		plainDecision
		Wait string `json:"wait,omitempty"`
	}
)

// choice is the key of a decision.
type choice struct {
	fault, site string
	nth         int
}

func (d *Decision) choice() choice { return choice{d.Fault, d.Site, d.Nth} }

// site returns the Site of a Decision.
func (l *live) site(op *Op) string {
	text := string(l.point) + " " + op.String()
	if client, _, _ := strings.Cut(op.UserAgent, " "); client != "" {
		text += " client=" + client
	}
	if op.Replica > 1 {
		text += " replica=" + strconv.Itoa(op.Replica)
	}
	return text
}

// MarshalJSON implements json.Marshaler. The names of the fields are those in the trace.
func (d Decision) MarshalJSON() ([]byte, error) {
	x := decisionLine{plainDecision: plainDecision(d)}
	if d.Wait != 0 {
		x.Wait = d.Wait.String()
	}
	return json.Marshal(x)
}

// UnmarshalJSON decodes the output of MarshalJSON. It returns an error if Parse cannot parse the fault.
func (d *Decision) UnmarshalJSON(data []byte) error {
	var x decisionLine
	if err := json.Unmarshal(data, &x); err != nil {
		return err
	}
	if plan, err := Parse(x.Fault); err != nil || len(plan) != 1 {
		return fmt.Errorf("a decision is about the fault %q, which is none: %v", x.Fault, err)
	}
	*d = Decision(x.plainDecision)
	if x.Wait == "" {
		return nil
	}
	var err error
	if d.Wait, err = time.ParseDuration(x.Wait); err == nil && d.Wait < 0 {
		err = fmt.Errorf("wait %v is negative", d.Wait)
	}
	return err
}

// ParseDecisions decodes decisions from their JSON form, as in trace.Log. It returns an error, with the number of the
// line, if one cannot be decoded.
func ParseDecisions(lines [][]byte) ([]Decision, error) {
	list := make([]Decision, len(lines))
	for i, line := range lines {
		if err := json.Unmarshal(line, &list[i]); err != nil {
			return nil, fmt.Errorf("fault: decision %d: %w", i+1, err)
		}
	}
	return list, nil
}

// Follow makes the Injector use the decisions in list from now on. It looks up each decision by its key; a fault
// without a decision does not occur. Parameters of a fault that depend on counts or time (nth, every, p, times, until)
// are ignored, because the decisions already reflect them. The same faults must be added as in the recorded run.
func (in *Injector) Follow(list []Decision) {
	in.choices = make(map[choice]Decision, len(list))
	for i := range list {
		in.choices[list[i].choice()] = list[i]
	}
}

// State is the complete state of an Injector.
type State struct {
	Seed      uint64
	Level     Level
	Faults    []FaultState
	Decisions []Decision
	Forgotten uint64
	Follows   []Decision // the decisions of a replay, sorted; if nil, decisions are drawn
}

// FaultState is a fault and its state.
type FaultState struct {
	Text    string
	Added   time.Time
	Matched int
	Arrived int // the number of requests counted on arrival
	Fired   int
	Sites   map[string]int // the number of matches at each site
	Stream  []byte         // the state of its random number generator
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

// Load returns an Injector that continues from s. It returns an error if s is inconsistent, for example because it
// comes from a damaged file.
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
			return nil, fmt.Errorf("fault: the saved fault %q is invalid: %v", f.Text, err)
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
	if s.Follows != nil { // an empty list means that no fault occurs
		in.Follow(s.Follows)
	}
	return in, nil
}
