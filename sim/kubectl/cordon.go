package kubectl

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// nodesNamed returns the nodes of the arguments.
func (c *call) nodesNamed() ([]*client.Info, []error) {
	if len(c.Args) == 0 && !c.Given("selector") {
		return nil, []error{c.usage("USAGE: %s NODE [flags]", c.verb.name)}
	}
	m, err := c.Find("nodes")
	if err != nil {
		return nil, []error{err}
	}
	if len(c.Args) == 0 {
		found, err := c.Listed(&client.Info{Mapping: m})
		if err != nil {
			return nil, []error{err}
		}
		return found, nil
	}
	var list []*client.Info
	for _, name := range c.Args {
		list = append(list, &client.Info{Mapping: m, Name: strings.TrimPrefix(strings.TrimPrefix(name, "node/"), "nodes/")})
	}
	return c.Objects(list)
}

func runCordon(c *call) error   { return cordon(c, true, "cordoned") }
func runUncordon(c *call) error { return cordon(c, nil, "uncordoned") }

// cordon sets whether nodes are unschedulable: true or nil.
func cordon(c *call, value any, done string) error {
	if err := c.checkDryRun(); err != nil {
		return err
	}
	found, errs := c.nodesNamed()
	err := each(found, func(info *client.Info) error { return c.cordonOne(info, value, done) })
	return errors.Join(append(errs, err)...)
}

func (c *call) cordonOne(info *client.Info, value any, done string) error {
	if info.Object.True("spec", "unschedulable") == (value != nil) {
		done = "already " + done
	} else if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"unschedulable": value}})
		if _, err := c.helper("").Patch(info, "", patches.ContentTypes["strategic"], body); err != nil {
			return fmt.Errorf("unable to %s node %q: %w", c.verb.name, info.Name, err)
		}
	}
	c.Printf("%s %s%s\n", info.Refer(), done, c.dryRun().suffix())
	return nil
}
