package sim

import (
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Commit is one write of the store as those see it who keep its log.
type Commit struct {
	Rev       uint64
	Resource  string // deployments.apps
	Namespace string
	Name      string
	Object    []byte // as it is printed; nil: it was deleted
}

// OnCommit calls f with every commit from now on, before any replica knows of it. The Cluster's lock is held: f must not
// ask the Cluster. A fork has none of these functions.
func (c *Cluster) OnCommit(f func(Commit)) {
	c.lock()
	defer c.mu.Unlock()
	c.followers = append(c.followers, f)
}

// logged tells those who follow the log of a commit.
func (c *Cluster) logged(e *mvcc.Event) {
	if len(c.followers) == 0 {
		return
	}
	d := backend{c.replicas[0]}.Definition(storageOf(e.Key))
	kv := e.KV
	if kv == nil {
		kv = e.Prev
	}
	if d == nil || kv == nil {
		return
	}
	it := resource.ItemOf(d, kv)
	commit := Commit{Rev: e.Rev, Resource: what(d.Group, d.Resource, "", ""), Namespace: it.Namespace, Name: it.Name}
	if e.KV != nil {
		commit.Object = it.Bytes
	}
	for _, f := range c.followers {
		f(commit)
	}
}
