package fault

import (
	"slices"
	"time"
)

// Shrink returns a smaller plan that still fails. It removes whole kinds of faults, then single faults, and then
// reduces waits and numbers of occurrences, until nothing can be reduced further. fails runs a plan and reports whether
// it fails in the same way; if runs depend on the scheduling of goroutines, it should try each plan several times. If
// plan does not fail, Shrink returns it unchanged.
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

// simplify reduces the waits and the number of occurrences of one fault, as long as the plan still fails.
func (p Plan) simplify(i int, fails func(Plan) bool) Plan {
	p = lessen(p, i, func(f *Fault) bool { return halve(&f.action.Wait) }, fails)
	p = lessen(p, i, func(f *Fault) bool { return halve(&f.trigger.until) }, fails)
	return lessen(p, i, func(f *Fault) bool {
		less := f.trigger.times > 1
		f.trigger.times = (f.trigger.times + 1) / 2
		return less
	}, fails)
}

// lessen changes one item of the list repeatedly, as long as there is something to change and the list still fails.
func lessen[S ~[]E, E any](list S, i int, change func(*E) bool, fails func(S) bool) S {
	for {
		next := slices.Clone(list)
		if !change(&next[i]) || !fails(next) {
			return list
		}
		list = next
	}
}

// waitMin is the duration below which waits are not shortened.
const waitMin = time.Millisecond

// halve halves a duration, in whole milliseconds. It returns false if the duration is already short enough.
func halve(d *time.Duration) bool {
	if *d <= waitMin {
		return false
	}
	*d = max((*d / 2).Truncate(time.Millisecond), waitMin)
	return true
}

// ShrinkDecisions is like Shrink, but for the decisions of a run. It removes kinds of faults, then faults, and then
// single decisions, as long as the run still fails, and shortens waits. Only decisions for faults that occurred remain,
// because only they have an effect in a replay.
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

// withoutGroups removes groups of items, one group after the other, as long as the list still fails.
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

// Minimize returns a minimal sublist of list that still fails, in the original order. It first tries to remove halves,
// then smaller pieces, and then single items (Zeller's delta debugging). list itself must fail.
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
			continue // a removed item may make another one unnecessary
		}
		piece /= 2
	}
	return list
}
