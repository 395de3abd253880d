package campaign

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/object"
)

// Shrink returns a smaller plan that still fails. If the empty plan fails, it returns that plan. Otherwise it removes
// whole kinds of faults and steps, then single ones, and then shortens waits, moves steps to earlier times, and reduces
// the fields and values of edits. fails reports whether a plan fails, if necessary after several runs. If p does not
// fail, Shrink returns p and false.
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

// withoutKinds removes all items of a kind, one kind after the other, as long as the plan still fails.
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

// simplify replaces one item with simpler variants as long as the plan still fails.
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
	inVain := map[string]bool{} // the text of steps that do not fail; no other item changes in this loop
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

// simpler returns earlier times, or earlier writes, the most promising first.
func (w When) simpler() (list []When) {
	if w.Then {
		return nil
	}
	if w.Client == "" {
		for _, at := range earlier(int64(w.At / time.Second)) {
			list = append(list, When{At: time.Duration(at) * time.Second})
		}
		return list
	}
	for _, n := range earlier(int64(w.Nth) - 1) {
		list = append(list, When{Client: w.Client, Nth: 1 + int(n), Before: w.Before})
	}
	return list
}

// earlier returns 0 and n/2, if they are less than n.
func earlier(n int64) []int64 {
	switch n {
	case 0:
		return nil
	case 1:
		return []int64{0}
	}
	return []int64{0, n / 2}
}

// simpler returns edits with one fewer field or item, or with one smaller value, the most promising first.
func (e Edit) simpler() (list []Action) {
	var patch map[string]any
	decode([]byte(e.Patch), &patch)
	for _, p := range smaller(patch) {
		if data, err := json.Marshal(p); err == nil { // cannot fail: the value is decoded JSON
			list = append(list, Edit{e.Resource, e.Key, string(data)})
		}
	}
	return list
}

// smaller returns smaller variants of a value, the most promising first: a single field or item, all but one of them,
// and then variants with smaller values inside. Some variants may violate the schema. The server then rejects the edit,
// and the test does not fail in the same way.
func smaller(value any) (list []any) {
	switch value := value.(type) {
	case map[string]any:
		return smallerObjects(value)
	case []any:
		for i := range value {
			if len(value) > 2 {
				list = append(list, value[i:i+1])
			}
		}
		for i := range value {
			list = append(list, slices.Delete(slices.Clone(value), i, i+1))
		}
		for i, item := range value {
			for _, less := range smaller(item) {
				next := slices.Clone(value)
				next[i] = less
				list = append(list, next)
			}
		}
	case json.Number:
		if n, err := strconv.ParseInt(value.String(), 10, 64); err == nil {
			return smallerNumbers(n)
		}
	case string:
		return shorterTexts(value)
	}
	return list
}

func smallerObjects(value map[string]any) (list []any) {
	names := object.SortedKeys(value)
	for _, name := range names {
		if len(names) > 2 {
			list = append(list, map[string]any{name: value[name]})
		}
	}
	for _, name := range names {
		next := maps.Clone(value)
		delete(next, name)
		list = append(list, next)
	}
	for _, name := range names {
		for _, less := range smaller(value[name]) {
			next := maps.Clone(value)
			next[name] = less
			list = append(list, next)
		}
	}
	return list
}

// smallerNumbers returns 0, and then numbers that approach n: each step halves the remaining distance.
func smallerNumbers(n int64) (list []any) {
	for rest := n; rest != 0; rest /= 2 {
		list = append(list, json.Number(strconv.FormatInt(n-rest, 10)))
	}
	return list
}

// shorterTexts returns prefixes of text, beginning with the empty string. Each of the following prefixes halves the
// length that is still missing.
func shorterTexts(text string) (list []any) {
	letters := []rune(text)
	for rest := len(letters); rest != 0; rest /= 2 {
		list = append(list, string(letters[:len(letters)-rest]))
	}
	return list
}
