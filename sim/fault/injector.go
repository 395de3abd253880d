package fault

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// decisionsMax is the maximum number of decisions that an Injector keeps.
const decisionsMax = 10000

// Injector decides which faults of a plan occur. It is not safe for concurrent use; callers hold the cluster's lock.
type Injector struct {
	seed      uint64
	live      []*live
	decisions []Decision
	forgotten uint64
	level     Level               // the highest level of all faults added so far
	choices   map[choice]Decision // the decisions of a replay; if nil, decisions are drawn
}

// live is a fault that has been added, with its state.
type live struct {
	Fault
	text    string
	key     string // text, and a number if there are equal faults
	point   Point
	added   time.Time
	source  *rand.PCG
	stream  *rand.Rand
	matched int
	arrived int // the number of requests that Arrive has counted
	fired   int
	sites   map[string]int // the number of matches at each site
}

// Fired is an action to carry out, and the text of its fault.
type Fired struct {
	Action
	Fault string
}

// NewInjector returns an Injector without faults.
func NewInjector(seed uint64) *Injector { return &Injector{seed: seed} }

// Add appends faults to the existing ones. If one of them can never occur, it adds none and returns an error.
func (in *Injector) Add(now time.Time, faults ...Fault) error {
	for _, f := range faults {
		if err := f.Check(); err != nil {
			return fmt.Errorf("fault: %s: %w", f, err)
		}
	}
	for _, f := range faults {
		in.level = max(in.level, f.Level())
		in.add(f, now)
	}
	return nil
}

// add adds a fault. Its random stream is derived from the seed, its text, and its number among equal faults.
func (in *Injector) add(f Fault, now time.Time) *live {
	l := &live{Fault: f, text: f.String(), point: f.Point(), added: now, sites: map[string]int{}}
	same := 0
	for _, x := range in.live {
		if x.text == l.text {
			same++
		}
	}
	if l.key = l.text; same > 0 {
		l.key = fmt.Sprint(l.text, " # ", same+1)
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", same, l.text)
	l.source = rand.NewPCG(in.seed, h.Sum64())
	l.stream = rand.New(l.source)
	in.live = append(in.live, l)
	return l
}

// Clear removes all faults.
func (in *Injector) Clear() { in.live = nil }

// Empty reports whether there are no faults.
func (in *Injector) Empty() bool { return len(in.live) == 0 }

// Plan returns all faults, including ended ones.
func (in *Injector) Plan() Plan {
	var p Plan
	for _, l := range in.live {
		p = append(p, l.Fault)
	}
	return p
}

// String returns the plan with the state of each fault. Parse accepts it.
func (in *Injector) String() string {
	var b strings.Builder
	for _, l := range in.live {
		fmt.Fprintf(&b, "%s # %s, matched %d, happened %d\n", l.text, l.Level(), l.matched, l.fired)
	}
	return b.String()
}

// Level returns the highest level of all faults added so far.
func (in *Injector) Level() Level { return in.level }

// Decisions returns the decisions, oldest first, and the number of older decisions that were dropped. A match is not a
// decision if the fault could not occur because of its count or its end.
func (in *Injector) Decisions() (list []Decision, forgotten uint64) {
	return slices.Clone(in.decisions), in.forgotten
}

// At decides the actions on op at a point, in the order of the plan. No action follows one that ends the request or
// event.
func (in *Injector) At(p Point, op *Op, now time.Time) []Fired {
	var out []Fired
	ended := false
	for _, l := range in.live {
		if l.point != p || in.choices == nil && l.over(now) || !l.fits(op) || !l.trigger.matches(op) {
			continue
		}
		if a, ok := in.decide(l, op, ended); ok {
			out = append(out, Fired{a, l.text})
			ended = ended || a.Kind.about().final
		}
	}
	return out
}

// Numbers contains, for each fault that counts requests, the position of a request in that count.
type Numbers map[*live]int

// Arrive counts a request on arrival. Thus the n-th request of a trigger is the n-th one sent, even if earlier ones
// were rejected before they reached the fault's point.
func (in *Injector) Arrive(op *Op) Numbers {
	var numbers Numbers
	for _, l := range in.live {
		if !l.countsRequests() || !l.trigger.matches(op) {
			continue
		}
		if numbers == nil {
			numbers = Numbers{}
		}
		l.arrived++
		numbers[l] = l.arrived
	}
	return numbers
}

// countsRequests reports whether the fault counts requests on arrival. If the fault has a condition on the object, it
// counts matching requests at its point instead.
func (l *live) countsRequests() bool {
	t := &l.trigger
	if t.nth == 0 && t.every == 0 || len(t.where) > 0 || len(t.became) > 0 {
		return false
	}
	return l.point == RequestDecided || l.point == RequestValidated || l.point == RequestAnswered
}

// fits reports whether the action is possible for op.
func (l *live) fits(op *Op) bool {
	fits := l.action.Kind.about().fits
	return fits == nil || fits(op)
}

func (l *live) over(now time.Time) bool {
	t := &l.trigger
	return t.times > 0 && l.fired >= t.times || t.until > 0 && !now.Before(l.added.Add(t.until))
}

// decide counts a match and draws the decision, or looks it up in a replay. It draws even if another fault has already
// ended the op, because one fault must not change the draws of another.
func (in *Injector) decide(l *live, op *Op, ended bool) (a Action, fired bool) {
	d := Decision{Fault: l.key, Site: l.site(op), Wait: l.action.Wait}
	l.matched++
	l.sites[d.Site]++
	d.Match, d.Nth = l.matched, l.sites[d.Site]
	n := l.matched
	if number, ok := op.Numbers[l]; ok {
		n = number
	}
	switch {
	case in.choices != nil:
		then := in.choices[d.choice()]
		if d.Fired = then.Fired && !ended; then.Wait > 0 {
			d.Wait = then.Wait
		}
	case !l.trigger.turn(n):
		return a, false
	default:
		p := l.trigger.probability
		d.Fired = (p == 1 || l.stream.Float64() < p) && !ended
	}
	if d.Fired {
		l.fired++
	}
	in.record(d)
	a = l.action
	a.Wait = d.Wait
	return a, d.Fired
}

// record records a decision.
func (in *Injector) record(d Decision) {
	if len(in.decisions) == decisionsMax {
		in.decisions = append(in.decisions[:0], in.decisions[decisionsMax/2:]...)
		in.forgotten += decisionsMax / 2
	}
	in.decisions = append(in.decisions, d)
}

// turn reports whether a fault may occur at its n-th match.
func (t Trigger) turn(n int) bool {
	switch {
	case t.every > 0:
		first := cmp.Or(t.nth, t.every)
		return n >= first && (n-first)%t.every == 0
	case t.nth > 0:
		return n == t.nth
	}
	return true
}
