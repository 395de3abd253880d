package kubectl

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// runPatch sends a patch.
func runPatch(c *call) error {
	kind := cmp.Or(strings.ToLower(c.Text("type")), "strategic")
	if kind != "json" && kind != "merge" && kind != "strategic" {
		return fmt.Errorf("--type must be one of [json merge strategic], not %q", c.Text("type"))
	}
	text := []byte(c.Text("patch"))
	if c.Given("patch-file") {
		var err error
		if text, err = c.ReadFile(c.Text("patch-file")); err != nil {
			return fmt.Errorf("unable to read patch file: open %s: no such file or directory", c.Text("patch-file"))
		}
	} else if len(text) == 0 {
		return fmt.Errorf("must specify --patch or --patch-file containing the contents of the patch")
	}
	body, err := codec.YAMLToJSON(text)
	if err != nil {
		return fmt.Errorf("unable to parse %q: %w", text, err)
	}
	if err := c.checkDryRun(); err != nil {
		return err
	}
	list, err := c.Infos(c.Args, client.Selection{})
	if err != nil {
		return err
	}
	return each(list, func(info *client.Info) error { return c.patchOne(info, kind, body) })
}

func (c *call) patchOne(info *client.Info, kind string, body []byte) error {
	before, err := c.Get(info.Path(), nil)
	if err != nil {
		return err
	}
	contentType := patches.ContentTypes[kind]
	if c.dryRun() == dryClient || c.On("local") {
		info.Object, err = patches.Apply(before, kind, body)
	} else {
		info.Object, err = c.helper("kubectl-patch").Patch(info, c.Text("subresource"), contentType, body)
	}
	if e, ok := err.(*client.StatusError); ok && e.Code == wire.StatusUnsupportedMediaType {
		m := info.Mapping
		return fmt.Errorf("%s is not supported by %s, Kind=%s: %s", contentType, m.GroupVersion(), m.Kind, e.Message)
	}
	if err != nil {
		return err
	}
	p, err := c.printFlags().Printer()
	if err != nil {
		return err
	}
	if p != nil {
		return p(c.Out, info)
	}
	change := ""
	if object.Equal(map[string]any(before), map[string]any(info.Object)) {
		change = " (no change)"
	}
	if c.dryRun() == dryClient {
		change += dryClient.suffix()
	}
	c.Printf("%s patched%s\n", info.Refer(), change)
	return nil
}
