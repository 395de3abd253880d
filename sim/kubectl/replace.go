package kubectl

import (
	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/wire"
)

// runReplace replaces objects by those of files.
func runReplace(c *call) error {
	if raw := c.Text("raw"); raw != "" {
		return c.raw(wire.MethodPut, raw)
	}
	list, err := c.fileInfos("replace")
	if err != nil {
		return err
	}
	return each(list, func(info *client.Info) error {
		h := c.helper("kubectl-replace")
		if c.On("force") {
			if err := c.deletion().all([]*client.Info{info}, true); err != nil {
				return err
			}
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
