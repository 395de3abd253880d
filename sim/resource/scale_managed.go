package resource

import (
	"sort"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// The managedFields of an object and of its Scale are two views of the same entries (KEP-555): the Scale shows those
// that own the number of replicas, and a write of the Scale may add entries, or take the number away from others.
//
//	Deployment  m1 Apply  {f:spec: {f:template: …, f:replicas: {}}}  ──▶  Scale  m1 Apply  {f:spec: {f:replicas: {}}}
//	                                                                               │ apply of m2, forced
//	Deployment  m1 Apply  {f:spec: {f:template: …}}                  ◀──  Scale  m2 Apply  {f:spec: {f:replicas: {}}}
//	            m2 Apply  {f:spec: {f:replicas: {}}}, subresource scale

// managedOfScale returns the managedFields of the Scale of parent.
func (p ScalePaths) managedOfScale(d *Definition, parent object.Object) []any {
	var out []any
	for _, entry := range entriesOf(parent) {
		path, ok := p.replicasIn(d, entry.String("apiVersion"))
		if !ok || path == "" || !ownsField(entry, path) {
			continue
		}
		moved := entry.Copy()
		moved["apiVersion"] = scaleVersion
		moved["fieldsV1"] = fieldSet(".spec.replicas")
		out = append(out, map[string]any(moved))
	}
	return out
}

// setManaged gives parent the managedFields that follow from those of the Scale that was written.
func (p ScalePaths) setManaged(d *Definition, parent, scale object.Object) {
	owners := map[string]object.Object{}
	for _, entry := range entriesOf(scale) {
		owners[managerKey(entry)] = entry
	}
	kept := map[string]object.Object{}
	times := map[string]any{}
	for _, entry := range entriesOf(parent) {
		path, ok := p.replicasIn(d, entry.String("apiVersion"))
		if !ok {
			continue // of a version that is not served any more
		}
		key := managerKey(entry)
		times[key] = entry["time"]
		switch _, owns := owners[key]; {
		case path == "" || !ownsField(entry, path):
			kept[key] = entry
		case owns:
			kept[key] = entry
			delete(owners, key)
		case disown(entry, path):
			kept[key] = entry
		}
	}
	for _, key := range object.SortedKeys(owners) {
		entry := owners[key]
		if !ownsField(entry, ".spec.replicas") {
			continue
		}
		entry = entry.Copy()
		entry["apiVersion"], entry["fieldsV1"] = d.GV(), fieldSet(p.Replicas)
		delete(entry, "time")
		if t := times[key]; t != nil {
			entry["time"] = t
		}
		kept[key] = entry
	}
	setEntries(parent, kept)
}

// replicasIn returns the path of the replicas in a version; ok is false for a version that is not served.
func (p ScalePaths) replicasIn(d *Definition, apiVersion string) (path string, ok bool) {
	if apiVersion == d.GV() {
		return p.Replicas, true
	}
	path, ok = p.Versions[apiVersion]
	return path, ok
}

func entriesOf(obj object.Object) []object.Object {
	var out []object.Object
	for _, v := range obj.List("metadata", "managedFields") {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// setEntries puts entries into managedFields in the order in which the server keeps them: by operation, time, manager,
// apiVersion and subresource.
func setEntries(obj object.Object, entries map[string]object.Object) {
	keys := object.SortedKeys(entries)
	sort.SliceStable(keys, func(i, j int) bool {
		a, b := entries[keys[i]], entries[keys[j]]
		if x, y := a.String("operation"), b.String("operation"); x != y {
			return x < y
		}
		if x, y := secondsOf(a), secondsOf(b); x != y {
			return x < y
		}
		for _, name := range []string{"manager", "apiVersion", "subresource"} {
			if x, y := a.String(name), b.String(name); x != y {
				return x < y
			}
		}
		return false
	})
	list := make([]any, 0, len(keys))
	for _, key := range keys {
		list = append(list, map[string]any(entries[key]))
	}
	if len(list) == 0 {
		obj.Remove("metadata", "managedFields")
		return
	}
	obj.Set(list, "metadata", "managedFields")
}

func secondsOf(entry object.Object) int64 {
	t, err := time.Parse(time.RFC3339, entry.String("time"))
	if err != nil {
		return 0
	}
	return t.Unix()
}

// managerKey says whose an entry is. A manager that applies is the same in every version.
func managerKey(entry object.Object) string {
	version := entry.String("apiVersion")
	if entry.String("operation") == "Apply" {
		version = ""
	}
	return strings.Join([]string{entry.String("manager"), entry.String("operation"), version, entry.String("subresource")}, "\x00")
}

// fieldSet returns the fieldsV1 that owns one field.
func fieldSet(path string) map[string]any {
	set := map[string]any{}
	names := splitPath(path)
	for i := len(names) - 1; i >= 0; i-- {
		set = map[string]any{"f:" + names[i]: set}
	}
	return set
}

// ownsField reports whether an entry owns the field itself, not only parts of it.
func ownsField(entry object.Object, path string) bool {
	set := entry.Map("fieldsV1")
	for _, name := range splitPath(path) {
		next, ok := set["f:"+name].(map[string]any)
		if !ok {
			return false
		}
		set = next
	}
	_, self := set["."]
	return self || len(set) == 0
}

// disown takes a field away from an entry. It reports whether the entry still owns something.
func disown(entry object.Object, path string) bool {
	sets := []map[string]any{entry.Map("fieldsV1")}
	names := splitPath(path)
	for _, name := range names {
		next, _ := sets[len(sets)-1]["f:"+name].(map[string]any)
		sets = append(sets, next)
	}
	if last := sets[len(names)]; len(last) > 0 {
		delete(last, ".")
	}
	for i := len(names) - 1; i >= 0 && len(sets[i+1]) == 0; i-- {
		delete(sets[i], "f:"+names[i])
	}
	return len(sets[0]) > 0
}
