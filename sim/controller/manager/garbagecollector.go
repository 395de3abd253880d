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

// GarbageCollector deletes objects none of whose owners exist, and processes the finalizers foregroundDeletion and orphan of
// deleted owners (pkg/controller/garbagecollector; Kubernetes documentation, "Garbage Collection"):
//
//	owner does not exist ──────────▶ dependent is deleted, or loses the reference if it has another owner
//	owner has foregroundDeletion ──▶ its dependents are deleted, then its finalizer is removed once no blocking ones are left
//	owner has orphan ──────────────▶ its dependents lose the reference, then its finalizer is removed
//
// The keys have the form NAMESPACE and RESOURCE/NAME. The real collector maintains a graph, with virtual nodes for owners that it
// has not observed. This one uses Client.Owned as the graph, and looks up owners by reference.
func GarbageCollector() controller.Controller {
	return controller.Account(garbageCollector, "generic-garbage-collector", controller.Func(collect), controller.Watch{Keys: collectable})
}

// nodeKey returns the key of an object.
func nodeKey(resource, namespace, name string) controller.Key {
	return controller.Key{Namespace: namespace, Name: resource + "/" + name}
}

// collectable returns the keys of objects that a commit may have turned into garbage.
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

// dependents returns the keys of the dependents of an owner, with the newest first. The real collector processes them in
// parallel, so that each still finds the others unchanged. A dependent must be processed before the dependents that it depends
// on, which are nearly always older.
func dependents(api *controller.Client, owner string) (keys []controller.Key) {
	for _, ref := range slices.Backward(api.Owned(owner)) {
		keys = append(keys, nodeKey(ref.Resource, ref.Namespace, ref.Name))
	}
	return keys
}

// collects reports whether the collector handles the objects of a resource.
func collects(d *resource.Definition) bool {
	return d != nil && slices.Contains(d.Verbs, "delete") && slices.Contains(d.Verbs, "list") && slices.Contains(d.Verbs, "watch")
}

// ownersWaiting returns the keys of the owners whose deletion an object no longer blocks after a change. after is nil if the
// object was deleted.
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

// waits reports whether an object is being deleted and still has the given finalizer.
func waits(obj object.Object, finalizer string) bool {
	return obj.DeletionTimestamp() != "" && slices.Contains(obj.Finalizers(), finalizer)
}

// blocks reports whether an object blocks the deletion of an owner.
func blocks(obj object.Object, owner string) bool {
	return slices.ContainsFunc(obj.Objects("metadata", "ownerReferences"), func(ref object.Object) bool {
		return ref.String("uid") == owner && ref.True("blockOwnerDeletion")
	})
}

// namespaceOf returns the namespace of an object to which another object refers: the namespace of the referring object, or "" if
// the referenced kind is cluster-scoped.
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
	known    object.Object // the object in the cache
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
		return 0, nil // the cache is outdated and will be updated
	}
	switch {
	case waits(n.known, orphan):
		return 0, n.orphanDependents()
	case deleting:
		return 0, n.awaitDependents()
	}
	return 0, n.classify()
}

// dependents calls yield with each dependent of the node that is in the cache.
func (n *node) dependents(yield func(ref controller.Ref, obj object.Object)) {
	for _, ref := range slices.Clone(n.api.Owned(n.known.UID())) {
		if obj := n.api.GetShared(ref.Resource, ref.Namespace, ref.Name); obj != nil {
			yield(ref, obj)
		}
	}
}

// orphanDependents removes the references to the node from its dependents, and then the finalizer from the node.
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

// awaitDependents removes the finalizer from the node if no dependents block its deletion. Otherwise it queues these dependents.
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

// classify looks up the node's owners. It deletes the node if it has no remaining owner. Otherwise it removes the references to
// owners that no longer exist or wait for their dependents.
func (n *node) classify() *status.Status {
	refs := n.live.Objects("metadata", "ownerReferences")
	if len(refs) == 0 {
		return nil
	}
	var solid, dangling, waiting []string
	for _, ref := range refs {
		owner, elsewhere, s := n.owner(ref)
		switch uid := ref.String("uid"); {
		case elsewhere:
			return nil // an owner cannot be looked up, so it is unknown whether the node is garbage
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

// owner returns the owner to which a reference of the node refers, or nil if it does not exist. elsewhere reports that the owner is
// namespaced and the node is not. failed is the error of a lookup that gave no result.
func (n *node) owner(ref object.Object) (owner object.Object, elsewhere bool, failed *status.Status) {
	d := n.api.OfKind(ref.String("apiVersion"), ref.String("kind"))
	if d == nil {
		return nil, false, status.NotFound(status.Resource{Resource: ref.String("kind")}, ref.String("name")) // the kind may be served again later
	}
	if d.Namespaced && n.key.Namespace == "" {
		n.report(ref)
		return nil, true, nil
	}
	owner = n.api.LiveShared(d.Storage, namespaceOf(d, n.key.Namespace), ref.String("name"))
	if owner != nil && owner.UID() == ref.String("uid") {
		return owner, false, nil
	}
	if d.Namespaced && n.ownerInOtherNamespace(d, ref.String("uid")) {
		n.report(ref)
	}
	return nil, false, nil
}

// identity is the UID of an object, cached with its item.
type identity string

// ownerInOtherNamespace reports whether the cache has the owner in another namespace.
func (n *node) ownerInOtherNamespace(d *resource.Definition, uid string) (found bool) {
	n.api.Items(d.Storage, "", func(it *resource.Item) bool {
		found = it.Namespace != n.key.Namespace &&
			resource.Derived(it, func(obj object.Object) identity { return identity(obj.UID()) }) == identity(uid)
		return !found
	})
	return found
}

// report records an event about a reference to an owner that is not in the node's namespace.
func (n *node) report(ref object.Object) {
	_ = n.api.Event(n.known, "Warning", "OwnerRefInvalidNamespace", // failed events are not retried
		fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q", ref.String("apiVersion"),
			ref.String("kind"), n.key.Namespace, ref.String("name"), ref.String("uid"), n.key.Namespace))
}

// unblock removes blockOwnerDeletion from the node's references if one of its dependents waits for its own dependents. Otherwise
// a cycle of owners could wait forever.
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

// delete deletes the node in the version that was read. If the node has changed since, but its owner references have not, delete
// deletes it regardless of its version.
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
