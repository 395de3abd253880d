package kubectl

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// writeWords write what files hold, and patches.
var writeWords = []word{
	{name: "apply", help: "Apply a configuration to a resource by file name or stdin", run: (*call).apply,
		flags: "server-side? force-conflicts? prune? prune-allowlist* all? cascade~ force? grace-period# timeout@ wait? overwrite? " +
			"validate~ openapi-patch? selector|l" + dry + printed + ofFiles, sub: moreApply},
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
func (c *call) fileTargets(command string) ([]*target, error) {
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
		err = fmt.Errorf("no objects passed to %s", command)
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
