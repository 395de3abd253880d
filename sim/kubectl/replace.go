package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// moreApply are the commands below apply.
var moreApply = []word{
	{name: "view-last-applied", help: "View the latest last-applied-configuration annotations of a resource/object", run: (*call).viewLastApplied,
		flags: "selector|l all? output|o" + ofFiles},
}

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
