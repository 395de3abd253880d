package kubectl

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/kubectl/printer"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// runPatch sends the patch of --patch or --patch-file, in YAML or JSON, to each of the objects.
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
	c.Printf("%s patched%s\n", info.Refer(), change)
	return nil
}

// runReplace replaces objects with the objects in files. With --force, it deletes and creates them.
func runReplace(c *call) error {
	if raw := c.Text("raw"); raw != "" {
		return c.raw(wire.MethodPut, raw)
	}
	switch {
	case c.Number("grace-period", -1) >= 0 && !c.On("force"):
		return fmt.Errorf("--grace-period must have --force specified")
	case c.Given("timeout") && !c.On("force"):
		return fmt.Errorf("--timeout must have --force specified")
	case c.On("force") && c.dryRun() != dryNone:
		return fmt.Errorf("--dry-run can not be used when --force is set")
	}
	list, err := c.fileInfos("replace")
	if err != nil {
		return err
	}
	if c.On("force") {
		c.Put("ignore-not-found", "true")
		if err := c.deletion().all(list, true); err != nil {
			return err
		}
	}
	return each(list, func(info *client.Info) error {
		h := c.helper("kubectl-replace")
		if c.On("force") {
			if err := h.Create(info); err != nil {
				return err
			}
			return c.printObj(info, "replaced")
		}
		if info.Object.Annotations()[patches.LastApplied] != "" || c.On("save-config") {
			info.Object = patches.Modified(info.Object)
		}
		if c.dryRun() != dryClient {
			if err := h.Replace(info); err != nil {
				return client.Wrap(err, "error when replacing %q", info.Source)
			}
		}
		return c.printObj(info, "replaced")
	})
}

// editHead is the comment at the top of an edited file.
const editHead = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

// runEdit opens objects in the session's editor and sends the changes. It returns an error if there is no editor.
func runEdit(c *call) error {
	list, err := c.Infos(c.Args, client.Selection{Types: true})
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if c.edit == nil {
		return fmt.Errorf("there is no editor here: change it with kubectl patch, or apply a file")
	}
	return each(found, c.editOne)
}

func (c *call) editOne(info *client.Info) error {
	shown := c.printFlags().Visible(info.Object)
	text := printer.YAML(json(shown))
	edited, err := c.edit(cmp.Or(c.Env["KUBE_EDITOR"], c.Env["EDITOR"]), editHead+text)
	if err != nil {
		return err
	}
	edited = withoutComments(edited)
	switch strings.TrimSpace(edited) {
	case strings.TrimSpace(text):
		c.Complain("Edit cancelled, no changes made.")
		return nil
	case "":
		c.Complain("Edit cancelled, saved file was empty.")
		return nil
	}
	data, err := codec.YAMLToJSON([]byte(edited))
	if err != nil {
		return err
	}
	changed, err := object.Parse(data)
	if err != nil {
		return err
	}
	p, contentType := patches.Between(shown, changed, shown)
	if len(p) == 0 {
		c.Complain("Edit cancelled, no changes made.")
		return nil
	}
	if info.Object, err = c.helper("kubectl-edit").Patch(info, "", contentType, object.JSON(p)); err != nil {
		return err
	}
	return c.printObj(info, "edited")
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
