package manager

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	garbageCollector = "garbage-collector-controller"

	foreground = "foregroundDeletion" // metav1.FinalizerDeleteDependents
	orphan     = "orphan"             // metav1.FinalizerOrphanDependents
)

// GarbageCollector deletes objects whose owners are all gone, and carries out the finalizers foregroundDeletion and orphan of a
// deleted owner (pkg/controller/garbagecollector; Kubernetes' documents, "Garbage Collection"):
//
//	owner is gone ──────────────────▶ dependent: deleted, or it loses the reference where another owner is solid
//	owner waits, foregroundDeletion ▶ dependents deleted, those that block it first; then its finalizer goes
//	owner waits, orphan ────────────▶ dependents lose the reference; then its finalizer goes
//
// Its keys name objects as NAMESPACE and RESOURCE/NAME. The real one keeps a graph of nodes, with virtual ones for owners that it
// has not seen; here Client.Owned is the graph, and an owner is looked up by its reference.
func GarbageCollector() controller.Controller {
	return controller.Account(garbageCollector, "generic-garbage-collector", controller.Func(collect), controller.Watch{Keys: collectable})
}

// nodeKey is the key of an object.
func nodeKey(resource, namespace, name string) controller.Key {
	return controller.Key{Namespace: namespace, Name: resource + "/" + name}
}

// collectable returns the keys of objects that may have become garbage by a commit.
func collectable(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
	it := c.Item()
	if it == nil || c.Storage == events || !collects(c.Definition) {
		return nil
	}
	if c.Deleted() {
		obj := it.Shared()
		return append(dependents(api, obj.UID()), ownersWaiting(api, obj, nil)...)
	}
	var before object.Object
	if old := c.Before(); old != nil {
		before = old.Shared()
	}
	obj := it.Shared()
	if !object.Equal(obj.List("metadata", "ownerReferences"), before.List("metadata", "ownerReferences")) {
		if len(obj.List("metadata", "ownerReferences")) > 0 {
			keys = append(keys, nodeKey(c.Storage, it.Namespace, it.Name))
		}
		keys = append(keys, ownersWaiting(api, before, obj)...)
	}
	for _, finalizer := range []string{orphan, foreground} {
		if !waits(obj, finalizer) || waits(before, finalizer) {
			continue
		}
		if finalizer == foreground {
			keys = append(keys, dependents(api, obj.UID())...)
		}
		return append(keys, nodeKey(c.Storage, it.Namespace, it.Name))
	}
	return keys
}

// dependents returns the keys of the dependents of an owner, the newest first. The real collector processes them in parallel, so
// that each still finds the others unchanged. A dependent that depends on another one, which is nearly always older, has to be
// processed before it.
func dependents(api *controller.Client, owner string) (keys []controller.Key) {
	for _, ref := range slices.Backward(api.Owned(owner)) {
		keys = append(keys, nodeKey(ref.Resource, ref.Namespace, ref.Name))
	}
	return keys
}

// collects reports whether the objects of a resource can be garbage.
func collects(d *resource.Definition) bool {
	return d != nil && slices.Contains(d.Verbs, "delete") && slices.Contains(d.Verbs, "list") && slices.Contains(d.Verbs, "watch")
}

// ownersWaiting returns the owners whose deletion an object blocked before a change and does not block after it. after is nil if
// the object was deleted.
func ownersWaiting(api *controller.Client, before, after object.Object) (keys []controller.Key) {
	for _, ref := range before.Objects("metadata", "ownerReferences") {
		if after != nil && (!ref.True("blockOwnerDeletion") || blocks(after, ref.String("uid"))) {
			continue
		}
		if d := api.OfKind(ref.String("apiVersion"), ref.String("kind")); d != nil {
			owner := api.GetShared(d.Storage, namespaceOf(d, before.Namespace()), ref.String("name"))
			if owner != nil && owner.UID() == ref.String("uid") && waits(owner, foreground) {
				keys = append(keys, nodeKey(d.Storage, owner.Namespace(), owner.Name()))
			}
		}
	}
	return keys
}

// waits reports whether an object is being deleted and has a finalizer.
func waits(obj object.Object, finalizer string) bool {
	return obj.DeletionTimestamp() != "" && slices.Contains(obj.Finalizers(), finalizer)
}

// blocks reports whether an object keeps an owner from being deleted.
func blocks(obj object.Object, owner string) bool {
	return slices.ContainsFunc(obj.Objects("metadata", "ownerReferences"), func(ref object.Object) bool {
		return ref.String("uid") == owner && ref.True("blockOwnerDeletion")
	})
}

// namespaceOf is the namespace of an object of a kind that something in a namespace refers to.
func namespaceOf(d *resource.Definition, namespace string) string {
	if d.Namespaced {
		return namespace
	}
	return ""
}

// node is an object that may be garbage.
type node struct {
	api      *controller.Client
	resource string
	key      controller.Key
	known    object.Object // as the cache has it
	live     object.Object
}

func collect(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	of, name, _ := strings.Cut(key.Name, "/")
	n := node{api: api, resource: of, key: controller.Key{Namespace: key.Namespace, Name: name}}
	if of == events || api.Definition(of) == nil {
		return 0, nil
	}
	if n.known = api.GetShared(of, key.Namespace, name); n.known == nil {
		return 0, nil
	}
	deleting := n.known.DeletionTimestamp() != ""
	if deleting && !waits(n.known, foreground) && !waits(n.known, orphan) {
		return 0, nil
	}
	if n.live = api.LiveShared(of, key.Namespace, name); n.live == nil || n.live.UID() != n.known.UID() {
		return 0, nil // the cache will hear of it
	}
	switch {
	case waits(n.known, orphan):
		return 0, n.orphanDependents()
	case deleting:
		return 0, n.awaitDependents()
	}
	return 0, n.classify()
}

// dependents calls yield with the dependents of the node in the cache.
func (n *node) dependents(yield func(ref controller.Ref, obj object.Object)) {
	for _, ref := range slices.Clone(n.api.Owned(n.known.UID())) {
		if obj := n.api.GetShared(ref.Resource, ref.Namespace, ref.Name); obj != nil {
			yield(ref, obj)
		}
	}
}

// orphanDependents takes the reference to the node from its dependents, and then the finalizer from it.
func (n *node) orphanDependents() (failed *status.Status) {
	n.dependents(func(ref controller.Ref, _ object.Object) {
		if s := workload.Disown(n.api, ref.Resource, ref.Key, n.known.UID()); s != nil && s.Reason != status.ReasonNotFound {
			failed = s
		}
	})
	if failed != nil {
		return failed
	}
	return n.removeFinalizer(orphan)
}

// awaitDependents removes the finalizer from a node without blocking dependents, and otherwise queues these.
func (n *node) awaitDependents() *status.Status {
	blocked := false
	n.dependents(func(ref controller.Ref, obj object.Object) {
		if blocks(obj, n.known.UID()) {
			blocked = true
			if !waits(obj, foreground) {
				n.api.Enqueue(nodeKey(ref.Resource, ref.Namespace, ref.Name))
			}
		}
	})
	if blocked {
		return nil
	}
	return n.removeFinalizer(foreground)
}

func (n *node) removeFinalizer(name string) *status.Status {
	s := n.api.Patch(n.resource, "", n.key, func(live object.Object) {
		live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(f string) bool { return f == name }))
	})
	return workload.Found(s)
}

// classify looks up the node's owners, and deletes it or removes the references to owners that do not exist any more.
func (n *node) classify() *status.Status {
	refs := n.live.Objects("metadata", "ownerReferences")
	if len(refs) == 0 {
		return nil
	}
	var solid, dangling, waiting []string
	for _, ref := range refs {
		owner, foreign, s := n.owner(ref)
		switch uid := ref.String("uid"); {
		case foreign:
			return nil // it cannot be known whether it is garbage
		case s != nil:
			return s
		case owner == nil:
			dangling = append(dangling, uid)
		case waits(owner, foreground):
			waiting = append(waiting, uid)
		default:
			solid = append(solid, uid)
		}
	}
	switch {
	case len(solid) > 0 && len(dangling)+len(waiting) == 0:
		return nil
	case len(solid) > 0:
		return workload.Disown(n.api, n.resource, n.key, append(dangling, waiting...)...)
	case len(waiting) > 0 && len(n.api.Owned(n.known.UID())) > 0:
		if s := n.unblock(); s != nil {
			return s
		}
		return n.delete("Foreground")
	case slices.Contains(n.live.Finalizers(), orphan):
		return n.delete("Orphan")
	case slices.Contains(n.live.Finalizers(), foreground):
		return n.delete("Foreground")
	}
	return n.delete("Background")
}

// owner returns the owner that a reference of the node names, or nil if it does not exist. foreign is true if the owner is
// namespaced and the node is not.
func (n *node) owner(ref object.Object) (owner object.Object, foreign bool, failed *status.Status) {
	d := n.api.OfKind(ref.String("apiVersion"), ref.String("kind"))
	if d == nil {
		return nil, false, status.NotFound(status.Resource{Resource: ref.String("kind")}, ref.String("name")) // it may be served again
	}
	if d.Namespaced && n.key.Namespace == "" {
		n.report(ref)
		return nil, true, nil
	}
	owner = n.api.LiveShared(d.Storage, namespaceOf(d, n.key.Namespace), ref.String("name"))
	if owner != nil && owner.UID() == ref.String("uid") {
		return owner, false, nil
	}
	if d.Namespaced && n.elsewhere(d, ref.String("uid")) {
		n.report(ref)
	}
	return nil, false, nil
}

// identity is the uid of an object, kept with its item.
type identity string

// elsewhere reports whether the cache has an owner in another namespace.
func (n *node) elsewhere(d *resource.Definition, uid string) (found bool) {
	n.api.Items(d.Storage, "", func(it *resource.Item) bool {
		found = it.Namespace != n.key.Namespace &&
			resource.Derived(it, func(obj object.Object) identity { return identity(obj.UID()) }) == identity(uid)
		return !found
	})
	return found
}

// report records that a reference leads into no namespace that the node could name.
func (n *node) report(ref object.Object) {
	_ = n.api.Event(n.known, "Warning", "OwnerRefInvalidNamespace", // a failed event is not retried
		fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q", ref.String("apiVersion"),
			ref.String("kind"), n.key.Namespace, ref.String("name"), ref.String("uid"), n.key.Namespace))
}

// unblock lets the owners of the node go on when a dependent of the node waits for the node's deletion itself: otherwise a
// circle of owners would wait for ever.
func (n *node) unblock() (failed *status.Status) {
	circle := false
	n.dependents(func(_ controller.Ref, obj object.Object) { circle = circle || waits(obj, foreground) })
	if !circle {
		return nil
	}
	failed = n.api.Patch(n.resource, "", n.key, func(live object.Object) {
		for _, ref := range live.Objects("metadata", "ownerReferences") {
			ref["blockOwnerDeletion"] = false
		}
	})
	return failed
}

// delete deletes the node as it was read. If it has changed since, but its owners have not, it is deleted all the same.
func (n *node) delete(propagation string) *status.Status {
	p := controller.Preconditions{UID: n.live.UID(), ResourceVersion: n.live.ResourceVersion(), Propagation: propagation}
	s := n.api.Delete(n.resource, n.key, p)
	if s == nil || s.Reason != status.ReasonConflict {
		return workload.Found(s)
	}
	now := n.api.LiveShared(n.resource, n.key.Namespace, n.key.Name)
	if now == nil || now.UID() != p.UID || !object.Equal(now.List("metadata", "ownerReferences"), n.live.List("metadata", "ownerReferences")) {
		return s
	}
	p.ResourceVersion = ""
	return workload.Found(n.api.Delete(n.resource, n.key, p))
}
