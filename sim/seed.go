package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Seed stores an object as it is, in one commit: with its uid, times, generation, deletion and status, which no client can set (see
// registry.Registry.Seed). The writer in the trace is client, and so is the manager in managedFields unless the object has some.
func (c *Cluster) Seed(client string, obj object.Object) (err error) {
	c.do(func() {
		api := c.servers.At(1).API()
		d := api.Table.OfKind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
		if d == nil {
			err = fmt.Errorf("no API server serves %s in version %s", obj.Kind(), obj.APIVersion())
			return
		}
		namespace := obj.Namespace()
		if !d.Namespaced {
			namespace = ""
		}
		if s := api.Seed(seeder(client), d, namespace, client, object.JSON(map[string]any(obj))); s != nil {
			err = s
		}
	})
	return err
}

// seeder is the author of what Seed stores: a client that sends no requests.
type seeder string

// Actor implements resource.Author.
func (s seeder) Actor() resource.Actor { return resource.Actor{Client: string(s)} }

// EachServed calls yield with the definition of each served resource, until it returns false.
func (c *Cluster) EachServed(yield func(*resource.Definition) bool) {
	c.do(func() {
		for _, d := range c.servers.At(1).API().Table.All() {
			if !yield(d) {
				return
			}
		}
	})
}
