package fault

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
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
}

// live is a fault that was added, and what has become of it.
type live struct {
	Fault
	text    string
	point   Point
	added   time.Time
	stream  *rand.Rand
	matched int
	fired   int
}

// Decision is what was decided about one fault at one place.
type Decision struct {
	Fault string // its text
	Site  string // the point and what happened there: RequestArrived update widgets/status default/a
	Match int    // the how manieth time that it matched
	Fired bool
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
		text := f.String()
		in.live = append(in.live, &live{Fault: f, text: text, point: f.Point(), added: now, stream: in.stream(text)})
	}
	return nil
}

// stream returns the stream of a fault: the seed, its text, and which of several equal ones it is.
func (in *Injector) stream(text string) *rand.Rand {
	same := 0
	for _, l := range in.live {
		if l.text == text {
			same++
		}
	}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", same, text)
	return rand.New(rand.NewPCG(in.seed, h.Sum64()))
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

// String prints the plan with what has become of each fault. Parse reads it, too.
func (in *Injector) String() string {
	var b strings.Builder
	for _, l := range in.live {
		fmt.Fprintf(&b, "%s # %s, matched %d, happened %d\n", l.text, l.Level(), l.matched, l.fired)
	}
	return b.String()
}

// Decisions returns what was decided, the oldest first, and how many older decisions were forgotten. A match that could
// not happen, because of its number or the fault's end, is no decision.
func (in *Injector) Decisions() (list []Decision, forgotten uint64) {
	return append([]Decision(nil), in.decisions...), in.forgotten
}

// At decides what happens to op at a point. Of several actions the order is that of the plan; nothing follows one that
// ends the request or event.
func (in *Injector) At(p Point, op *Op, now time.Time) []Fired {
	var out []Fired
	ended := false
	for _, l := range in.live {
		if l.point != p || l.over(now) || !l.action.fits(op) || !l.trigger.matches(op) {
			continue
		}
		if in.decide(l, op, ended) {
			out = append(out, Fired{l.action, l.text})
			ended = l.action.final()
		}
	}
	return out
}

func (l *live) over(now time.Time) bool {
	t := &l.trigger
	return t.times > 0 && l.fired >= t.times || t.until > 0 && !now.Before(l.added.Add(t.until))
}

// decide counts a match and draws. It draws even when the op has already ended by another fault: what one fault does must
// not shift the draws of the next.
func (in *Injector) decide(l *live, op *Op, ended bool) bool {
	l.matched++
	if !l.trigger.turn(l.matched) {
		return false
	}
	p := l.trigger.probability
	fired := (p == 1 || l.stream.Float64() < p) && !ended
	if fired {
		l.fired++
	}
	if len(in.decisions) == decisionsMax {
		in.decisions = append(in.decisions[:0], in.decisions[decisionsMax/2:]...)
		in.forgotten += decisionsMax / 2
	}
	in.decisions = append(in.decisions, Decision{l.text, string(l.point) + " " + op.String(), l.matched, fired})
	return fired
}

// turn reports whether a fault may happen at its n-th match.
func (t Trigger) turn(n int) bool {
	switch {
	case t.every > 0:
		first := t.nth
		if first == 0 {
			first = t.every
		}
		return n >= first && (n-first)%t.every == 0
	case t.nth > 0:
		return n == t.nth
	}
	return true
}
