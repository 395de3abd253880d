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
)

// editHead is the comment above an object that is edited.
const editHead = `# Please edit the object below. Lines beginning with a '#' will be ignored,
# and an empty file will abort the edit. If an error occurs while saving this file will be
# reopened with the relevant failures.
#
`

// runEdit edits objects and sends the changes.
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
