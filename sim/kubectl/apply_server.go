package kubectl

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// conflictHelp is what kubectl says below the error of an apply that others' fields stand against.
const conflictHelp = `
Please review the fields above--they currently have other managers. Here
are the ways you can resolve this warning:
* If you intend to manage all of these fields, please re-run the apply
  command with the ` + "`--force-conflicts`" + ` flag.
* If you do not intend to manage all of the fields, please edit your
  manifest to remove references to the fields that should keep their
  current managers.
* You may co-own fields by updating your manifest to match the existing
  value; in this case, you'll become the manager if the other manager(s)
  stop managing the field (remove it from their configuration).
See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts`

// applyServerSide sends an object as it is, and lets the server work out what it changes (server-side apply).
func (c *call) applyServerSide(t *target) error {
	obj, err := c.applyPatch(t, t.obj, "kubectl", c.on("force-conflicts"))
	if e, ok := err.(*statusError); ok && e.reason == "Conflict" {
		return plainError(e.message + conflictHelp)
	}
	if err != nil {
		return err
	}
	if c.dryRun() == dryNone {
		if obj, err = c.migrate(t, obj); err != nil {
			return err
		}
	}
	t.obj = obj
	return c.said(t, "serverside-applied")
}

// applyPatch sends an apply patch.
func (c *call) applyPatch(t *target, obj object.Object, manager string, force bool) (object.Object, error) {
	q := query("fieldManager", manager, "fieldValidation", c.validation(), "force", fmt.Sprint(force))
	if manager == "kubectl" && c.given("field-manager") {
		q.Set("fieldManager", c.text("field-manager"))
	}
	if c.dryRun() == dryServer {
		q.Set("dryRun", "All")
	}
	return c.ask(c.request(wire.MethodPatch, t.path(), q, patchTypes["apply"], object.JSON(map[string]any(obj))))
}

// migrate makes of an object that was applied by the client one that is applied by the server: the fields that the client
// owned go to the new manager (csaupgrade), and the annotation stays true.
func (c *call) migrate(t *target, live object.Object) (object.Object, error) {
	const before = "kubectl-client-side-apply"
	manager := cmp.Or(c.text("field-manager"), "kubectl")
	var kept []any
	var old, own object.Object
	for _, m := range live.Objects("metadata", "managedFields") {
		switch {
		case m.String("manager") == before && m.String("operation") == "Update":
			old = m
			continue
		case m.String("manager") == manager && m.String("operation") == "Apply":
			own = m
		}
		kept = append(kept, map[string]any(m))
	}
	if live.Annotations()[lastApplied] == "" || manager != "kubectl" {
		return live, nil
	}
	if old != nil && own != nil {
		unite(own.Map("fieldsV1"), old.Map("fieldsV1"))
		ops := []any{map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": kept},
			map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion()}}
		if _, err := c.ask(c.request(wire.MethodPatch, t.path(), query("fieldManager", manager), patchTypes["json"], object.JSON(ops))); err != nil {
			return nil, err
		}
		if _, err := c.applyPatch(t, t.obj, "kubectl", c.on("force-conflicts")); err != nil {
			return nil, err
		}
	}
	note := object.Object{"apiVersion": t.m.gv(), "kind": t.m.kind, "metadata": map[string]any{"name": t.name,
		"annotations": map[string]any{lastApplied: string(object.JSON(map[string]any(t.obj))) + "\n"}}}
	note.SetMeta("namespace", t.namespace)
	return c.applyPatch(t, note, "kubectl-last-applied", true)
}

// unite puts the fields of one set into another.
func unite(into, from map[string]any) {
	for _, k := range object.SortedKeys(from) {
		inner, ok := into[k].(map[string]any)
		if other, is := from[k].(map[string]any); ok && is {
			unite(inner, other)
			continue
		}
		if !ok {
			into[k] = from[k]
		}
	}
}
