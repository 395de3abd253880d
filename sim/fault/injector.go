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

// decisionsMax is how many decisions an Injector remembers.
const decisionsMax = 10000

// Injector decides which faults of a plan happen. It is not safe for concurrent use: the cluster's lock is held.
type Injector struct {
	seed      uint64
	live      []*live
	decisions []Decision
	forgotten uint64
	level     Level               // the worst there was
	choices   map[choice]Decision // decisions of a replay; if nil, they are drawn
}

// live is a fault that was added, with its state.
type live struct {
	Fault
	text    string
	key     string // text, and of several equal faults which one it is
	point   Point
	added   time.Time
	source  *rand.PCG
	stream  *rand.Rand
	matched int
	arrived int // requests that Arrive has numbered
	fired   int
	sites   map[string]int // how often it matched at each site
}

// Fired is an action that is to be carried out, and the fault that it belongs to.
type Fired struct {
	Action
	Fault string
}

// NewInjector returns an Injector without faults.
func NewInjector(seed uint64) *Injector { return &Injector{seed: seed} }

// Add puts faults behind those there are. It refuses all when one of them can never happen.
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

// add adds a fault. Its stream is made of the seed, its text, and which of several equal ones it is.
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

// Clear takes all faults away.
func (in *Injector) Clear() { in.live = nil }

// Empty reports whether there are no faults.
func (in *Injector) Empty() bool { return len(in.live) == 0 }

// Plan returns the faults there are, those included that have come to their end.
func (in *Injector) Plan() Plan {
	var p Plan
	for _, l := range in.live {
		p = append(p, l.Fault)
	}
	return p
}

// String prints the plan with the state of each fault. Parse reads it, too.
func (in *Injector) String() string {
	var b strings.Builder
	for _, l := range in.live {
		fmt.Fprintf(&b, "%s # %s, matched %d, happened %d\n", l.text, l.Level(), l.matched, l.fired)
	}
	return b.String()
}

// Level returns the worst that a fault could do that was ever added.
func (in *Injector) Level() Level { return in.level }

// Decisions returns the decisions, the oldest first, and the number of older ones that were dropped. A match that could not happen,
// because of its number or the fault's end, is not a decision.
func (in *Injector) Decisions() (list []Decision, forgotten uint64) {
	return slices.Clone(in.decisions), in.forgotten
}

// At decides the actions on op at a point, in the order of the plan. No action follows one that ends the request or event.
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

// Numbers are those of one request among all that a fault's trigger is about, for each fault that counts requests.
type Numbers map[*live]int

// Arrive numbers a request that has arrived. The n-th request of a trigger is then the n-th that was sent, however many of those
// before it were refused before they came to the fault's point.
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

// countsRequests reports whether the fault counts requests when they arrive. A fault with a condition on the object counts the requests
// that meet it at its point.
func (l *live) countsRequests() bool {
	t := &l.trigger
	if t.nth == 0 && t.every == 0 || len(t.where) > 0 || len(t.became) > 0 {
		return false
	}
	return l.point == RequestDecided || l.point == RequestValidated || l.point == RequestAnswered
}

// fits reports whether the action can be done to an answer.
func (l *live) fits(op *Op) bool {
	fits := l.action.Kind.about().fits
	return fits == nil || fits(op)
}

func (l *live) over(now time.Time) bool {
	t := &l.trigger
	return t.times > 0 && l.fired >= t.times || t.until > 0 && !now.Before(l.added.Add(t.until))
}

// decide counts a match and draws, or looks the decision up in a replay. It draws even when another fault has already ended the op:
// one fault must not change the draws of the next.
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

// record remembers a decision.
func (in *Injector) record(d Decision) {
	if len(in.decisions) == decisionsMax {
		in.decisions = append(in.decisions[:0], in.decisions[decisionsMax/2:]...)
		in.forgotten += decisionsMax / 2
	}
	in.decisions = append(in.decisions, d)
}

// turn reports whether a fault may happen at its n-th match.
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
