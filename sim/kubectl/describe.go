package kubectl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/describe"
)

// runDescribe prints what there is to know of objects.
func runDescribe(c *call) error {
	if len(c.Args) == 0 && !c.Given("filename") {
		return fmt.Errorf("You must specify the type of resource to describe. %s", useResources)
	}
	list, err := c.Infos(c.Args, client.Selection{Types: true, AnyScope: c.On("all-namespaces")})
	if err != nil {
		return err
	}
	found, errs := c.Objects(list)
	events := !c.Off("show-events")
	if len(errs) > 0 && len(list) == 1 && list[0].Name != "" && client.IsNotFound(errs[0]) {
		if found = c.withPrefix(list[0]); len(found) > 0 {
			errs, events = nil, false
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if len(found) == 0 {
		c.complainNone(list)
		return nil
	}
	for i, info := range found {
		if i > 0 {
			c.Printf("\n\n")
		}
		if err := describe.Describe(c.Out, c.Client, info, events); err != nil {
			return err
		}
	}
	return nil
}

// withPrefix returns the objects whose name begins with the name of one that is not there.
func (c *call) withPrefix(info *client.Info) (out []*client.Info) {
	all, err := c.Listed(&client.Info{Mapping: info.Mapping, Namespace: info.Namespace})
	if err != nil {
		return nil
	}
	for _, x := range all {
		if strings.HasPrefix(x.Name, info.Name) {
			out = append(out, x)
		}
	}
	return out
}
