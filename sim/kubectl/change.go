package kubectl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// changeWords change a part of objects.
var changeWords = []word{
	{name: "label", help: "Update the labels on a resource", run: (*call).labelWord, flags: labelFlags},
	{name: "annotate", help: "Update the annotations on a resource", run: (*call).labelWord, flags: labelFlags},
	{name: "scale", help: "Set a new size for a deployment, replica set, or replication controller", run: (*call).scale,
		flags: "replicas#! current-replicas# resource-version timeout@ selector|l all? dry-run~ record?" + printed + ofFiles},
}

const labelFlags = "overwrite? list? local? resource-version record? all-namespaces|A?" + selecting + dry + printed + ofFiles

// labelWord sets and removes labels or annotations.
func (c *call) labelWord() error {
	kind := "label"
	if c.word.name == "annotate" {
		kind = "annotation"
	}
	first := slices.IndexFunc(c.args, isChange)
	if first < 0 {
		first = len(c.args)
	}
	args, edits := c.args[:first], c.args[first:]
	set, gone := map[string]any{}, []string{}
	for _, e := range edits {
		k, v, ok := strings.Cut(e, "=")
		switch {
		case ok:
			set[k] = v
		case strings.HasSuffix(e, "-"):
			gone = append(gone, strings.TrimSuffix(e, "-"))
		default:
			return fmt.Errorf("all resources must be specified before %s changes: %s", kind, e)
		}
	}
	for _, k := range gone {
		if _, both := set[k]; both {
			return fmt.Errorf("can not both modify and remove %s in the same command", map[string]string{"label": "a label", "annotation": "an annotation"}[kind])
		}
	}
	if len(edits) == 0 && !c.on("list") {
		return fmt.Errorf("at least one %s update is required", kind)
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.targets(args, selection{anyScope: c.on("all-namespaces")})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		if err := c.relabel(t, kind, set, gone); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

// isChange reports whether an argument of label is a=b or a-.
func isChange(arg string) bool {
	return strings.Contains(arg, "=") || strings.HasSuffix(arg, "-")
}

func (c *call) relabel(t *target, kind string, set map[string]any, gone []string) error {
	field, done := "labels", "labeled"
	if kind == "annotation" {
		field, done = "annotations", "annotated"
	}
	now := t.obj.Map("metadata", field)
	if !c.on("overwrite") {
		var taken []string
		for _, k := range object.SortedKeys(set) {
			if v, there := now[k]; there && v != set[k] {
				taken = append(taken, fmt.Sprintf("'%s' already has a value (%v)", k, v))
			}
		}
		switch {
		case len(taken) > 0 && kind == "label":
			return fmt.Errorf("%s, and --overwrite is false", strings.Join(taken, "; "))
		case len(taken) > 0:
			return fmt.Errorf("--overwrite is false but found the following declared annotation(s): %s", strings.Join(taken, "; "))
		}
	}
	changed, added := map[string]any{}, false
	for _, k := range object.SortedKeys(set) {
		if now[k] != set[k] {
			changed[k], added = set[k], true
		}
	}
	for _, k := range gone {
		if _, there := now[k]; there {
			changed[k] = nil
		} else if kind == "label" {
			c.printf("label %q not found.\n", k)
		}
	}
	if kind == "label" {
		switch {
		case len(changed) == 0:
			done = "not labeled"
		case !added:
			done = "unlabeled"
		}
	}
	if c.on("list") {
		c.listChanged(object.StringMap(now), changed)
		if len(set)+len(gone) == 0 {
			return nil
		}
	}
	if len(changed) > 0 && c.dryRun() != dryClient {
		body := map[string]any{"metadata": map[string]any{field: changed}}
		obj, err := c.write(wire.MethodPatch, t, t.path(), patchTypes["merge"], object.JSON(body), "kubectl-"+c.word.name)
		if err != nil {
			return err
		}
		t.obj = obj
	}
	if c.on("list") {
		return nil
	}
	return c.said(t, done)
}

// listChanged prints labels or annotations as they will be.
func (c *call) listChanged(now map[string]string, changed map[string]any) {
	merged := map[string]string{}
	maps.Copy(merged, now)
	for _, k := range object.SortedKeys(changed) {
		if v, ok := changed[k].(string); ok {
			merged[k] = v
		} else {
			delete(merged, k)
		}
	}
	for _, k := range object.SortedKeys(merged) {
		c.printf("%s=%s\n", k, merged[k])
	}
}

// scale sets how many replicas there are.
func (c *call) scale() error {
	n := c.number("replicas", -1)
	if n < 0 {
		return fmt.Errorf("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
	}
	list, err := c.targets(c.args, selection{})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	for _, t := range found {
		if err := c.scaleOne(t, n); err != nil {
			errs = append(errs, err)
		}
	}
	return together(errs)
}

func (c *call) scaleOne(t *target, n int64) error {
	if !t.m.scalable {
		return &statusError{reason: "NotFound", message: "the server could not find the requested resource"}
	}
	if want := c.number("current-replicas", -1); want >= 0 {
		s, err := c.get(t.path()+"/scale", nil)
		if err != nil {
			return err
		}
		if is := s.Int64("spec", "replicas"); is != want {
			return fmt.Errorf("Expected replicas to be %d, was %d", want, is)
		}
	}
	if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"replicas": n}})
		if _, err := c.write(wire.MethodPatch, t, t.path()+"/scale", patchTypes["merge"], body, ""); err != nil {
			return err
		}
		if c.given("timeout") && c.duration("timeout", 0) > 0 {
			if err := c.awaitReplicas(t, n); err != nil {
				return err
			}
		}
	}
	return c.said(t, "scaled")
}

// awaitReplicas waits until as many are there as there should be.
func (c *call) awaitReplicas(t *target, n int64) error {
	return c.awaitObject(t, c.Conn.Now().Add(c.duration("timeout", 0)), func(obj object.Object) (bool, error) {
		return obj.Int64("status", "replicas") == n, nil
	})
}
