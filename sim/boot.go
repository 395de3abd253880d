package sim

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
)

// boot fills the store with what API servers make when they start, and starts the replicas. Their caches know how each
// object came to be, as those of servers that were there.
func (c *Cluster) boot() error {
	if c.options.Bare {
		return c.bootBare()
	}
	o := boot.Options{Minor: c.replicas[0].profile.set.Minor(), At: c.now(), Port: c.options.Port, Aggregate: !c.options.NoControllers,
		Authentication: auth.Published([]byte(c.options.ClientCA), &c.options.RequestHeader), ServiceCIDR: c.serviceCIDR,
		Last: bootRevision}
	if o.Port == 0 {
		o.Port = boot.Port
	}
	for i := range c.replicas {
		host := boot.Host
		if i > 0 {
			host = fmt.Sprint(boot.Host, "-", i+1)
		}
		address := fmt.Sprint(boot.AddressBase, i+1)
		if i == 0 {
			address = cmp.Or(c.options.Advertise, address)
		}
		o.Servers = append(o.Servers, boot.Server{Host: host, Address: address})
	}
	store, err := boot.Store(o)
	if err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	c.begin(store)
	now := c.now()
	return store.Events(store.Compacted(), func(e *mvcc.Event) bool {
		c.history.Remember(e.Rev)
		view, _ := store.At(e.Rev) // it is there: the store yields its commit
		for _, r := range c.replicas {
			r.apply(commit.Of(e, view, now, definitions{c}))
		}
		return true
	})
}

// begin takes a store that goes on from its oldest revision, and starts the replicas there.
func (c *Cluster) begin(store *mvcc.Store) {
	view := c.history.Begin(store)
	for _, r := range c.replicas {
		r.restartAt(view)
	}
}

// bareNamespaces are there even if nothing else is.
var bareNamespaces = []string{"default", "kube-node-lease", "kube-public", "kube-system"}

// bootBare makes the namespaces.
func (c *Cluster) bootBare() error {
	c.begin(mvcc.New(bootRevision - uint64(len(bareNamespaces))))
	d := c.hub("namespaces")
	for _, name := range bareNamespaces {
		q := &registry.Request{Definition: d, Name: name, Manager: server.FieldManager, Warn: func(string) {}}
		obj := object.Object{"kind": d.Kind, "apiVersion": d.GV(), "metadata": map[string]any{"name": name}}
		if d.Default != nil {
			d.Default(obj)
		}
		if _, s := c.replicas[0].server.Registry.Create(q, obj); s != nil {
			return s
		}
	}
	return nil
}
