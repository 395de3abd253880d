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

// beforeFirstApply owns the fields that an object had before its fields were tracked.
const beforeFirstApply = "before-first-apply"

// Apply merges the configuration that by applies into live, nil for an object that does not exist, and returns the result with its
// managedFields, read as its kind but without defaults. live is not changed. changed is set if the merge changed anything: only
// then is the object defaulted. Other managers' fields that would change are a conflict unless force takes them.
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

// application is one apply.
type application struct {
	m            *Manager
	d            *resource.Definition
	live, config object.Object
	by           By
	entries      managed
	self         id     // of the entry of by
	identifier   string // self as text

	liveTyped, configTyped *typed.TypedValue
	others                 fieldpath.ManagedFields                   // the sets of all entries but that of by, by their identifiers
	filters                map[fieldpath.APIVersion]fieldpath.Filter // hide the fields that by cannot own
}

// application reads the managedFields of the live object, which may be nil, and checks both objects against the schema. So
// structured-merge-diff need not validate them: its errors are worded otherwise than those of the real server's version.
func (m *Manager) application(d *resource.Definition, live, config object.Object, by By) (*application, *status.Status) {
	if live == nil {
		live = object.Object{"apiVersion": d.GV(), "kind": d.Kind}
	}
	entries, err := decode(live.List("metadata", "managedFields"))
	if err != nil {
		return nil, status.Plain("failed to decode managed fields: %v", err)
	}
	if d.StorageCodec == nil { // only conversions of custom resources see managedFields
		live = bare(live)
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
	if text := model.root.unreachable(whole); text != "" {
		return nil, status.Plain("failed to create typed live object (%s): %s", a.objectName(live), text)
	}
	a.liveTyped, a.configTyped = model.typed(whole), model.typed(config)
	a.filters, a.others = a.resetFields(), a.otherSets()
	return a, nil
}

// objectName names an object in errors: namespace/name; version, Kind=kind.
func (a *application) objectName(obj object.Object) string {
	return obj.Namespace() + "/" + obj.Name() + "; " + a.d.GVK.String()
}

// object returns the merged object read as its kind, or the live one where merging changed nothing. It shares nothing with
// the live one that may be changed.
func (a *application) object(merged map[string]any) (object.Object, error) {
	if merged == nil {
		return bare(a.live).Copy(), nil
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
