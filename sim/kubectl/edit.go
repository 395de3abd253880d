package kubectl

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/wire"
)

// editHead is what stands above an object that is edited.
const editHead = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

// edit lets somebody edit objects, and sends what was changed.
func (c *call) edit() error {
	list, err := c.targets(c.args, selection{types: true})
	if err != nil {
		return err
	}
	found, errs := c.objects(list)
	if len(errs) > 0 {
		return together(errs)
	}
	if c.Edit == nil {
		return fmt.Errorf("there is no editor here: change it with kubectl patch, or apply a file")
	}
	return each(found, c.editOne)
}

func (c *call) editOne(t *target) error {
	shown := t.obj
	if !c.on("show-managed-fields") {
		shown = shown.Copy()
		shown.Remove("metadata", "managedFields")
	}
	text := yaml(object.JSON(map[string]any(shown)))
	editor := c.env["KUBE_EDITOR"]
	if editor == "" {
		editor = c.env["EDITOR"]
	}
	edited, err := c.Edit(editor, editHead+text)
	if err != nil {
		return err
	}
	edited = withoutComments(edited)
	switch strings.TrimSpace(edited) {
	case strings.TrimSpace(text):
		c.complain("Edit cancelled, no changes made.")
		return nil
	case "":
		c.complain("Edit cancelled, saved file was empty.")
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
	p, contentType := between(shown, changed, shown)
	if len(p) == 0 {
		c.complain("Edit cancelled, no changes made.")
		return nil
	}
	if t.obj, err = c.write(wire.MethodPatch, t, t.path(), contentType, object.JSON(p), "kubectl-edit"); err != nil {
		return err
	}
	return c.said(t, "edited")
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

// jsonOf makes JSON of JSON or YAML.
func jsonOf(text []byte) ([]byte, error) { return codec.YAMLToJSON(text) }
