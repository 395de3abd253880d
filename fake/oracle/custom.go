package oracle

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/object"
)

// NoTwins makes a test fail if a custom object gets two objects of one resource that differ only in their names. Both have the
// custom object as their controller, and neither is being deleted. Unlike OnePerOwner, it needs no names of resources, so it can
// watch a suite whose resources are not known.
func (o *Oracles) NoTwins() { o.Never("two alike objects of an owner", twins) }

func twins(view View) error {
	w := view.Write
	if w == nil || w.before != nil {
		return nil
	}
	obj := w.After()
	owner := controllerOf(obj)
	if owner == nil || !view.isCustom(owner.APIVersion(), owner.Kind()) {
		return nil
	}
	for _, other := range view.List(w.Resource, obj.Namespace()) {
		its := controllerOf(other)
		if other.Name() != obj.Name() && other.DeletionTimestamp() == "" && its != nil && its.String("uid") == owner.String("uid") &&
			object.Equal(map[string]any(content(other)), map[string]any(content(obj))) {
			return fmt.Errorf("%s %s has two %s in namespace %s that differ only in their names: %s and %s", owner.Kind(), owner.String("name"),
				w.Resource, obj.Namespace(), other.Name(), obj.Name())
		}
	}
	return nil
}

// content returns the parts of an object that its creator chooses, without its name.
func content(obj Object) Object {
	c := maps.Clone(obj)
	delete(c, "status")
	c["metadata"] = map[string]any{"labels": obj.Map("metadata", "labels"), "annotations": obj.Map("metadata", "annotations")}
	return c
}

// isCustom reports whether a CustomResourceDefinition defines a kind in an apiVersion.
func (v View) isCustom(apiVersion, kind string) bool {
	for _, d := range v.defs.Resources() {
		if d.Custom && d.Kind == kind && apiVersion == d.Group+"/"+d.Version {
			return true
		}
	}
	return false
}

// orphanAfter is the time after which everything that belongs to a deleted object must be gone.
const orphanAfter = time.Minute

// NoOrphans makes a test fail if a minute after the deletion of a custom object there are objects that belong to it. An
// object belongs to it if a label or annotation has its uid, or has its name under a key of its API group or under
// app.kubernetes.io/instance. Objects that are being deleted, or that the garbage collector would delete, do not count.
// If resource is not "", only objects of that resource are watched. It detects objects that a finalizer has forgotten,
// like LeftBehind, but needs no names of clients and resources.
func (o *Oracles) NoOrphans(resource string) {
	w := o.observer.begun()
	p := &promise{name: "left behind"}
	p.wrote = func(view View) error {
		by := view.Write
		d := view.definition(by.Resource)
		if by.after != nil || !d.Custom || resource != "" && d != view.definition(resource) {
			return nil
		}
		w.cluster.Clock().AfterFunc(orphanAfter, func() { w.judgeLater(p, by, func(v View) error { return orphans(v, by.Resource, by.Before()) }) })
		return nil
	}
	w.promise(p)
}

// judgeLater checks the current state and, if the check fails, reports the promise as broken by an earlier write.
func (w *Observer) judgeLater(p *promise, by *Write, check func(View) error) {
	err := w.Inspect(check)
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.kept {
		w.judge(p, by, err)
	}
}

// orphans returns an error that names the objects that belong to a deleted object of a resource, unless there is a new
// object with its name.
func orphans(view View, resource string, owner Object) error {
	for _, other := range view.List(resource, "") {
		if other.Name() == owner.Name() {
			return nil
		}
	}
	all := map[string]Object{}
	view.Each(func(_ string, obj Object) bool {
		all[obj.UID()] = obj
		return true
	})
	var left []string
	view.Each(func(resource string, obj Object) bool {
		if belongs(obj, owner) && !isTransient(resource) && obj.DeletionTimestamp() == "" && !garbage(obj, all) {
			left = append(left, resource+" "+strings.TrimPrefix(obj.Namespace()+"/"+obj.Name(), "/"))
		}
		return true
	})
	if len(left) == 0 {
		return nil
	}
	return fmt.Errorf("%s %s has been gone for %s, but not %s", owner.Kind(), owner.Name(), orphanAfter, strings.Join(left, ", "))
}

// garbage reports whether the garbage collector would delete an object: it has owners, and each of them is gone, is being deleted,
// or is garbage itself. all contains the objects by uid.
func garbage(obj Object, all map[string]Object) bool {
	owners := obj.Objects("metadata", "ownerReferences")
	for _, o := range owners {
		if owner := all[o.String("uid")]; owner != nil && owner.DeletionTimestamp() == "" && !garbage(owner, all) {
			return false
		}
	}
	return len(owners) > 0
}

// belongs reports whether a label or annotation of obj refers to owner: by its uid, or by its name under a key of its API group or
// under app.kubernetes.io/instance.
func belongs(obj, owner Object) bool {
	group, _, _ := strings.Cut(owner.APIVersion(), ".")
	for _, texts := range []map[string]string{obj.Labels(), obj.Annotations()} {
		for key, value := range texts {
			domain, _, _ := strings.Cut(key, ".")
			if value == owner.UID() || value == owner.Name() && (domain == group || key == "app.kubernetes.io/instance") {
				return true
			}
		}
	}
	return false
}
