package fieldmanager

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v4/merge"
	"sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// beforeFirstApply is the manager that owns the fields that an object had before they were tracked.
const beforeFirstApply = "before-first-apply"

// Apply merges config, the configuration that the manager by applies, into live, which is nil if the object does not exist. It
// returns the result with its managedFields, decoded as its kind but without defaults. It does not change live. changed reports
// whether the merge changed the object; only then does the caller set defaults. If the merge would change fields of other managers,
// Apply returns a conflict unless force is set.
func (m *Manager) Apply(d *resource.Definition, live, config object.Object, by By, force bool) (obj object.Object, changed bool, s *status.Status) {
	a, s := m.application(d, live, config, by)
	if s != nil {
		return nil, false, s
	}
	merged, entries, err := a.overLastApplied(force)
	if conflicts, ok := err.(merge.Conflicts); ok {
		return nil, false, a.conflict(conflicts)
	}
	if err != nil {
		return nil, false, status.Plain("%s", err.Error())
	}
	if obj, err = a.object(merged); err != nil {
		return nil, false, status.Plain("failed to convert new object (%s) to proper version: unable to convert unstructured object to %s: %s",
			a.objectName(config), d.GVK, err)
	}
	entries.put(obj)
	if by.Name == kubectl {
		refreshLastApplied(obj, config)
	}
	return obj, merged != nil, nil
}

// application is an apply in progress.
type application struct {
	m            *Manager
	d            *resource.Definition
	live, config object.Object
	by           By
	entries      managed
	self         id     // identifies the entry of by
	identifier   string // self as a string

	liveTyped, configTyped *typed.TypedValue
	others                 fieldpath.ManagedFields                   // the sets of all entries except that of by, by identifier
	filters                map[fieldpath.APIVersion]fieldpath.Filter // hide the fields that by cannot own
}

// application decodes the managedFields of the live object, which may be nil, and validates both objects against the schema. So
// structured-merge-diff does not have to validate them: its error messages differ from those of the version in the real server.
func (m *Manager) application(d *resource.Definition, live, config object.Object, by By) (*application, *status.Status) {
	if live == nil {
		live = object.Object{"apiVersion": d.GV(), "kind": d.Kind}
	}
	entries, err := decode(live.List("metadata", "managedFields"))
	if err != nil {
		return nil, status.Plain("failed to decode managed fields: %v", err)
	}
	model := m.model(typeOf(d), d.Custom)
	if len(entries) == 0 {
		before := By{Name: beforeFirstApply, Subresource: by.Subresource, Time: by.Time, Asker: by.Asker}
		if entries, err = m.track(d, nil, live, nil, before); err != nil {
			return nil, status.Plain("failed to create manager for existing fields: failed to convert new object (%s/%s; %s) to smd typed: %s",
				live.Namespace(), live.Name(), d.GVK, cmp.Or(model.root.unreachable(live), err.Error()))
		}
	}
	a := &application{m: m, d: d, live: live, config: config, by: by, entries: entries,
		self: id{manager: by.Name, operation: opApply, subresource: by.Subresource}}
	a.identifier = a.self.text()
	if text := model.root.invalid(map[string]any(config)); text != "" {
		return nil, status.Plain("failed to create typed patch object (%s): %s", a.objectName(config), text)
	}
	whole := model.whole(d, live)
	if !d.Custom { // only conversions of custom resources see managedFields
		delete(object.As(whole["metadata"]), "managedFields") // whole has created this map
	}
	if text := model.root.unreachable(whole); text != "" {
		return nil, status.Plain("failed to create typed live object (%s): %s", a.objectName(live), text)
	}
	a.liveTyped, a.configTyped = model.typed(whole), model.typed(config)
	a.filters, a.others = a.resetFields(), a.otherSets()
	return a, nil
}

// objectName returns the name of an object for error messages: namespace/name; version, Kind=kind.
func (a *application) objectName(obj object.Object) string {
	return obj.Namespace() + "/" + obj.Name() + "; " + a.d.GVK.String()
}

// object returns the merged object decoded as its kind, or a copy of the live one if the merge changed nothing.
func (a *application) object(merged map[string]any) (object.Object, error) {
	if merged == nil {
		return bare(a.live).Copy(), nil
	}
	t := typeOf(a.d)
	if t == nil || a.d.Custom {
		return object.Object(merged).Copy(), nil
	}
	obj, _, err := codec.DecodeJSON(a.m.print(merged), t)
	if err != nil {
		obj, _, err = codec.Convert(object.Copy(merged).(map[string]any), t) // Convert accepts more values than decoding, and has the right error messages
	}
	return obj, err
}

// conflict returns a status with all conflicts: managers are sorted by identifier, and a manager's fields are in the order of sets.
// In the real server, the order of managers is random.
func (a *application) conflict(conflicts merge.Conflicts) *status.Status {
	slices.SortStableFunc(conflicts, func(x, y merge.Conflict) int { return strings.Compare(x.Manager, y.Manager) })
	causes := make([]status.Cause, len(conflicts))
	message := fmt.Sprintf("Apply failed with %d conflicts: ", len(conflicts))
	last := ""
	for i, c := range conflicts {
		who, field := a.nameOf(c.Manager), printed(c.Path)
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

// nameOf returns the description of an identifier's manager: "m" with subresource "status" using apps/v1.
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
