package fault

import (
	"slices"
	"time"
)

// Shrink returns a smaller plan that still fails: without the kinds of faults that it fails without, then without single
// faults, with shorter waits and fewer times, until nothing of that can be taken away. fails runs a plan and reports
// whether the same went wrong as at first; where goroutines run as Go pleases it should try each plan several times. A
// plan that does not fail is returned as it is.
//
//	compact, delay 8s, close ×3 ─▶ delay 8s, close ×3 ─▶ close ×3 ─▶ close ×1
func Shrink(plan Plan, fails func(Plan) bool) Plan {
	if !fails(plan) {
		return plan
	}
	for {
		size := plan.size()
		plan = withoutGroups(plan, func(f Fault) Kind { return f.action.Kind }, fails)
		plan = Minimize(plan, fails)
		for i := range plan {
			plan = plan.simplify(i, fails)
		}
		if plan.size() == size {
			return plan
		}
	}
}

// size is the measure that shrinking a plan reduces.
func (p Plan) size() (size int64) {
	for _, f := range p {
		size += 1 + int64(f.action.Wait) + int64(f.trigger.times) + int64(f.trigger.until)
	}
	return size
}

// simplify makes one fault of the plan wait less and happen less often, as long as it fails.
func (p Plan) simplify(i int, fails func(Plan) bool) Plan {
	p = lessen(p, i, func(f *Fault) bool { return halve(&f.action.Wait) }, fails)
	p = lessen(p, i, func(f *Fault) bool { return halve(&f.trigger.until) }, fails)
	return lessen(p, i, func(f *Fault) bool {
		less := f.trigger.times > 1
		f.trigger.times = (f.trigger.times + 1) / 2
		return less
	}, fails)
}

// lessen changes one item of the list as often as there is something to change and the list still fails.
func lessen[S ~[]E, E any](list S, i int, change func(*E) bool, fails func(S) bool) S {
	for {
		next := slices.Clone(list)
		if !change(&next[i]) || !fails(next) {
			return list
		}
		list = next
	}
}

// waitMin is the shortest duration that is not tried shorter.
const waitMin = time.Millisecond

// halve makes a duration about half as long, in whole milliseconds. It reports false when it is short enough.
func halve(d *time.Duration) bool {
	if *d <= waitMin {
		return false
	}
	*d = max((*d / 2).Truncate(time.Millisecond), waitMin)
	return true
}

// ShrinkDecisions is Shrink for the decisions of a run: it removes kinds of faults, then faults, then single decisions without which the
// run still fails, and shortens waits. Only decisions that happened remain, because a replay does nothing else.
func ShrinkDecisions(list []Decision, fails func([]Decision) bool) []Decision {
	list = slices.DeleteFunc(slices.Clone(list), func(d Decision) bool { return !d.Fired })
	if !fails(list) {
		return list
	}
	list = withoutGroups(list, func(d Decision) Kind {
		plan, err := Parse(d.Fault)
		if err != nil || len(plan) == 0 {
			return Kind{}
		}
		return plan[0].action.Kind
	}, fails)
	list = withoutGroups(list, func(d Decision) string { return d.Fault }, fails)
	list = Minimize(list, fails)
	for i := range list {
		list = lessen(list, i, func(d *Decision) bool { return halve(&d.Wait) }, fails)
	}
	return list
}

// withoutGroups returns list without the groups, one after the other, that it fails without.
func withoutGroups[S ~[]E, E any, K comparable](list S, group func(E) K, fails func(S) bool) S {
	var groups []K
	for _, x := range list {
		if g := group(x); !slices.Contains(groups, g) {
			groups = append(groups, g)
		}
	}
	for _, g := range groups {
		rest := slices.DeleteFunc(slices.Clone(list), func(x E) bool { return group(x) == g })
		if len(rest) < len(list) && fails(rest) {
			list = rest
		}
	}
	return list
}

// Minimize returns a part of list, in its order, that still fails and of which nothing can be left out: halves are tried
// first, then smaller pieces, then each one (Zeller's delta debugging). list fails.
func Minimize[S ~[]E, E any](list S, fails func(S) bool) S {
	for piece := (len(list) + 1) / 2; piece > 0; {
		less := false
		for from := 0; from < len(list); {
			rest := slices.Delete(slices.Clone(list), from, min(from+piece, len(list)))
			if fails(rest) {
				list, less = rest, true
			} else {
				from += piece
			}
		}
		if piece = min(piece, len(list)); piece == 1 && less {
			continue // a removed fault may make another one unnecessary
		}
		piece /= 2
	}
	return list
}
