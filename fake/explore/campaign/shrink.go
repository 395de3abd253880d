package campaign

import (
	"slices"

	"github.com/kubesim/kubesim/sim/fault"
)

// Shrink returns a smaller plan that still fails: nothing at all if that is enough, else without the kinds of faults and
// steps that it fails without, then without single ones, with shorter waits, at earlier times, and with fewer fields and
// smaller values in what edits write. fails runs a plan, as often as it takes to know. A plan that does not fail is returned as
// it is, with false.
func Shrink(p Plan, fails func(Plan) bool) (Plan, bool) {
	if empty := (Plan{Seed: p.Seed}); len(p.Items) > 0 && fails(empty) {
		return empty, true
	}
	if !fails(p) {
		return p, false
	}
	enough := func(items []Item) bool { return fails(Plan{p.Seed, items}) }
	items := withoutKinds(p.Items, enough)
	if len(items) > 0 {
		items = fault.Minimize(items, enough)
	}
	for i := range items {
		items = simplify(items, i, enough)
	}
	return Plan{p.Seed, items}, true
}

// withoutKinds leaves out all of one kind, kind after kind.
func withoutKinds(items []Item, fails func([]Item) bool) []Item {
	var kinds []string
	for _, i := range items {
		if k := i.Kind(); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	for _, k := range kinds {
		rest := slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return i.Kind() == k })
		if len(rest) > 0 && len(rest) < len(items) && fails(rest) {
			items = rest
		}
	}
	return items
}

// simplify makes one item do less, as long as the plan fails.
func simplify(items []Item, i int, fails func([]Item) bool) []Item {
	if f := items[i].Fault; f != nil {
		smaller := fault.Shrink(fault.Plan{*f}, func(p fault.Plan) bool {
			next := slices.Clone(items)
			if len(p) == 0 {
				return false
			}
			next[i] = Item{Fault: &p[0]}
			return p[0].String() == f.String() || fails(next)
		})
		items = slices.Clone(items)
		items[i] = Item{Fault: &smaller[0]}
		return items
	}
	inVain := map[string]bool{} // nothing else changes meanwhile
	for again := true; again; {
		again = false
		for _, step := range items[i].Step.simpler() {
			text := step.String()
			if inVain[text] {
				continue
			}
			next := slices.Clone(items)
			next[i].Step = step
			if inVain[text] = !fails(next); !inVain[text] {
				items, again = next, true
				break
			}
		}
	}
	return items
}
