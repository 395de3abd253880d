package fieldmanager

import (
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Update records in obj's managedFields the changes that the manager by makes. live is the object before the update, or nil for a
// create. by becomes the owner of the fields that it set; the fields that it removed lose their owners.
func (m *Manager) Update(d *resource.Definition, live, obj object.Object, by By) {
	entries := requested(live, obj, by.Subresource)
	obj.Remove("metadata", "managedFields")
	if len(entries) == 0 && live.UID() != "" {
		return // fields are not tracked until the next apply
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
	if known := live.List("metadata", "managedFields"); m.Keeps && known != nil { // keep the previous managedFields instead of rejecting the request
		obj.Set(object.Copy(known), "metadata", "managedFields")
	}
}

// requested returns the initial entries of an update. Through the main resource, a client may replace the entries of the live
// object or clear them. If the new entries are invalid, they are ignored.
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

// clears reports whether the managedFields that a client sent clear them: [] or [{}].
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

// track makes by, an updater, the owner of the fields that differ between live and obj.
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
	var before entry // the updater's previous entry
	kept := entries[:0]
	for _, e := range entries {
		change, err := c.at(e.apiVersion)
		if err != nil {
			return nil, err
		}
		if e.id() == mine.id() { // the updater's entry owns the changed fields afterwards
			before = *e
		} else {
			e.lose(change.changed)
		}
		e.lose(change.removed)
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

// updater returns a new entry for an update by the writer.
func (by By) updater(apiVersion string) *entry {
	e := &entry{manager: by.Name, operation: opUpdate, apiVersion: apiVersion, subresource: by.Subresource, time: object.Time(by.Time)}
	if e.manager == "" {
		e.manager = "unknown"
	}
	return e
}

// lose removes a set of paths from the entry.
func (e *entry) lose(set map[string]any) {
	if left, fewer := minus(e.fields, set); fewer {
		e.fields, e.raw = left, nil
	}
}

// gain sets the fields of an updater's new entry to set plus those of its old entry, which may be nil. If they are equal to the
// fields before the update, it reuses those.
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

// change holds the changes of an update in one version.
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

// at returns the changes in the version apiVersion.
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

// replaced returns a copy of m with another value for name.
func replaced(m map[string]any, name string, v any) map[string]any {
	out := maps.Clone(m)
	out[name] = v
	return out
}

// unowned are the metadata fields that cannot be owned.
var unowned = []string{"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
	"managedFields", "resourceVersion"}

// unownedPaths contains the path elements of the unowned fields, and that of metadata itself.
var unownedPaths = func() (paths []string) {
	for _, name := range unowned {
		paths = append(paths, "f:"+name)
	}
	return append(paths, ".")
}()

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
	set = without(set, "f:apiVersion", "f:kind")
	meta, _ := below(set, "f:metadata")
	switch rest := without(meta, unownedPaths...); {
	case len(rest) == 0:
		return without(set, "f:metadata")
	case len(rest) < len(meta):
		return replaced(set, "f:metadata", rest)
	}
	return set
}

// Unchanged restores the previous times in obj's managedFields if nothing else differs from live, so that a write that changes
// nothing does not create a revision.
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
