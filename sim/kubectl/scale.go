package kubectl

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/patches"
	"github.com/kubesim/kubesim/sim/object"
)

// runScale sets how many replicas there are.
func runScale(c *call) error {
	n := c.Number("replicas", -1)
	if n < 0 {
		return fmt.Errorf("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
	}
	return c.visit(c.Args, client.Selection{}, func(info *client.Info) error { return c.scaleOne(info, n) })
}

func (c *call) scaleOne(info *client.Info, n int64) error {
	if !info.Mapping.Scalable {
		return client.NotFound("the server could not find the requested resource")
	}
	if want := c.Number("current-replicas", -1); want >= 0 {
		s, err := c.Get(info.Path()+"/scale", nil)
		if err != nil {
			return err
		}
		if is := s.Int64("spec", "replicas"); is != want {
			return fmt.Errorf("Expected replicas to be %d, was %d", want, is)
		}
	}
	if c.dryRun() != dryClient {
		body := object.JSON(map[string]any{"spec": map[string]any{"replicas": n}})
		if _, err := c.helper("").Patch(info, "scale", patches.ContentTypes["merge"], body); err != nil {
			return err
		}
		if d := c.Duration("timeout", 0); d > 0 {
			err := c.Await(info, c.Now().Add(d), func(obj object.Object) (bool, error) { return obj.Int64("status", "replicas") == n, nil })
			if err != nil {
				return err
			}
		}
	}
	return c.printObj(info, "scaled")
}
