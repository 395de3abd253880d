// Package commit determines which object a commit of the store concerns, once for all listeners:
//
//	mvcc.Event ─ Of ─▶ Commit ─▶ Listeners ─┬─▶ history      records its time
//	                                        ├─▶ observe      records it, applies faults
//	                                        ├─▶ controllers  queue the objects to reconcile
//	                                        └─▶ replicas     apply it to their caches, and resume waiting requests
//
// Listeners are notified in this order, with the Cluster's lock held. The last listener may resume a waiting request that writes.
// That write is a separate commit. The listeners are notified of it after all of them have been notified of the first one.
package commit

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Commit is a write to the store.
type Commit struct {
	*mvcc.Event
	View *mvcc.View // the store after it
	At   time.Time  // time at which listeners are notified

	By resource.Author // author; nil if it is the store itself, or is no longer known

	Storage         string // storage name, such as pods or deployments.apps
	Namespace, Name string // of the object
	Path            string // NAMESPACE/NAME or NAME, such as default/web

	Definition *resource.Definition // hub definition of the stored resource; nil if it is not served
}

// Definitions looks up definitions by storage name.
type Definitions interface {
	// Definition returns the hub definition, or nil.
	Definition(storage string) *resource.Definition
}

// Listener is notified of commits.
type Listener interface{ Committed(*Commit) }

// Of returns the Commit that an event represents.
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

// Item returns the object that the commit wrote or deleted. If its resource is not served, Item returns nil.
func (c *Commit) Item() *resource.Item {
	if c.KV == nil {
		return c.Before()
	}
	return c.item(c.KV)
}

// Before returns the object before the commit. If there was none, or its resource is not served, Before returns nil.
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

// Created reports whether the commit created the object.
func (c *Commit) Created() bool { return c.Prev == nil }

// Deleted reports whether the commit deleted the object.
func (c *Commit) Deleted() bool { return c.KV == nil }
