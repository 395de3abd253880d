// Package commit determines which object a commit of the store concerns, once for all listeners:
//
//	mvcc.Event ─ Of ─▶ Commit ─▶ Listeners ─┬─▶ history      remembers when it was made
//	                                        ├─▶ observe      writes it down, asks the faults
//	                                        ├─▶ controllers  note what is to be reconciled
//	                                        └─▶ replicas     apply it to their caches, and answer waiting requests
//
// They are notified in their order and under the Cluster's lock. The last one may resume a waiting request that writes. That write
// is a commit of its own, and all listeners are notified of it; by then they know of the commit before.
package commit

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Commit is one write of the store.
type Commit struct {
	*mvcc.Event
	View *mvcc.View // the store after it
	At   time.Time  // when listeners are notified of it

	By resource.Author // its author; nil for the store itself, or if the author is not known any more

	Storage         string // where the object is stored: pods, deployments.apps
	Namespace, Name string // of the object
	Path            string // both: default/web, or the name alone

	Definition *resource.Definition // of the stored resource, in the hub version; nil if it is not served
}

// Definitions finds definitions by storage name.
type Definitions interface {
	// Definition returns the hub definition, or nil.
	Definition(storage string) *resource.Definition
}

// Listener is notified of commits.
type Listener interface{ Committed(*Commit) }

// Of returns the Commit of an event.
func Of(e *mvcc.Event, view *mvcc.View, at time.Time, known Definitions) *Commit {
	c := &Commit{Event: e, View: view, At: at}
	c.Storage, c.Path, _ = strings.Cut(strings.TrimPrefix(e.Key, root), "/")
	if namespace, name, ok := strings.Cut(c.Path, "/"); ok {
		c.Namespace, c.Name = namespace, name
	} else {
		c.Name = c.Path
	}
	c.Definition = known.Definition(c.Storage)
	return c
}

// root is the prefix of all keys (resource.Definition.Key).
const root = "/registry/"

// Storage returns the storage name in a key.
func Storage(key string) string {
	storage, _, _ := strings.Cut(strings.TrimPrefix(key, root), "/")
	return storage
}

// Item returns the object that was written, or for a deletion the object before it. It returns nil if the resource is not served.
func (c *Commit) Item() *resource.Item {
	if c.KV == nil {
		return c.Before()
	}
	return c.item(c.KV)
}

// Before returns the object before the commit, or nil if there was none or its resource is not served.
func (c *Commit) Before() *resource.Item { return c.item(c.Prev) }

func (c *Commit) item(kv *mvcc.KV) *resource.Item {
	if kv == nil || c.Definition == nil {
		return nil
	}
	return resource.ItemOf(c.Definition, kv)
}

// Object returns a copy of Item's object. Item must not be nil.
func (c *Commit) Object() object.Object { return c.Item().Object() }

// OldObject returns a copy of Before's object. Before must not be nil.
func (c *Commit) OldObject() object.Object { return c.Before().Object() }

// Created reports whether there was no such object before.
func (c *Commit) Created() bool { return c.Prev == nil }

// Deleted reports whether the object is gone.
func (c *Commit) Deleted() bool { return c.KV == nil }
