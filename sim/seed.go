package sim

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Seed stores an object unchanged in a single commit, including its uid, timestamps, generation, deletionTimestamp and status,
// which clients cannot set (see registry.Registry.Seed). client is the author in the trace. If the object has no managedFields,
// client is also the manager of its fields. Seed returns an error if no API server serves the object's kind.
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

// seeder implements resource.Author for Seed. It is the name of a client that does not send requests.
type seeder string

// Actor implements resource.Author.
func (s seeder) Actor() resource.Actor { return resource.Actor{Client: string(s)} }

// EachServed calls yield with the definition of each served resource, until yield returns false.
func (c *Cluster) EachServed(yield func(*resource.Definition) bool) {
	c.do(func() {
		for _, d := range c.servers.At(1).API().Table.All() {
			if !yield(d) {
				return
			}
		}
	})
}
