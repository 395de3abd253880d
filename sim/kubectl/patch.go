package kubectl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/wire"
)

// patchWord sends a patch.
func (c *call) patchWord() error {
	kind := cmp.Or(strings.ToLower(c.text("type")), "strategic")
	if kind != "json" && kind != "merge" && kind != "strategic" {
		return fmt.Errorf("--type must be one of [json merge strategic], not %q", c.text("type"))
	}
	text := []byte(c.text("patch"))
	if c.given("patch-file") {
		var err error
		if text, err = c.readFile(c.text("patch-file")); err != nil {
			return fmt.Errorf("unable to read patch file: open %s: no such file or directory", c.text("patch-file"))
		}
	} else if len(text) == 0 {
		return fmt.Errorf("must specify --patch or --patch-file containing the contents of the patch")
	}
	body, err := jsonOf(text)
	if err != nil {
		return fmt.Errorf("unable to parse %q: %w", text, err)
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.targets(c.args, selection{})
	if err != nil {
		return err
	}
	return each(list, func(t *target) error { return c.patchOne(t, kind, body) })
}

func (c *call) patchOne(t *target, kind string, body []byte) error {
	before, err := c.get(t.path(), nil)
	if err != nil {
		return err
	}
	path := t.path()
	if sub := c.text("subresource"); sub != "" {
		path += "/" + sub
	}
	if c.dryRun() == dryClient || c.on("local") {
		t.obj, err = locally(before, kind, body)
	} else {
		t.obj, err = c.write(wire.MethodPatch, t, path, patchTypes[kind], body, "kubectl-patch")
	}
	if e, ok := err.(*statusError); ok && e.code == wire.StatusUnsupportedMediaType {
		return fmt.Errorf("%s is not supported by %s, Kind=%s: %s", patchTypes[kind], t.m.gv(), t.m.kind, e.message)
	}
	if err != nil {
		return err
	}
	p, err := c.printer()
	if err != nil || p != nil {
		if err == nil {
			err = p(t)
		}
		return err
	}
	change := ""
	if object.Equal(map[string]any(before), map[string]any(t.obj)) {
		change = " (no change)"
	}
	if c.dryRun() == dryClient {
		change += c.dryRunSuffix()
	}
	c.printf("%s patched%s\n", t.refer(), change)
	return nil
}

// locally returns what a patch makes of an object, without a server.
func locally(obj object.Object, kind string, body []byte) (object.Object, error) {
	doc := object.JSON(map[string]any(obj))
	t := typeOf(obj)
	switch {
	case kind == "json":
		out, _, err := patch.Operations(doc, body)
		if err != nil {
			return nil, err
		}
		return object.Parse(out)
	case kind == "strategic" && t != nil:
		made, s := patch.Strategic(doc, body, t, patch.Warn, true)
		if s != nil {
			return nil, s
		}
		return made.Object, nil
	}
	out, _, s := patch.Merge(doc, body, patch.Warn)
	if s != nil {
		return nil, s
	}
	return object.Parse(out)
}
