package sim

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// New returns a Cluster with the objects that a real one contains as soon as its API servers have started (package boot). It
// returns an error if an option is invalid.
func New(o Options) (*Cluster, error) {
	if err := check(&o); err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	if o.Clock == nil {
		o.Clock = clock.NewManual(clock.Epoch())
	}
	o.Seed = cmp.Or(o.Seed, 1)
	c, err := create(o)
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	c.do(func() {
		if err = c.startLocked(); err == nil && (o.Trace > 0 || o.Replay != nil) {
			c.observer.Begin()
		}
	})
	if err != nil {
		return nil, fmt.Errorf("kubesim: %w", err)
	}
	return c, nil
}

// Reset restores the Cluster to the state in which New returned it. Only the clock continues. Open watches end. An error means that
// the API servers could not start again.
func (c *Cluster) Reset() (err error) {
	if err := c.alone(); err != nil {
		return fmt.Errorf("kubesim: reset: %w", err)
	}
	c.do(func() {
		c.observer.Flush()
		c.resetLocked()
		c.servers.End()
		c.nodes.End()
		c.schedule.Clear()
		err = c.startLocked()
		c.observer.Reset()
	})
	if err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// startLocked starts the API servers, followed by controllers and kubelets, which begin with the existing objects. Without
// Options.Controllers no controller would change anything.
func (c *Cluster) startLocked() error {
	err := c.bootLocked()
	if err == nil && c.options.Classes {
		err = c.createClasses()
	}
	c.controllers.Add(server.Leadership, controller.Key{})
	if err == nil && c.runs() {
		c.controllers.Begin()
	}
	return err
}

// runs reports whether the Cluster has controllers or kubelets.
func (c *Cluster) runs() bool { return c.options.Controllers != nil || c.options.Kubelets() > 0 }

// bootLocked fills the store with the objects that API servers create when they start, and starts the replicas. Their caches
// contain the events of these objects, as if the servers had been running.
func (c *Cluster) bootLocked() error {
	if c.options.Bare {
		return c.bootBareLocked()
	}
	published, err := c.signers.Publish(nil, c.clock.Now())
	if err != nil {
		return err
	}
	o := boot.Options{Minor: c.servers.First().Minor(), At: c.clock.Now(), Port: c.machines.Port(), Aggregate: !c.options.NoControllers,
		Authentication: published, ServiceCIDRs: c.options.ServicePrefixes(), Servers: c.machines.Servers(), Served: c.servers.GroupVersions(), Gates: c.servers.First().RoleGates(), Last: bootRevision}
	store, err := boot.Store(o)
	if err != nil {
		return err
	}
	c.servers.Restart(c.history.Begin(store))
	now := c.clock.Now()
	return store.Events(store.Compacted(), func(e *mvcc.Event) bool {
		c.history.Remember(e.Rev)
		view, _ := store.At(e.Rev) // no error: the store has just yielded this commit
		c.servers.Committed(commit.Of(e, view, now, c.servers))
		return true
	})
}

// bareNamespaces exist even with Options.Bare.
var bareNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// bootBareLocked creates only the namespaces.
func (c *Cluster) bootBareLocked() error {
	c.servers.Restart(c.history.Begin(mvcc.New(bootRevision - uint64(len(bareNamespaces)))))
	for _, name := range bareNamespaces {
		if s := c.createNamespace(name); s != nil {
			return s
		}
	}
	return nil
}

// createClasses creates the classes of boot.Classes. It omits a kind that the first API server does not serve.
func (c *Cluster) createClasses() error {
	for _, obj := range boot.Classes() {
		if d := c.servers.First().API().Table.OfKind(schema.ParseGVK(obj.APIVersion(), obj.Kind())); d != nil {
			if s := c.createOwn(d, obj); s != nil {
				return s
			}
		}
	}
	return nil
}

// createNamespace creates a namespace, like an API server that starts.
func (c *Cluster) createNamespace(name string) *status.Status {
	d := c.servers.First().Definition("namespaces")
	return c.createOwn(d, object.Object{"kind": d.Kind, "apiVersion": d.GV(), "metadata": map[string]any{"name": name}})
}

// createOwn creates an object without a namespace as a request of the first API server to itself.
func (c *Cluster) createOwn(d *resource.Definition, obj object.Object) *status.Status {
	q := &registry.Request{Definition: d, Name: obj.Name(), Manager: registry.Loopback(nil, d, "", "").Manager}
	if d.Default != nil {
		d.Default(obj)
	}
	_, s := c.servers.First().API().Registry.Create(q, obj)
	return s
}
