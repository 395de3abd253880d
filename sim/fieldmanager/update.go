package fieldmanager

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Update records the changes of by in obj's managedFields. live is the object before the update, nil for a create. by owns the
// fields that it set from now on, and the fields that it removed lose their owners.
func (m *Manager) Update(d *resource.Definition, live, obj object.Object, by By) {
	entries := requested(live, obj, by.Subresource)
	obj.Remove("metadata", "managedFields")
	if len(entries) == 0 && live.UID() != "" {
		return // not tracked until the next apply
	}
	if !d.Custom || obj.Kind() == d.Kind && obj.APIVersion() == d.GV() {
		track := m.track
		if live == nil && len(entries) == 0 && by.Subresource == "" {
			track = m.first
		}
		if entries, err := track(d, live, obj, entries, by); err == nil {
			entries.put(obj)
			return
		}
	}
	if known := live.List("metadata", "managedFields"); m.Keeps && known != nil { // rather than refuse the request
		obj.Set(object.Copy(known), "metadata", "managedFields")
	}
}

// requested returns the initial entries of an update. A client may replace those of the live object through the main resource, or
// clear them. Unreadable entries count as not sent.
func requested(live, obj object.Object, subresource string) managed {
	known := live.List("metadata", "managedFields")
	if subresource == "" {
		sent, isList := obj.Metadata()["managedFields"].([]any)
		if isList && clears(sent) {
			return nil
		}
		if known == nil {
			known = []any{}
		}
		if entries, err := decodeNew(sent, known); err == nil && len(entries) > 0 {
			return entries
		}
	}
	entries, err := decode(known)
	if err != nil {
		return nil
	}
	return entries
}

// clears reports whether managedFields were sent to clear them: [] or [{}].
func clears(sent []any) bool {
	if len(sent) != 1 {
		return len(sent) == 0
	}
	m, ok := sent[0].(map[string]any)
	for _, v := range m { // order does not matter
		if !object.Blank(v) {
			return false
		}
	}
	return ok || sent[0] == nil
}

// track moves the fields that differ between live and obj to by, an updater.
func (m *Manager) track(d *resource.Definition, live, obj object.Object, entries managed, by By) (managed, error) {
	c := &comparison{m: m, d: d, live: live, obj: bare(obj), by: by}
	if err := m.misfit(d, c.obj, true); err != nil {
		return nil, err
	}
	if err := m.misfit(d, c.live, true); err != nil {
		return nil, err
	}
	entries, err := m.reconciled(by.Asker, d, live, entries)
	if err != nil {
		return nil, err
	}
	own, err := c.at(d.GV())
	if err != nil {
		return nil, err
	}
	mine := by.updater(d.GV())
	var before entry // that of the updater as it was
	kept := entries[:0]
	for _, e := range entries {
		if e.id() == mine.id() {
			before = *e
		}
		change, err := c.at(e.apiVersion)
		if err != nil {
			return nil, err
		}
		e.lose(change)
		if len(e.fields) > 0 {
			kept = append(kept, e)
		}
	}
	if set := stripped(own.changed); len(set) > 0 {
		mine.gain(set, kept.find(mine.id()), before)
		kept = kept.set(mine)
	}
	return kept.capped(), nil
}

// updater returns an entry of the writer for an update.
func (by By) updater(apiVersion string) *entry {
	e := &entry{manager: by.Name, operation: opUpdate, apiVersion: apiVersion, subresource: by.Subresource, time: object.Time(by.Time)}
	if e.manager == "" {
		e.manager = "unknown"
	}
	return e
}

// lose removes changed fields from the entry.
func (e *entry) lose(c *change) {
	for _, set := range []map[string]any{c.changed, c.removed} {
		if left, fewer := minus(e.fields, set); fewer {
			e.fields, e.raw = left, nil
		}
	}
}

// gain gives an updater's entry the set, and the rest of its old entry, which may be nil. If the result is equal to the entry
// before the update, both share their fields.
func (e *entry) gain(set map[string]any, old *entry, before entry) {
	e.fields = set
	if old != nil {
		e.fields = plus(old.fields, set)
	}
	if before.raw == nil || !object.Equal(before.fields, e.fields) {
		return
	}
	e.fields = before.fields
	if e.time == before.time {
		e.raw = before.raw
	}
}

// change is the set of changes of an update, in one version.
type change struct{ changed, removed map[string]any }

// comparison compares two states of an object in any of its versions.
type comparison struct {
	m         *Manager
	d         *resource.Definition // version of live and obj
	live, obj object.Object        // live is nil for a create
	by        By
	done      []comparedVersion
}

type comparedVersion struct {
	gv     string
	change *change
}

// at returns the changes in a version.
func (c *comparison) at(apiVersion string) (*change, error) {
	for _, x := range c.done {
		if x.gv == apiVersion {
			return x.change, nil
		}
	}
	v, live, err := c.m.inVersion(c.by.Asker, c.d, c.live, apiVersion)
	if err != nil {
		return nil, fmt.Errorf("failed to convert old object: %w", err)
	}
	_, obj, err := c.m.inVersion(c.by.Asker, c.d, c.obj, apiVersion)
	if err != nil {
		return nil, fmt.Errorf("failed to convert new object: %w", err)
	}
	d := differ{}
	x := &change{}
	root := c.m.model(typeOf(v), v.Custom).root
	x.changed, x.removed = d.diffFields(root, map[string]any(bare(live)), map[string]any(bare(obj)))
	if d.err != nil {
		return nil, fmt.Errorf("failed to compare objects: %w", d.err)
	}
	if resetsIn(c.d, v, c.by.Subresource) {
		putBack := resets(v, c.by.Subresource)
		x.changed, x.removed = owned(x.changed, putBack), owned(x.removed, putBack)
	}
	c.done = append(c.done, comparedVersion{apiVersion, x})
	return x, nil
}

// bare returns obj without its managedFields. It shares everything else.
func bare(obj object.Object) object.Object {
	meta := obj.Metadata()
	if _, ok := meta["managedFields"]; !ok {
		return obj
	}
	return replaced(obj, "metadata", without(meta, "managedFields"))
}

// replaced returns a copy of m with another value under name.
func replaced(m map[string]any, name string, v any) map[string]any {
	out := maps.Clone(m)
	out[name] = v
	return out
}

// unowned are the fields of metadata that cannot be owned.
var unowned = []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
	"managedFields", "resourceVersion"}

// stripSet holds the fields that are never owned.
var stripSet = func() *fieldpath.Set {
	set := fieldpath.NewSet(pathOf("apiVersion"), pathOf("kind"), pathOf("metadata"))
	for _, name := range unowned {
		set.Insert(pathOf("metadata", name))
	}
	return set
}()

// stripped returns a set without the fields that are never owned.
func stripped(set map[string]any) map[string]any {
	meta, _ := below(set, "f:metadata")
	rest := maps.Clone(meta)
	maps.DeleteFunc(rest, func(element string, _ any) bool { return element == "." || slices.Contains(unowned, element[2:]) })
	set = without(set, "f:apiVersion", "f:kind", "f:metadata")
	if len(rest) > 0 {
		set = replaced(set, "f:metadata", rest)
	}
	return set
}

// Unchanged takes back new times in obj's managedFields when they are all that differs from live: a write that changes
// nothing costs no revision.
func (m *Manager) Unchanged(live, obj object.Object) {
	was, is := live.List("metadata", "managedFields"), obj.List("metadata", "managedFields")
	sameTime := func(x, y any) bool { return timeOf(x) == timeOf(y) }
	if slices.EqualFunc(was, is, sameTime) || !slices.EqualFunc(was, is, equalButTime) {
		return
	}
	if object.SemanticEqual(map[string]any(bare(live)), map[string]any(bare(obj))) {
		obj.Set(was, "metadata", "managedFields")
	}
}

func timeOf(entry any) string {
	m, _ := entry.(map[string]any)
	return object.Object(m).String("time")
}

func equalButTime(x, y any) bool {
	a, _ := x.(map[string]any)
	b, _ := y.(map[string]any)
	return object.Equal(without(a, "time"), without(b, "time"))
}
