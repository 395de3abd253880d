package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Object is a stored object in its JSON form: obj.Name(), obj.String("spec", "nodeName"), obj.Int64("spec",
// "replicas"). To converts it to a Go type.
type Object = object.Object

// View is the stored state at one moment, in the storage versions. It is valid only during the call that receives it.
type View struct {
	// Now is the server's time.
	Now time.Time
	// Write is the commit that led to this state, or nil if View was not created for a commit.
	Write *Write

	view *mvcc.View
	defs sim.Definitions
}

// Get returns an object, or nil if it does not exist. The resource is named with its group: pods, deployments.apps,
// sites.web.example.com. The group may be omitted.
func (v View) Get(resource, namespace, name string) Object {
	d := v.definition(resource)
	if d == nil {
		return nil
	}
	if kv := v.view.Get(d.Key(namespace, name)); kv != nil {
		return itemOf(d, kv).Object()
	}
	return nil
}

// List returns the objects of a resource in a namespace, sorted by name. If namespace is "", it returns the objects of
// all namespaces.
func (v View) List(resource, namespace string) (all []Object) {
	if d := v.definition(resource); d != nil {
		v.view.Range(d.Key(namespace, ""), "", func(kv *mvcc.KV) bool {
			all = append(all, itemOf(d, kv).Object())
			return true
		})
	}
	return all
}

// Each calls yield for all stored objects, grouped by resource, until yield returns false.
func (v View) Each(yield func(resource string, obj Object) bool) {
	v.view.Range("", "", func(kv *mvcc.KV) bool {
		d := v.defs.Definition(commit.Storage(kv.Key))
		return d == nil || yield(named(d), itemOf(d, kv).Object())
	})
}

// definition returns the definition of a resource, whose name may omit the group, or nil if the server does not serve
// it.
func (v View) definition(resource string) *resource.Definition {
	if d := v.defs.Definition(resource); d != nil {
		return d
	}
	for _, d := range v.defs.Resources() {
		if d.Resource == resource || named(d) == resource {
			return v.defs.Definition(d.Storage)
		}
	}
	return nil
}

// Knows reports whether there is a resource with the given name.
func (v View) Knows(resource string) bool { return v.definition(resource) != nil }

func itemOf(d *resource.Definition, kv *mvcc.KV) *resource.Item { return resource.ItemOf(d, kv) }

// named returns the name of a resource, including its group.
func named(d *resource.Definition) string { return trace.What(d.Group, d.Resource, "", "") }

// To converts objects of a View to a Go type, such as corev1.Pod. It panics if an object does not fit the type.
func To[T any](objects ...Object) []T {
	out := make([]T, len(objects))
	for i, obj := range objects {
		if err := json.Unmarshal(object.JSON(obj), &out[i]); err != nil {
			panic(fmt.Sprintf("kubesim: %s %s is not a %T: %v", obj.Kind(), obj.Name(), out[i], err))
		}
	}
	return out
}

// Write is one commit of the store and its author.
type Write struct {
	At          time.Time
	Revision    uint64
	Client      string // the User-Agent of the request, or the name of a controller or kubelet of the simulator; "" for the store itself
	User        string
	Verb        string // create, update, patch or delete; for a write without a request, the verb with the same effect
	Resource    string // such as deployments.apps
	Subresource string // the subresource of the request
	Namespace   string
	Name        string

	record        uint64 // the number of the commit's record in the trace
	key           string
	before, after *resource.Item
	by            *observe.Actor
}

// newWrite returns the Write of a commit. The verb is that of the client's request if the request is for the same
// resource; otherwise it follows from the change.
func newWrite(e *commit.Commit, by *observe.Actor, record uint64) *Write {
	w := &Write{At: e.At, Revision: e.Rev, Client: by.Client, User: by.User, Verb: "update", Resource: named(e.Definition),
		Namespace: e.Namespace, Name: e.Name, record: record, key: e.Key, before: e.Before(), by: by}
	if !e.Deleted() {
		w.after = e.Item()
	}
	switch {
	case e.Created():
		w.Verb = "create"
	case e.Deleted():
		w.Verb = "delete"
	}
	if x := by.Exchange; x != nil && trace.What(x.Group, x.Resource, "", "") == w.Resource {
		w.Verb, w.Subresource = x.Verb, x.Subresource
	}
	return w
}

// Before returns the object before the write, or nil if it did not exist.
func (w *Write) Before() Object { return objectOf(w.before) }

// After returns the object after the write, or nil if it was deleted.
func (w *Write) After() Object { return objectOf(w.after) }

func objectOf(it *resource.Item) Object {
	if it == nil {
		return nil
	}
	return it.Object()
}

// String returns the client, its verb and the object: "operator (alice) patch deployments.apps/status default/web,
// revision 4017".
func (w *Write) String() string {
	resource := w.Resource
	if w.Subresource != "" {
		resource += "/" + w.Subresource
	}
	return fmt.Sprintf("%s %s %s %s, revision %d", w.author(), w.Verb, resource, trace.Key(w.Namespace, w.Name), w.Revision)
}

func (w *Write) author() string {
	name, _, _ := strings.Cut(w.Client, " ")
	switch {
	case name == "" && w.User == "":
		return "the store itself"
	case w.User == "" || w.User == name:
		return name
	case name == "":
		return w.User
	}
	return name + " (" + w.User + ")"
}

// Diff returns the changes, one line per field: "spec.replicas: 1 → 3". It omits fields that every write changes.
func (w *Write) Diff() string { return difference(w.Before(), w.After()) }

// difference returns the changes of an object as text.
func difference(before, after Object) string {
	switch {
	case before == nil && after != nil:
		return "it is new"
	case after == nil:
		return "it is gone"
	}
	lines := trace.Difference(before, after)
	if len(lines) == 0 {
		return "nothing but metadata that every write changes"
	}
	return strings.Join(lines, "\n")
}

// indented prepends margin to each line of a text.
func indented(text, margin string) string {
	lines := slices.Collect(strings.SplitSeq(text, "\n"))
	return margin + strings.Join(lines, "\n"+margin)
}
