package oracle

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// Outcome compares the final states of several runs of the same test (Oracles.State). It is safe for concurrent use.
//
//	state, trouble ─▶ Compare ─┬─ the first run, without trouble: the state that the others must have
//	                           └─ any other run: a line for each object that differs
type Outcome struct {
	mu    sync.Mutex
	state string
	known bool
}

// Compare fails the test if the state of a run differs from that of the first run, which must be one without trouble.
func (o *Outcome) Compare(t TB, state, trouble string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known {
		if trouble != "" {
			Errorf(t)("kubesim: Outcome: the first run has to be one without faults, but it had\n%s", trouble)
			return
		}
		o.state, o.known = state, true
		return
	}
	if lines := lineDiff(o.state, state); lines != "" {
		Errorf(t)("kubesim: the outcome differs from the one without faults (-):\n%s", lines)
	}
}

// lineDiff returns the lines that only one of two sorted texts has, marked with - and +.
func lineDiff(a, b string) string {
	var out strings.Builder
	x, y := strings.SplitAfter(a, "\n"), strings.SplitAfter(b, "\n")
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0] < y[0]:
			out.WriteString("- " + x[0])
			x = x[1:]
		case len(x) == 0 || y[0] < x[0]:
			out.WriteString("+ " + y[0])
			y = y[1:]
		default:
			x, y = x[1:], y[1:]
		}
	}
	return out.String()
}

// State returns the stored objects of these resources as text, one line for each object, sorted. Without resources it returns all
// objects written since the server began, except events and leases. Fields that may differ between two runs with the same outcome are
// left out: uids, revisions, times, generations, managed fields and the order of conditions. A generated name is replaced by its prefix
// and an asterisk.
func (o *Oracles) State(resources ...string) string {
	w := o.observer.begun()
	var lines []string
	_ = w.Inspect(func(view View) error { // it returns none
		lines = view.lines(func(resource string, obj Object) bool {
			if len(resources) > 0 {
				return slices.ContainsFunc(resources, func(r string) bool { return r == resource || bareOf(view, r) == resource })
			}
			return !isTransient(resource) && revisionOf(obj) > w.since
		})
		return nil
	})
	return strings.Join(lines, "")
}

// lines returns some objects in the form that is equal in two runs.
func (v View) lines(which func(resource string, obj Object) bool) []string {
	type entry struct {
		resource string
		obj      Object
	}
	var all []entry
	same := map[string]string{} // replacements of uids and generated names
	v.Each(func(resource string, obj Object) bool {
		same[obj.UID()] = "UID"
		if base := obj.GenerateName(); base != "" {
			same[obj.Name()] = base + "*"
		}
		if which(resource, obj) {
			all = append(all, entry{resource, obj})
		}
		return true
	})
	var lines []string
	for _, e := range all {
		settled, _ := settle(map[string]any(e.obj), same).(map[string]any)
		lines = append(lines, e.resource+" "+string(object.JSON(settled))+"\n")
	}
	slices.Sort(lines)
	return lines
}

// byType compares conditions by their types.
func byType(a, b any) int {
	x, _ := a.(map[string]any) // a value that is not an object has no type
	y, _ := b.(map[string]any)
	return strings.Compare(object.Object(x).String("type"), object.Object(y).String("type"))
}

// TouchedAnnotation is an annotation that a plan of Explore writes into objects to change their revision. States do not contain it.
const TouchedAnnotation = "kubesim.io/touched"

// fleeting are fields that depend on when or how often an object was written.
var fleeting = []string{"resourceVersion", "managedFields", "generation", "observedGeneration", "uid"}

// settle returns a value without the fields that differ between two runs with the same outcome, and without a plan's annotation.
func settle(v any, same map[string]string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v { // order does not matter: a map again
			if slices.Contains(fleeting, name) || name == TouchedAnnotation {
				continue
			}
			out[name] = settle(x, same)
			if list, ok := out[name].([]any); ok && name == "conditions" {
				slices.SortStableFunc(list, byType) // their order is the order in which they first occurred
			}
			if m, ok := x.(map[string]any); ok && len(m) == 1 && m[TouchedAnnotation] != nil {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = settle(x, same)
		}
		return out
	case string:
		if stands, ok := same[v]; ok {
			return stands
		}
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "TIME"
		}
	}
	return v
}
