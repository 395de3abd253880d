package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// writeWords write what files hold, and patches.
var writeWords = []word{
	{name: "apply", help: "Apply a configuration to a resource by file name or stdin", run: (*call).apply,
		flags: "server-side? force-conflicts? prune? prune-allowlist* all? cascade~ force? grace-period# timeout@ wait? overwrite? " +
			"validate~ openapi-patch? selector|l" + dry + printed + ofFiles,
		sub: []word{
			{name: "view-last-applied", help: "View the latest last-applied-configuration annotations of a resource/object", run: (*call).viewLastApplied,
				flags: "selector|l all? output|o" + ofFiles},
		}},
	{name: "replace", help: "Replace a resource by file name or stdin", run: (*call).replace,
		flags: "force? cascade~ grace-period# timeout@ wait? raw save-config? subresource validate~" + dry + printed + ofFiles},
	{name: "patch", help: "Update fields of a resource", run: (*call).patchWord,
		flags: "patch|p patch-file type local? record? subresource" + dry + printed + ofFiles},
	{name: "edit", help: "Edit a resource on the server", run: (*call).edit,
		flags: "output-patch? save-config? subresource validate~ windows-line-endings? field-manager" + printed + ofFiles},
}

// send writes a request of an object and returns what came of it.
func (c *call) write(method string, t *target, path, contentType string, body []byte, manager string) (object.Object, error) {
	q := query("fieldManager", cmp.Or(c.text("field-manager"), manager), "fieldValidation", c.validation())
	if method == wire.MethodPatch && contentType != patchTypes["apply"] {
		q.Del("fieldValidation")
	}
	if c.dryRun() == dryServer {
		q.Set("dryRun", "All")
	}
	return c.ask(c.request(method, path, q, contentType, body))
}

// validation returns the value of fieldValidation that --validate asks for, "" for commands without it.
func (c *call) validation() string {
	if c.flagNamed("validate", "") == nil {
		return ""
	}
	switch c.text("validate") {
	case "false", "ignore":
		return "Ignore"
	case "warn":
		return "Warn"
	}
	return "Strict"
}

// create sends a new object.
func (c *call) create(t *target, manager string) error {
	obj, err := c.write(wire.MethodPost, t, t.m.path(t.namespace, ""), "application/json", object.JSON(map[string]any(t.obj)), manager)
	if err == nil {
		t.obj, t.name = obj, obj.Name()
	}
	return err
}

// fileTargets returns the objects of --filename for a command that takes nothing else.
func (c *call) fileTargets(what string) ([]*target, error) {
	if len(c.args) > 0 {
		return nil, c.usage("Unexpected args: %v", c.args)
	}
	if !c.given("filename") && !c.given("kustomize") {
		return nil, fmt.Errorf("must specify one of -f and -k")
	}
	if err := c.checkDryRun(); err != nil {
		return nil, err
	}
	list, err := c.fromFiles()
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("no objects passed to %s", what)
	}
	return list, err
}

// each does something with each target and collects what goes wrong.
func each(list []*target, do func(t *target) error) error {
	var errs []error
	for _, t := range list {
		err := t.err
		if err == nil {
			err = do(t)
		}
		if err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

func (c *call) apply() error {
	if c.on("force-conflicts") && !c.on("server-side") {
		return fmt.Errorf("--force-conflicts only works with --server-side")
	}
	if c.on("prune") && !c.on("all") && !c.given("selector") {
		return fmt.Errorf("all resources selected for prune without explicitly passing --all. To prune all resources, pass the --all flag. " +
			"If you did not mean to prune all resources, specify a label selector")
	}
	if c.on("server-side") && c.dryRun() == dryClient {
		return fmt.Errorf("--dry-run=client doesn't work with --server-side (did you mean --dry-run=server instead?)")
	}
	list, err := c.fileTargets("apply")
	if err != nil {
		return err
	}
	err = each(list, func(t *target) error {
		if t.name == "" && t.obj.GenerateName() != "" {
			return fmt.Errorf("from %s: cannot use generate name with apply", t.obj.GenerateName())
		}
		if c.on("server-side") {
			return c.applyServerSide(t)
		}
		return c.applyOne(t)
	})
	if err == nil && c.on("prune") {
		err = c.prune(list)
	}
	return err
}

// applyOne creates an object, or patches it with what changed since the last time.
func (c *call) applyOne(t *target) error {
	wanted := t.obj
	modified := remembered(wanted)
	live, err := c.get(t.path(), nil)
	if isNotFound(err) {
		t.obj = modified
		if c.dryRun() != dryClient {
			if err := c.create(t, "kubectl-client-side-apply"); err != nil {
				return with(err, "error when creating %q", t.source)
			}
		}
		return c.said(t, "created")
	}
	if err != nil {
		return with(err, "error when retrieving current configuration of:\nResource: %q, GroupVersionKind: %q\nName: %q, Namespace: %q\nfrom server for: %q",
			t.resourceName(), t.kindName(), t.name, t.namespace, t.source)
	}
	if live.Annotations()[lastApplied] == "" && c.dryRun() != dryClient {
		c.complain("Warning: resource %s/%s is missing the %s annotation which is required by kubectl apply. kubectl apply should only be used on "+
			"resources created declaratively by either kubectl create --save-config or kubectl apply. The missing annotation will be patched automatically.",
			t.m.plural(), t.name, lastApplied)
	}
	p, contentType := between(original(live), modified, live)
	t.obj = live
	if len(p) == 0 {
		return c.said(t, "unchanged")
	}
	if c.dryRun() != dryClient {
		body := object.JSON(p)
		obj, err := c.write(wire.MethodPatch, t, t.path(), contentType, body, "kubectl-client-side-apply")
		if err != nil {
			return with(err, "error when applying patch:\n%s\nto:\nResource: %q, GroupVersionKind: %q\nName: %q, Namespace: %q\nfor: %q: error when patching %q",
				body, t.resourceName(), t.kindName(), t.name, t.namespace, t.source, t.source)
		}
		t.obj = obj
	}
	return c.said(t, "configured")
}

func (t *target) resourceName() string {
	return t.m.group + "/" + t.m.version + ", Resource=" + t.m.resource
}
func (t *target) kindName() string { return t.m.group + "/" + t.m.version + ", Kind=" + t.m.kind }

// prunable are the resources among which apply --prune looks.
var prunable = strings.Fields("configmaps endpoints persistentvolumeclaims pods replicationcontrollers secrets services jobs.batch " +
	"cronjobs.batch ingresses.networking.k8s.io daemonsets.apps deployments.apps replicasets.apps statefulsets.apps")

// prune deletes what was applied before and is not among the targets now.
func (c *call) prune(applied []*target) error {
	for _, name := range prunable {
		m, err := c.find(name)
		if err != nil {
			continue
		}
		found, err := c.listed(&target{m: m, namespace: c.namespace()})
		if err != nil {
			return err
		}
		for _, t := range found {
			known := slices.ContainsFunc(applied, func(a *target) bool {
				return a.m.resource == m.resource && a.name == t.name && a.namespace == t.namespace
			})
			if known || t.obj.Annotations()[lastApplied] == "" || t.obj.DeletionTimestamp() != "" {
				continue
			}
			if c.dryRun() != dryClient {
				if _, err := c.remove(t); err != nil {
					return err
				}
			}
			c.printf("%s pruned%s\n", t.refer(), c.dryRunSuffix())
		}
	}
	return nil
}

// viewLastApplied prints what was applied last.
func (c *call) viewLastApplied() error {
	list, err := c.targets(c.args, selection{})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		text := t.obj.Annotations()[lastApplied]
		obj, err := object.Parse([]byte(strings.TrimSpace(text)))
		switch {
		case err != nil:
			return fmt.Errorf("no last-applied-configuration annotation found on resource: %s", t.name)
		case c.text("output") == "json":
			c.printf("%s", halved(indented(object.JSON(map[string]any(obj)))))
		default:
			c.printf("%s", yaml(object.JSON(map[string]any(obj))))
		}
	}
	return together(errs)
}

// halved makes indents of two out of indents of four.
func halved(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		b.WriteString(strings.Repeat(" ", (len(line)-len(rest))/2) + rest)
	}
	return b.String()
}

// replace puts objects of files in the place of those that are there.
func (c *call) replace() error {
	if raw := c.text("raw"); raw != "" {
		return c.raw(wire.MethodPut, raw)
	}
	list, err := c.fileTargets("replace")
	if err != nil {
		return err
	}
	return each(list, func(t *target) error {
		if c.on("force") {
			if err := c.deleteAll([]*target{t}, true); err != nil {
				return err
			}
			if err := c.create(t, "kubectl-replace"); err != nil {
				return err
			}
			return c.said(t, "replaced")
		}
		if t.obj.Annotations()[lastApplied] != "" || c.on("save-config") {
			t.obj = remembered(t.obj)
		}
		if c.dryRun() != dryClient {
			obj, err := c.write(wire.MethodPut, t, t.path(), "application/json", object.JSON(map[string]any(t.obj)), "kubectl-replace")
			if err != nil {
				return with(err, "error when replacing %q", t.source)
			}
			t.obj = obj
		}
		return c.said(t, "replaced")
	})
}
