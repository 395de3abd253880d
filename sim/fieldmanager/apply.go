package fieldmanager

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
)

// beforeFirstApply owns what an object had when its fields were not tracked.
const beforeFirstApply = "before-first-apply"

// Apply merges the configuration that by applies into live, nil for an object that does not exist, and returns the
// result with its managedFields, read as its kind but without defaults. live stays as it is. changed says that merging
// changed anything: only then is the object defaulted. Other managers' fields that would change are a conflict unless force
// takes them.
func (m *Manager) Apply(d *resource.Definition, live, config object.Object, by By, force bool) (obj object.Object, changed bool, s *status.Status) {
	if live == nil {
		live = object.Object{"apiVersion": d.GV(), "kind": d.Kind}
	}
	entries, err := decode(live.List("metadata", "managedFields"))
	if err != nil {
		return nil, false, status.Plain("failed to decode managed fields: %v", err)
	}
	known := live.List("metadata", "managedFields")
	live = bare(live)
	if len(entries) == 0 {
		before := By{Name: beforeFirstApply, Subresource: by.Subresource, Time: by.Time}
		if entries, err = m.track(d, nil, live, nil, before); err != nil {
			return nil, false, status.Plain("failed to create manager for existing fields: failed to convert new object (%s/%s; %s) to smd typed: %s",
				live.Namespace(), live.Name(), d.GVK, cmp.Or(m.model(typeOf(d), d.Custom).root.unreachable(live), err.Error()))
		}
	}
	a := &application{m: m, d: d, live: live, config: config, known: known, by: by, entries: entries}
	if s := a.read(); s != nil {
		return nil, false, s
	}
	if a.entries, err = m.reconciled(d, live, known, a.entries); err != nil {
		return nil, false, status.Plain("%s", err)
	}
	if obj, changed, s = a.run(force); s != nil {
		return nil, false, s
	}
	if by.Name == kubectl {
		refreshLastApplied(obj, config)
	}
	return obj, changed, nil
}

// application is one apply.
type application struct {
	m            *Manager
	d            *resource.Definition
	live, config object.Object
	known        []any // managedFields of live
	by           By
	entries      managed

	model *model
	whole map[string]any // live with its zero values
	self  id
}

// outcome is what an apply comes to.
type outcome struct {
	merged  map[string]any // nil: the object stays as it is
	entries managed
}

// read checks the configuration and the object against the schema: structured-merge-diff, which would do so again with less
// to say, is told that they are right.
func (a *application) read() *status.Status {
	a.model = a.m.model(typeOf(a.d), a.d.Custom)
	a.self = id{manager: a.by.Name, operation: opApply, subresource: a.by.Subresource}
	if text := a.model.root.invalid(map[string]any(a.config)); text != "" {
		return status.Plain("failed to create typed patch object (%s): %s", a.called(a.config), text)
	}
	a.whole = a.model.whole(a.d, a.live)
	if text := a.model.root.unreachable(a.whole); text != "" {
		return status.Plain("failed to create typed live object (%s): %s", a.called(a.live), text)
	}
	return nil
}

// called names an object in errors: namespace/name; version, Kind=kind.
func (a *application) called(obj object.Object) string {
	return obj.Namespace() + "/" + obj.Name() + "; " + a.d.GVK.String()
}

// run merges, and once more with force where kubectl may take over what it managed before server-side apply.
func (a *application) run(force bool) (obj object.Object, changed bool, s *status.Status) {
	out, err := a.merge(force)
	if conflicts, ok := err.(merge.Conflicts); ok && a.by.Name == kubectl {
		left, known := a.notLastApplied(conflicts)
		switch {
		case known && len(left) > 0:
			err = left
		case known:
			out, err = a.merge(true)
		}
	}
	if conflicts, ok := err.(merge.Conflicts); ok {
		return nil, false, a.conflict(conflicts)
	}
	if err != nil {
		return nil, false, status.Plain("%s", err.Error())
	}
	if obj, err = a.object(out.merged); err != nil {
		return nil, false, status.Plain("failed to convert new object (%s) to proper version: unable to convert unstructured object to %s: %s",
			a.called(a.config), a.d.GVK, err)
	}
	out.entries.put(obj)
	return obj, out.merged != nil, nil
}

// merge merges the configuration into the object. Its errors are merge.Conflicts or failures (Updater.Apply of
// structured-merge-diff).
func (a *application) merge(force bool) (*outcome, error) {
	merged, err := a.model.merge(a.whole, a.config)
	if err != nil {
		return nil, fmt.Errorf("failed to merge config: %w", err)
	}
	set := owned(a.model.root.paths(map[string]any(a.config)), resets(a.d, a.by.Subresource))
	if last := a.entries.find(a.self); last != nil && a.prunes(last, set) {
		if merged, err = a.prune(merged, last, set); err != nil {
			return nil, fmt.Errorf("failed to prune fields: %w", err)
		}
	}
	return a.take(merged, set, force)
}

// prunes reports whether by may have given something up since its last apply. Where custom resources have owners in other
// versions the answer does not matter as much as the question: it fails with fields that those versions do not know.
func (a *application) prunes(last *entry, set map[string]any) bool {
	if last.apiVersion != a.d.GV() || a.d.StorageCodec != nil && len(a.entries.others(a.d)) > 0 {
		return true
	}
	return !object.Same(plus(set, last.fields), set)
}

// take gives the applier its set and takes what merging changed from everybody else.
func (a *application) take(merged map[string]any, set map[string]any, force bool) (*outcome, error) {
	c := &comparison{m: a.m, d: a.d, live: a.whole, known: a.known, obj: merged, by: a.by, merged: true}
	out := &outcome{entries: make(managed, 0, len(a.entries)+1)}
	var conflicts merge.Conflicts
	for _, e := range a.entries {
		e := *e
		if e.id() != a.self {
			change, err := c.at(e.apiVersion)
			if err != nil {
				return nil, err
			}
			conflicts = appendConflicts(conflicts, e.id().text(), both(e.fields, change.changed))
			if e.lose(change); len(e.fields) == 0 {
				continue
			}
		}
		out.entries = append(out.entries, &e)
	}
	if len(conflicts) > 0 && !force {
		return nil, conflicts
	}
	if !equalMaps(a.whole, merged) {
		out.merged = merged
	}
	out.entries = a.applied(out.entries, stripped(set), out.merged != nil)
	return out, nil
}

// appendConflicts adds a conflict with a manager for each path of a set.
func appendConflicts(list merge.Conflicts, manager string, set map[string]any) merge.Conflicts {
	if len(set) == 0 {
		return list
	}
	toSet(set).Iterate(func(p fieldpath.Path) {
		list = append(list, merge.Conflict{Manager: manager, Path: p.Copy()})
	})
	return list
}

// applied gives a set to the applier. The time of its entry is that of its last change of the object.
func (a *application) applied(entries managed, set map[string]any, changed bool) managed {
	e := &entry{manager: a.by.Name, operation: opApply, apiVersion: a.d.GV(), subresource: a.by.Subresource, fields: set}
	old := entries.find(a.self)
	if old != nil {
		e.time = old.time
	}
	if changed {
		e.time = object.Time(a.by.Time)
	}
	switch {
	case len(set) > 0:
		return entries.set(e)
	case old != nil:
		return entries.drop(old)
	}
	return entries
}

// object returns the merged object read as its kind, or the live one where merging changed nothing. It shares nothing with
// the live one that may be changed.
func (a *application) object(merged map[string]any) (object.Object, error) {
	if merged == nil {
		return a.live.Copy(), nil
	}
	t := typeOf(a.d)
	if t == nil || a.d.Custom {
		return object.Object(merged).Copy(), nil
	}
	obj, _, err := codec.DecodeJSON(object.JSON(merged), t)
	if err != nil {
		obj, _, err = codec.Convert(object.Copy(merged).(map[string]any), t) // has the right words, or a way
	}
	return obj, err
}

// conflict answers with every conflict: managers in the order of their identifiers, a manager's fields as sets are
// ordered. The real server gives managers in random order.
func (a *application) conflict(conflicts merge.Conflicts) *status.Status {
	slices.SortStableFunc(conflicts, func(x, y merge.Conflict) int { return strings.Compare(x.Manager, y.Manager) })
	causes := make([]status.Cause, len(conflicts))
	message := fmt.Sprintf("Apply failed with %d conflicts: ", len(conflicts))
	last := ""
	for i, c := range conflicts {
		who, field := a.nameOf(c.Manager), a.model.print(c.Path)
		causes[i] = status.Cause{Reason: "FieldManagerConflict", Message: "conflict with " + who, Field: field}
		switch {
		case len(conflicts) == 1:
			message = "Apply failed with 1 conflict: conflict with " + who + ": " + field
		case i == 0:
			message += "conflicts with " + who + ":\n- " + field
		case c.Manager != last:
			message += "\nconflicts with " + who + ":\n- " + field
		default:
			message += "\n- " + field
		}
		last = c.Manager
	}
	return status.ApplyConflict(message, causes)
}

// nameOf prints the manager of an identifier: "m" with subresource "status" using apps/v1.
func (a *application) nameOf(text string) string {
	var e *entry
	for _, x := range a.entries {
		if x.id().text() == text {
			e = x
		}
	}
	if e == nil {
		return strconv.Quote(text)
	}
	out := fmt.Sprintf("%q", e.manager)
	if e.subresource != "" {
		out += fmt.Sprintf(" with subresource %q", e.subresource)
	}
	if e.operation == opUpdate {
		out += " using " + e.apiVersion
	}
	return out
}
