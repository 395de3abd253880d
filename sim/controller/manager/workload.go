package manager

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// owner is a kind of which objects control others.
type owner struct {
	resource string // its storage name
	plain    bool   // spec.selector is a map of labels
}

// workload is an object that has pods, or objects that have.
type workload struct {
	owner
	api      *controller.Client
	obj      object.Object
	selector selector.Labels
}

// of returns what the cache has of a workload, and false if it has nothing.
func (o owner) of(api *controller.Client, key controller.Key) (w workload, ok bool) {
	obj := api.Get(o.resource, key.Namespace, key.Name)
	if obj == nil {
		return w, false
	}
	w = workload{owner: o, api: api, obj: obj}
	if o.plain {
		w.selector = selector.FromSet(object.StringMap(obj.Map("spec", "selector")))
	} else {
		w.selector, _ = selector.FromLabelSelector(obj.Map("spec", "selector")) // it was validated
	}
	return w, true
}

// watch watches what objects of the kind control: its keys are those of the controllers of an object, before and after a
// commit, and of those that could adopt an orphan. seen is told of each object that has a controller; nil: nobody is.
func (o owner) watch(dependents string, seen func(key controller.Key, c *commit.Commit)) controller.Watch {
	return controller.Watch{Resource: dependents, Keys: func(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
		var told controller.Key
		for _, it := range []*resource.Item{c.Before(), c.Item()} {
			if it == nil {
				continue
			}
			key, controlled := o.controls(api, it)
			switch {
			case !controlled:
				keys = append(keys, o.adopters(api, it)...)
			case key.Name != "":
				keys = append(keys, key)
				if seen != nil && key != told {
					seen(key, c)
					told = key
				}
			}
		}
		return keys
	}}
}

// controls returns the key of the object of the kind that controls another, and whether anything does.
func (o owner) controls(api *controller.Client, it *resource.Item) (key controller.Key, controlled bool) {
	ref := controllerOf(it.Object())
	if ref == nil {
		return key, false
	}
	d := api.OfKind(ref.String("apiVersion"), ref.String("kind"))
	if d == nil || d.Storage != o.resource {
		return key, true
	}
	if owner := api.Get(o.resource, it.Namespace, ref.String("name")); owner.UID() != ref.String("uid") {
		return key, true
	}
	return controller.Key{Namespace: it.Namespace, Name: ref.String("name")}, true
}

// adopters returns the keys of the objects of the kind that select an orphan.
func (o owner) adopters(api *controller.Client, it *resource.Item) (keys []controller.Key) {
	api.Items(o.resource, it.Namespace, func(x *resource.Item) bool {
		w, ok := o.of(api, controller.Key{Namespace: x.Namespace, Name: x.Name})
		if ok && !w.selector.Empty() && w.selector.Match(it.Label) {
			keys = append(keys, w.key())
		}
		return true
	})
	return keys
}

func (w *workload) key() controller.Key {
	return controller.Key{Namespace: w.obj.Namespace(), Name: w.obj.Name()}
}

// ref is the reference of what the workload controls.
func (w *workload) ref() map[string]any {
	return map[string]any{"apiVersion": w.obj.APIVersion(), "kind": w.obj.Kind(), "name": w.obj.Name(), "uid": w.obj.UID(),
		"controller": true, "blockOwnerDeletion": true}
}

// candidates returns the objects that the workload has, and those of its namespace that nobody controls.
func (w *workload) candidates(of string) (all []*resource.Item) {
	for _, ref := range w.api.Owned(w.obj.UID()) {
		if ref.Resource == of && ref.Namespace == w.obj.Namespace() {
			if it := w.api.Item(of, ref.Namespace, ref.Name); it != nil {
				all = append(all, it)
			}
		}
	}
	for _, ref := range w.api.Unowned(of, w.obj.Namespace()) {
		if it := w.api.Item(of, ref.Namespace, ref.Name); it != nil {
			all = append(all, it)
		}
	}
	return all
}

// claim returns those of some objects that the workload controls: it adopts those that it selects and nobody controls, and
// lets go those that it does not select any more (controller.BaseControllerRefManager). failed is the last failure.
func (w *workload) claim(of string, candidates []*resource.Item) (mine []*resource.Item, failed *status.Status) {
	deleting := w.obj.DeletionTimestamp() != ""
	for _, it := range candidates {
		obj := it.Object()
		owner, selected := controllerOf(obj), w.selector.Match(it.Label)
		switch {
		case owner != nil && owner.String("uid") != w.obj.UID():
		case owner != nil && selected:
			mine = append(mine, it)
		case owner != nil && !deleting:
			s := disown(w.api, of, controller.Key{Namespace: it.Namespace, Name: it.Name}, w.obj.UID())
			if s != nil && s.Reason != status.ReasonNotFound && s.Reason != status.ReasonInvalid {
				failed = s
			}
		case owner == nil && selected && !deleting && obj.DeletionTimestamp() == "":
			switch s := w.adopt(of, it); {
			case s == nil:
				mine = append(mine, it)
			case s.Reason != status.ReasonNotFound:
				failed = s
			}
		}
	}
	return mine, failed
}

// adopt makes the workload the controller of an object, unless the API server knows that the workload is to go.
func (w *workload) adopt(of string, it *resource.Item) *status.Status {
	live := w.api.Live(w.resource, w.obj.Namespace(), w.obj.Name())
	why := ""
	switch {
	case live == nil:
		return status.NotFound(w.api.Definition(w.resource).Resourced(), w.obj.Name())
	case live.UID() != w.obj.UID():
		why = fmt.Sprintf("original %s %s is gone: got uid %s, wanted %s", w.obj.Kind(), w.key(), live.UID(), w.obj.UID())
	case live.DeletionTimestamp() != "":
		why = fmt.Sprintf("%s has just been deleted at %s", w.key(), live.DeletionTimestamp())
	}
	if why != "" {
		return status.Internal(errors.New(why))
	}
	_, s := w.api.Patch(of, "", controller.Key{Namespace: it.Namespace, Name: it.Name}, func(live object.Object) {
		live.Set(append(live.List("metadata", "ownerReferences"), w.ref()), "metadata", "ownerReferences")
	})
	return s
}

// createPod makes a pod of the workload's template, and says so in an event.
func (w *workload) createPod(change func(pod object.Object)) *status.Status {
	template := object.Object(w.obj.Map("spec", "template")).Copy()
	meta := map[string]any{"generateName": podPrefix(w.obj.Name()), "namespace": w.obj.Namespace(), "ownerReferences": []any{w.ref()}}
	for _, name := range []string{"labels", "annotations", "finalizers"} {
		if v, ok := template.Get("metadata", name); ok {
			meta[name] = v
		}
	}
	obj := object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": template.Map("spec")}
	if change != nil {
		change(obj)
	}
	if len(obj.Labels()) == 0 {
		return status.Internal(errors.New("unable to create pods, no labels"))
	}
	made, s := w.api.Create(pods, obj)
	switch {
	case s == nil:
		_ = w.api.Event(w.obj, "Normal", "SuccessfulCreate", "Created pod: "+made.Name()) // nobody hears it twice
	case !terminating(s):
		_ = w.api.Event(w.obj, "Warning", "FailedCreate", "Error creating: "+s.Message)
	}
	return s
}

// podPrefix is what names of pods begin with: that of their workload, where a pod could have such a name.
func podPrefix(name string) string {
	if len(name) > 252 { // NameIsDNSSubdomain, with the hyphen
		return name
	}
	return name + "-"
}

// deletePod deletes a pod of the workload, and says so in an event.
func (w *workload) deletePod(p *pod) *status.Status {
	s := w.api.Delete(pods, p.key(), controller.Preconditions{})
	switch {
	case s == nil:
		_ = w.api.Event(w.obj, "Normal", "SuccessfulDelete", "Deleted pod: "+p.Name)
	case s.Reason != status.ReasonNotFound:
		_ = w.api.Event(w.obj, "Warning", "FailedDelete", "Error deleting: "+s.Message)
		return status.Internal(errors.New("unable to delete pods: " + s.Message))
	}
	return s
}

// terminating reports whether something was refused because its namespace is being deleted.
func terminating(s *status.Status) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c status.Cause) bool { return c.Reason == "NamespaceTerminating" })
}

// slowly does something count times, one time at first and then as often as it has gone well, until it fails: what cannot
// work is not tried a thousand times. It returns how often it has gone well (controller.slowStartBatch).
func slowly(count int, do func() *status.Status) (done int, failed *status.Status) {
	for batch := min(count, 1); batch > 0 && failed == nil; batch = min(2*batch, count-done) {
		for range batch {
			if s := do(); s != nil {
				failed = s
			} else {
				done++
			}
		}
	}
	return done, failed
}
