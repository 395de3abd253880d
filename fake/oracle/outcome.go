package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/json"
	"github.com/kubesim/kubesim/sim/linediff"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/trace"
)

// Outcome compares the final states of several runs of the same test (Oracles.State). It is safe for concurrent use.
//
//	state, faults ─▶ Compare ─┬─ the first run, without faults: the state that all other runs must reach
//	                          └─ any other run: one line for each object that differs
type Outcome struct {
	mu            sync.Mutex
	state, counts string
	known         bool
}

// Compare fails the test if the state of a run differs from that of the first run, which must be a run without faults, or if an object
// was created or deleted more often (Oracles.Counts). Fewer times are no failure: a client that learns late of several changes may skip
// some of its work.
func (o *Outcome) Compare(t TB, state, counts, trouble string) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.known {
		if trouble != "" {
			Errorf(t)("kubesim: Outcome: the first run must be without faults, but it had\n%s", trouble)
			return
		}
		o.state, o.counts, o.known = state, counts, true
		return
	}
	if lines := Difference(o.state, state) + moreOften(o.counts, counts); lines != "" {
		Errorf(t)("kubesim: the outcome differs from the one without faults (-):\n%s", lines)
	}
}

// countFormat is the format of a line of Counts after the name.
const countFormat = "created %d times, deleted %d times"

// moreOften returns the lines of counts with a larger number than before, marked with +, and the lines of before that they replace,
// marked with -.
func moreOften(before, counts string) string {
	old := map[string]string{}
	for line := range strings.Lines(before) {
		name, text, _ := strings.Cut(line, ": ")
		old[name] = text
	}
	var out strings.Builder
	for line := range strings.Lines(counts) {
		name, text, _ := strings.Cut(line, ": ")
		var created, deleted, createdBefore, deletedBefore int
		fmt.Sscanf(text, countFormat, &created, &deleted)
		fmt.Sscanf(old[name], countFormat, &createdBefore, &deletedBefore) // without a line both are 0
		if created <= createdBefore && deleted <= deletedBefore {
			continue
		}
		if old[name] != "" {
			out.WriteString("- " + name + ": " + old[name])
		}
		out.WriteString("+ " + line)
	}
	return out.String()
}

// Difference returns the lines that occur in only one of two sorted texts, such as those of State, marked with - and +. If both texts
// have a line for an object, it returns the object's name and the fields that differ instead.
func Difference(a, b string) string {
	var gone, added []string
	for _, e := range linediff.Compare(a, b) {
		switch e.Op {
		case '-':
			gone = append(gone, e.Text)
		case '+':
			added = append(added, e.Text)
		}
	}
	var out strings.Builder
	for _, line := range gone {
		name, before := stateIn(line)
		at := slices.IndexFunc(added, func(other string) bool { is, _ := stateIn(other); return is == name })
		if before == nil || at < 0 {
			out.WriteString("- " + line + "\n")
			continue
		}
		_, after := stateIn(added[at])
		added = slices.Delete(added, at, at+1)
		out.WriteString("± " + name + "\n")
		for _, field := range trace.Difference(before, after) {
			out.WriteString("      " + field + "\n")
		}
	}
	for _, line := range added {
		out.WriteString("+ " + line + "\n")
	}
	return out.String()
}

// stateIn returns the name and the state of the object that a line describes. The state is nil if the line is not one of State.
func stateIn(line string) (name string, state object.Object) {
	resource, text, _ := strings.Cut(line, " ")
	state, err := object.Parse([]byte(text))
	if err != nil {
		return line, nil
	}
	return resource + " " + trace.Key(state.Namespace(), state.Name()), state
}

// State returns the stored objects of the given resources as text, one line per object, sorted. If no resources are
// given, it returns all objects written since the server began to observe, except events and leases. It omits fields
// that may differ between two runs with the same outcome: uids, revisions, times, generations, managed fields, nodes and
// addresses. It sorts conditions by type, and replaces the suffix of a generated name with an asterisk.
func (o *Oracles) State(resources ...string) string { return o.StateWithout(nil, resources...) }

// StateWithout returns the state like State, without the fields with the given names.
func (o *Oracles) StateWithout(fields []string, resources ...string) string {
	w := o.observer.begun()
	var lines []string
	_ = w.Inspect(func(view View) error { // the function does not return an error
		selected := map[string]bool{}
		for _, r := range resources {
			selected[bareOf(view, r)] = true
		}
		lines = view.lines(fields, func(resource string, rev uint64) bool {
			if len(resources) > 0 {
				return selected[resource]
			}
			return !isTransient(resource) && rev > w.since
		})
		return nil
	})
	return strings.Join(lines, "")
}

// Counts returns how often objects of the given resources were created and deleted according to the records of a trace,
// one line per object, sorted. Objects that were created with the same generateName share a line, as do objects with names
// that differ only in uids. If no resources are given, it counts all objects since the server began to observe, except
// events and leases.
func (o *Oracles) Counts(records []trace.Record, resources ...string) string {
	since := o.observer.begun().since
	type count struct{ created, deleted int }
	counts := map[string]*count{}
	for i := range records {
		r := &records[i]
		if r.Site != trace.StoreCommitted || r.Verb == "MODIFIED" || r.Rev <= since {
			continue
		}
		bare, _, _ := strings.Cut(r.What, ".")
		if len(resources) > 0 && !slices.Contains(resources, r.What) && !slices.Contains(resources, bare) || len(resources) == 0 && isTransient(r.What) {
			continue
		}
		state := r.After
		if r.Verb == "DELETED" {
			state = r.Before
		}
		obj, _ := object.Parse(state) // an object that cannot be parsed has no generateName
		line := r.What + " " + r.Key
		if base := obj.GenerateName(); base != "" {
			line = strings.TrimSuffix(line, obj.Name()) + base + "*"
		}
		line = uid.ReplaceAllString(line, "UID")
		if counts[line] == nil {
			counts[line] = &count{}
		}
		if r.Verb == "DELETED" {
			counts[line].deleted++
		} else {
			counts[line].created++
		}
	}
	var b strings.Builder
	for _, line := range object.SortedKeys(counts) {
		fmt.Fprintf(&b, "%s: "+countFormat+"\n", line, counts[line].created, counts[line].deleted)
	}
	return b.String()
}

// lines formats the objects that the given function selects by their resource and the revision of their last write, without some fields,
// so that the result does not differ between runs. Only these objects are parsed, because a cluster has hundreds of others.
func (v View) lines(without []string, which func(resource string, rev uint64) bool) []string {
	type entry struct {
		resource string
		obj      Object
	}
	var all []entry
	same := map[string]string{} // replacements of uids and generated names
	v.view.Range("", "", func(kv *mvcc.KV) bool {
		d := v.defs.Definition(commit.Storage(kv.Key))
		if d == nil {
			return true
		}
		it := itemOf(d, kv)
		text := it.Bytes()
		same[textAt(text, "metadata", "uid")] = "UID"
		if base := textAt(text, "metadata", "generateName"); base != "" {
			same[it.Name] = base + "*"
		}
		if resource := named(d); which(resource, it.Rev) {
			all = append(all, entry{resource, it.Object()})
		}
		return true
	})
	var lines []string
	for _, e := range all {
		settled, _ := settler{same, without}.settle(map[string]any(e.obj)).(map[string]any)
		lines = append(lines, e.resource+" "+string(object.JSON(settled))+"\n")
	}
	slices.Sort(lines)
	return lines
}

// textAt returns the string at a path of an object's JSON, or "" if there is none. The string must have no characters that JSON escapes.
func textAt(text []byte, path ...string) string {
	at := json.Find(text, path...)
	if at < 0 || text[at] != '"' {
		return ""
	}
	return string(text[at+1 : json.End(text, at)-1])
}

// byType compares conditions by type.
func byType(a, b any) int {
	x, _ := a.(map[string]any) // a value that is not an object has no type
	y, _ := b.(map[string]any)
	return strings.Compare(object.Object(x).String("type"), object.Object(y).String("type"))
}

// TouchedAnnotation is an annotation that a plan of Explore writes to objects to change their resourceVersion. States
// do not contain it.
const TouchedAnnotation = "kubesim.io/touched"

// fleeting lists fields that depend on when or how often an object was written, or on the order in which objects were created.
var fleeting = []string{"resourceVersion", "managedFields", "generation", "observedGeneration", "uid", "containerID", "nodeName",
	"hostIP", "hostIPs", "podIP", "podIPs", "clusterIP", "clusterIPs"}

// settler removes from states what differs between two runs with the same outcome.
type settler struct {
	same    map[string]string // replacements of uids and generated names
	without []string          // names of other fields to remove
}

// settle returns a value without the fields that differ between two runs with the same outcome, and without a plan's
// annotation.
func (s settler) settle(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, x := range v { // the order does not matter: the result is a map
			if slices.Contains(fleeting, name) || slices.Contains(s.without, name) || name == TouchedAnnotation {
				continue
			}
			out[name] = s.settle(x)
			if list, ok := out[name].([]any); ok && name == "conditions" {
				slices.SortStableFunc(list, byType) // their order depends on when they first occurred
			}
			if m, ok := x.(map[string]any); ok && len(m) == 1 && m[TouchedAnnotation] != nil {
				delete(out, name)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = s.settle(x)
		}
		return out
	case string:
		if stands, ok := s.same[v]; ok {
			return stands
		}
		if _, err := time.Parse(time.RFC3339, v); err == nil {
			return "TIME"
		}
		if len(v) >= len("00000000-0000-0000-0000-000000000000") {
			return uid.ReplaceAllString(v, "UID") // part of a name, such as that of a PersistentVolume
		}
	}
	return v
}

// uid matches uids.
var uid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// Differ returns the lines, as YAML, in which two states of an object differ, without the fields that State omits and
// without uids. A state is nil if there is no object.
func Differ(was, is Object) string {
	var texts [2]string
	for i, obj := range []Object{was, is} {
		if obj == nil {
			continue
		}
		same := map[string]string{}
		if base := obj.GenerateName(); base != "" {
			same[obj.Name()] = base + "*"
		}
		parsed, err := object.ParseValue(uid.ReplaceAll(object.JSON(map[string]any(obj)), []byte("UID")))
		if err != nil {
			return err.Error() + "\n"
		}
		text, err := codec.JSONToYAML(object.JSON(settler{same: same}.settle(parsed)))
		if err != nil {
			return err.Error() + "\n"
		}
		texts[i] = string(text)
	}
	return Difference(texts[0], texts[1])
}
