// Package commit says what a commit of the store is about, once for everybody who must know:
//
//	mvcc.Event ─ Of ─▶ Commit ─▶ Listeners ─┬─▶ history      remembers when it was made
//	                                        ├─▶ observe      writes it down, asks the faults
//	                                        ├─▶ controllers  note what is to be reconciled
//	                                        └─▶ replicas     apply it to their caches, and answer who has waited for it
//
// They are told in their order and under the Cluster's lock. What the last one lets somebody write is a commit of its own, of
// which all are told in turn: when they are, they know of the one before.
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

	By resource.Author // what has made it; nil: the store, or it is not known any more

	Storage         string // where the object is stored: pods, deployments.apps
	Namespace, Name string // of the object
	Path            string // both: default/web, or the name alone

	Definition *resource.Definition // of what is stored there, in the hub version; nil: nobody serves it
}

// Definitions knows what is stored under a storage name.
type Definitions interface {
	// Definition returns the hub definition, or nil.
	Definition(storage string) *resource.Definition
}

// Listener is told of commits.
type Listener interface{ Committed(*Commit) }

// Of says what an event is about.
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

// root is what all keys begin with (resource.Definition.Key).
const root = "/registry/"

// Storage returns the storage name in a key.
func Storage(key string) string {
	storage, _, _ := strings.Cut(strings.TrimPrefix(key, root), "/")
	return storage
}

// Item returns the object that was written, of a deletion the one that was there. nil: nobody serves it.
func (c *Commit) Item() *resource.Item {
	if c.KV == nil {
		return c.Before()
	}
	return c.item(c.KV)
}

// Before returns the object that was there before. nil: there was none, or nobody serves it.
func (c *Commit) Before() *resource.Item { return c.item(c.Prev) }

func (c *Commit) item(kv *mvcc.KV) *resource.Item {
	if kv == nil || c.Definition == nil {
		return nil
	}
	return resource.ItemOf(c.Definition, kv)
}

// Object returns a copy of what Item returns, which is not nil.
func (c *Commit) Object() object.Object { return c.Item().Object() }

// OldObject returns a copy of what Before returns, which is not nil.
func (c *Commit) OldObject() object.Object { return c.Before().Object() }

// Created reports whether there was no such object before.
func (c *Commit) Created() bool { return c.Prev == nil }

// Deleted reports whether the object is gone.
func (c *Commit) Deleted() bool { return c.KV == nil }
