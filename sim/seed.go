package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Seed gives an object that is stored what no client can: the uid, times, generation, deletion and status of obj, as far as it
// has them. The trace calls who does it client.
func (c *Cluster) Seed(client string, obj object.Object) (err error) {
	c.do(func() {
		defer c.observer.Name(client)()
		api := c.servers.At(1).API()
		d := api.Table.OfKind(schema.ParseGVK(obj.APIVersion(), obj.Kind()))
		if d == nil {
			err = fmt.Errorf("nobody serves %s in version %s", obj.Kind(), obj.APIVersion())
			return
		}
		namespace := obj.Namespace()
		if !d.Namespaced {
			namespace = ""
		}
		q := &registry.Request{Definition: d, Namespace: namespace, Name: obj.Name(), Warn: func(string) {}}
		if s := api.Registry.Seed(q, obj); s != nil {
			err = s
		}
	})
	return err
}

// Served calls yield with what is served, until it returns false.
func (c *Cluster) Served(yield func(*resource.Definition) bool) {
	c.do(func() {
		for _, d := range c.servers.At(1).API().Table.All() {
			if !yield(d) {
				return
			}
		}
	})
}
