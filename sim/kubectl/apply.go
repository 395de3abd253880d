package kubectl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
)

// runApply creates the objects in files or updates them to match, by a three-way merge or on the server (--server-side). With
// --prune, it then deletes earlier applied objects that are not in the files.
func runApply(c *call) error {
	if c.On("force-conflicts") && !c.On("server-side") {
		return fmt.Errorf("--force-conflicts only works with --server-side")
	}
	if c.On("prune") && !c.On("all") && !c.Given("selector") {
		return fmt.Errorf("all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. " +
			"If you did not mean to prune all resources, specify a label selector")
	}
	if c.On("server-side") && c.dryRun() == dryClient {
		return fmt.Errorf("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
	}
	switch {
	case c.On("server-side") && c.On("force"):
		return fmt.Errorf("--force cannot be used with --server-side")
	case c.dryRun() == dryServer && c.On("force"):
		return fmt.Errorf("--dry-run=server cannot be used with --force")
	case c.On("all") && c.Given("selector"):
		return fmt.Errorf("cannot set --all and --selector at the same time")
	}
	list, err := c.fileInfos("apply")
	if err != nil {
		return err
	}
	err = each(list, func(info *client.Info) error {
		if info.Name == "" && info.Object.GenerateName() != "" {
			return fmt.Errorf("from %s: cannot use generate name with apply", info.Object.GenerateName())
		}
		if c.On("server-side") {
			return c.applyServerSide(info)
		}
		return c.applyClientSide(info)
	})
	if err == nil && c.printsObjects() {
		err = c.printApplied(list)
	}
	if err == nil && c.On("prune") {
		err = c.prune(list)
	}
	return err
}

// printsObjects reports whether --output is a format of whole objects, which kubectl apply prints at the end.
func (c *call) printsObjects() bool { return c.Given("output") && c.Text("output") != "name" }

// applied prints that an object was applied, unless kubectl apply prints whole objects at the end.
func (c *call) applied(info *client.Info, done string) error {
	if c.printsObjects() {
		return nil
	}
	return c.printObj(info, done)
}

// printApplied prints the applied objects in the format of --output: several objects as a list.
func (c *call) printApplied(list []*client.Info) error {
	if len(list) == 1 {
		return c.printObj(list[0], "")
	}
	items := make([]any, len(list))
	for i, info := range list {
		items[i] = map[string]any(c.printFlags().Visible(info.Object))
	}
	return c.printObj(&client.Info{Object: object.Object{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": items}}, "")
}

// clientSide is the field manager of client-side apply.
const clientSide = "kubectl-client-side-apply"

// applyClientSide creates an object, or patches an existing one with the changes since the last apply.
func (c *call) applyClientSide(info *client.Info) error {
	modified := patches.Modified(info.Object)
	live, err := c.Get(info.Path(), nil)
	if client.IsNotFound(err) {
		info.Object = modified
		if c.dryRun() != dryClient {
			if err := c.helper(clientSide).Create(info); err != nil {
				return client.Wrap(err, "error when creating %q", info.Source)
			}
		}
		return c.applied(info, "created")
	}
	m := info.Mapping
	about := fmt.Sprintf("Resource: %q, GroupVersionKind: %q\nName: %q, Namespace: %q", m.GroupVersionResource(),
		m.Group+"/"+m.Version+", Kind="+m.Kind, info.Name, info.Namespace)
	if err != nil {
		return client.Wrap(err, "error when retrieving current configuration of:\n%s\nfrom server for: %q", about, info.Source)
	}
	if live.Annotations()[patches.LastApplied] == "" {
		c.Complain("Warning: resource %s/%s is missing the %s annotation which is required by kubectl apply. kubectl apply should only be used on "+
			"resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.",
			m.Resource, info.Name, patches.LastApplied)
	}
	p, contentType := patches.Between(patches.Original(live), modified, live)
	info.Object = live
	if len(p) == 0 {
		return c.applied(info, "unchanged")
	}
	body := object.JSON(p)
	if c.dryRun() == dryClient {
		if info.Object, err = patches.Apply(live, "strategic", body); err != nil {
			return err
		}
	} else {
		if info.Object, err = c.helper(clientSide).Patch(info, "", contentType, body); err != nil {
			return client.Wrap(err, "error when applying patch:\n%s\nto:\n%s\nfor: %q: error when patching %q", body, about, info.Source, info.Source)
		}
	}
	return c.applied(info, "configured")
}

// conflictHelp is the help that kubectl prints below an apply conflict error.
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

// applyServerSide applies an object with server-side apply: it sends the whole object, and the server computes the changes.
func (c *call) applyServerSide(info *client.Info) error {
	h := c.helper("kubectl")
	obj, err := h.Apply(info, info.Object, c.On("force-conflicts"))
	if e, ok := err.(*client.StatusError); ok && e.Reason == "Conflict" {
		return errors.New(e.Message + conflictHelp)
	}
	if err != nil {
		return err
	}
	if c.dryRun() == dryNone && h.FieldManager == "kubectl" {
		if obj, err = migrate(h, info, obj, c.On("force-conflicts")); err != nil {
			return err
		}
	}
	info.Object = obj
	return c.applied(info, "serverside-applied")
}

// migrate converts an object from client-side to server-side apply (csaupgrade): it transfers the fields of the client-side
// manager to the new manager and sets the last-applied annotation to the newly applied object.
func migrate(h *client.Helper, info *client.Info, live object.Object, force bool) (object.Object, error) {
	if live.Annotations()[patches.LastApplied] == "" {
		return live, nil
	}
	var kept []any
	var old, own object.Object
	for _, m := range live.Objects("metadata", "managedFields") {
		switch {
		case m.String("manager") == clientSide && m.String("operation") == "Update":
			old = m
			continue
		case m.String("manager") == h.FieldManager && m.String("operation") == "Apply":
			own = m
		}
		kept = append(kept, map[string]any(m))
	}
	if old != nil && own != nil {
		mergeFieldSets(own.Map("fieldsV1"), old.Map("fieldsV1"))
		ops := []any{map[string]any{"op": "replace", "path": "/metadata/managedFields", "value": kept},
			map[string]any{"op": "replace", "path": "/metadata/resourceVersion", "value": live.ResourceVersion()}}
		if _, err := h.Patch(info, "", patches.ContentTypes["json"], object.JSON(ops)); err != nil {
			return nil, err
		}
		if _, err := h.Apply(info, info.Object, force); err != nil {
			return nil, err
		}
	}
	note := object.Object{"apiVersion": info.Mapping.GroupVersion(), "kind": info.Mapping.Kind, "metadata": map[string]any{"name": info.Name,
		"annotations": map[string]any{patches.LastApplied: string(json(info.Object)) + "\n"}}}
	note.SetMeta("namespace", info.Namespace)
	last := *h
	last.FieldManager = "kubectl-last-applied"
	return last.Apply(info, note, true)
}

// mergeFieldSets merges the second set of fields into the first. Both are in the format of managed fields.
func mergeFieldSets(into, from map[string]any) {
	for _, k := range object.SortedKeys(from) {
		inner, ok := into[k].(map[string]any)
		if other, is := from[k].(map[string]any); ok && is {
			mergeFieldSets(inner, other)
			continue
		}
		if !ok {
			into[k] = from[k]
		}
	}
}

// prunable lists the resources that apply --prune considers.
var prunable = strings.Fields("configmaps endpoints persistentvolumeclaims pods replicationcontrollers secrets services jobs.batch " +
	"cronjobs.batch ingresses.networking.k8s.io daemonsets.apps deployments.apps replicasets.apps statefulsets.apps")

// prune deletes the objects that have the last-applied annotation and are not among the applied objects.
func (c *call) prune(applied []*client.Info) error {
	d := c.deletion()
	for _, name := range prunable {
		m, err := c.Find(name)
		if err != nil {
			continue
		}
		found, err := c.Listed(&client.Info{Mapping: m, Namespace: c.Namespace})
		if err != nil {
			return err
		}
		for _, info := range found {
			known := slices.ContainsFunc(applied, func(a *client.Info) bool {
				return a.Mapping.Resource == m.Resource && a.Name == info.Name && a.Namespace == info.Namespace
			})
			if known || info.Object.Annotations()[patches.LastApplied] == "" || info.Object.DeletionTimestamp() != "" {
				continue
			}
			if d.dryRun != dryClient {
				if _, err := d.remove(info); err != nil {
					return err
				}
			}
			c.Printf("%s pruned%s\n", info.Refer(), d.dryRun.suffix())
		}
	}
	return nil
}

// runViewLastApplied prints the most recently applied configuration of objects. It returns an error for an object that was never
// applied.
func runViewLastApplied(c *call) error {
	list, err := c.Infos(c.Args, client.Selection{})
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	for _, info := range found {
		obj, err := object.Parse([]byte(strings.TrimSpace(info.Object.Annotations()[patches.LastApplied])))
		switch {
		case err != nil:
			return fmt.Errorf("no last-applied-configuration annotation found on resource: %s", info.Name)
		case c.Text("output") == "json":
			c.Printf("%s", printer.JSON(json(obj), 2))
		default:
			c.Printf("%s", printer.YAML(json(obj)))
		}
	}
	return errors.Join(errs...)
}
