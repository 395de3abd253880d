// Package workload contains code that the controllers of pods share: ownership, the order of deletion, and expectations.
package workload

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

// Pods is the storage name of pods.
const Pods = "pods"

// Owner is a kind whose objects control other objects.
type Owner struct {
	Resource  string // storage name of the kind
	Plain     bool   // spec.selector is a map of labels, not a LabelSelector
	Finalizer string // finalizer that is added on adoption and removed on release, or ""
}

// Workload is an object that controls pods, or objects that control pods.
type Workload struct {
	Owner
	API      *controller.Client
	Object   object.Object
	Selector selector.Labels
	Member   func(*resource.Item) bool // additional condition for selected objects, or nil
}

// Of returns a workload from the cache. It returns false if the workload does not exist.
func (o Owner) Of(api *controller.Client, key controller.Key) (w Workload, ok bool) {
	obj := api.Get(o.Resource, key.Namespace, key.Name)
	if obj == nil {
		return w, false
	}
	w = Workload{Owner: o, API: api, Object: obj, Selector: o.selector(obj)}
	return w, true
}

// selector returns the selector of an object.
func (o Owner) selector(obj object.Object) selector.Labels {
	if o.Plain {
		return selector.FromSet(object.StringMap(obj.Map("spec", "selector")))
	}
	labels, _ := selector.FromLabelSelector(obj.Map("spec", "selector")) // cannot fail: the selector has been validated
	return labels
}

// ownerFacts contains values that are cached with the item of an owner.
type ownerFacts struct {
	uid      string
	selector selector.Labels
}

func (o Owner) facts(it *resource.Item) *ownerFacts {
	return resource.Derived(it, func(obj object.Object) *ownerFacts { return &ownerFacts{obj.UID(), o.selector(obj)} })
}

// Watch returns a watch of the objects that objects of the kind control. Its keys are those of an object's controllers before and
// after a commit, and those of the objects that could adopt an orphan. If seen is not nil, it is called for each object with a
// controller.
func (o Owner) Watch(dependents string, seen func(key controller.Key, c *commit.Commit)) controller.Watch {
	return controller.Watch{Resource: dependents, Keys: func(api *controller.Client, c *commit.Commit) (keys []controller.Key) {
		var told controller.Key
		for _, it := range []*resource.Item{c.Before(), c.Item()} {
			if it == nil {
				continue
			}
			key, controlled := o.Controls(api, it)
			switch {
			case !controlled:
				keys = append(keys, o.Adopters(api, it)...)
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

// Controls returns the key of the object of this kind that controls an object. controlled reports whether the object has any
// controller.
func (o Owner) Controls(api *controller.Client, it *resource.Item) (key controller.Key, controlled bool) {
	ref := resource.Derived(it, readDependent).Controller()
	if ref.UID == "" {
		return key, false
	}
	d := api.OfKind(ref.APIVersion, ref.Kind)
	if d == nil || d.Storage != o.Resource {
		return key, true
	}
	owner := api.Item(o.Resource, it.Namespace, ref.Name)
	if owner == nil || o.facts(owner).uid != ref.UID {
		return key, true
	}
	return controller.Key{Namespace: it.Namespace, Name: ref.Name}, true
}

// Adopters returns the keys of the objects of this kind that select an orphan.
func (o Owner) Adopters(api *controller.Client, it *resource.Item) (keys []controller.Key) {
	api.Items(o.Resource, it.Namespace, func(x *resource.Item) bool {
		if labels := o.facts(x).selector; !labels.Empty() && labels.Match(it.Label) {
			keys = append(keys, controller.Key{Namespace: x.Namespace, Name: x.Name})
		}
		return true
	})
	return keys
}

func (w *Workload) Key() controller.Key {
	return controller.Key{Namespace: w.Object.Namespace(), Name: w.Object.Name()}
}

// Ref returns the owner reference for objects that the workload controls.
func (w *Workload) Ref() map[string]any {
	return map[string]any{"apiVersion": w.Object.APIVersion(), "kind": w.Object.Kind(), "name": w.Object.Name(), "uid": w.Object.UID(),
		"controller": true, "blockOwnerDeletion": true}
}

// Candidates returns the objects that have an owner reference to the workload, and the objects in its namespace without a
// controller. The workload may adopt the latter even if they have other owners.
func (w *Workload) Candidates(of string) (all []*resource.Item) {
	for _, ref := range w.API.Owned(w.Object.UID()) {
		if ref.Resource == of && ref.Namespace == w.Object.Namespace() {
			if it := w.API.Item(of, ref.Namespace, ref.Name); it != nil {
				all = append(all, it)
			}
		}
	}
	for _, ref := range w.API.Orphans(of, w.Object.Namespace()) {
		if it := w.API.Item(of, ref.Namespace, ref.Name); it != nil {
			all = append(all, it)
		}
	}
	return all
}

// Claim returns the objects among candidates that the workload controls. It adopts matching objects without a controller, and
// releases objects that it no longer selects (controller.BaseControllerRefManager). failed is the last error; other objects are
// still processed after an error.
func (w *Workload) Claim(of string, candidates []*resource.Item) (mine []*resource.Item, failed *status.Status) {
	me, deleting := w.Object.UID(), w.Object.DeletionTimestamp() != ""
	for _, it := range candidates {
		facts := resource.Derived(it, readDependent)
		owner := facts.Controller().UID
		if owner != "" && owner != me {
			continue
		}
		selected := w.Selector.Match(it.Label) && (w.Member == nil || w.Member(it))
		switch {
		case owner != "" && selected:
			mine = append(mine, it)
		case owner != "" && !deleting:
			s := w.release(of, it)
			if s != nil && s.Reason != status.ReasonNotFound && s.Reason != status.ReasonInvalid {
				failed = s
			}
		case owner == "" && selected && !deleting && !facts.IsDeleting():
			switch s := w.Adopt(of, it); {
			case s == nil:
				mine = append(mine, it)
			case s.Reason != status.ReasonNotFound:
				failed = s
			}
		}
	}
	return mine, failed
}

// dependent is an object that may have a controller, or the cached facts of a pod.
type dependent interface {
	Controller() ControllerRef // returns the reference to its controller
	IsDeleting() bool          // reports whether it is being deleted
}

type dependentFacts struct {
	controller SharedRef
	deleting   bool
}

func readDependent(obj object.Object) dependent {
	return &dependentFacts{RefOf(obj), obj.DeletionTimestamp() != ""}
}

func (d *dependentFacts) Controller() ControllerRef { return d.controller.Value() }
func (d *dependentFacts) IsDeleting() bool          { return d.deleting }

// Adopt makes the workload the controller of an object, unless the workload is being deleted according to the API server.
func (w *Workload) Adopt(of string, it *resource.Item) *status.Status {
	live := w.API.Live(w.Resource, w.Object.Namespace(), w.Object.Name())
	why := ""
	switch {
	case live == nil:
		return status.NotFound(w.API.Definition(w.Resource).GroupResource(), w.Object.Name())
	case live.UID() != w.Object.UID():
		why = fmt.Sprintf("original %s %s is gone: got uid %s, wanted %s", w.Object.Kind(), w.Key(), live.UID(), w.Object.UID())
	case live.DeletionTimestamp() != "":
		why = fmt.Sprintf("%s has just been deleted at %s", w.Key(), live.DeletionTimestamp())
	}
	if why != "" {
		return status.Internal(errors.New(why))
	}
	s := w.API.Patch(of, "", controller.Key{Namespace: it.Namespace, Name: it.Name}, func(live object.Object) {
		live.Set(append(live.List("metadata", "ownerReferences"), w.Ref()), "metadata", "ownerReferences")
		if w.Finalizer != "" && !slices.Contains(live.Finalizers(), w.Finalizer) {
			live.SetFinalizers(append(live.Finalizers(), w.Finalizer))
		}
	})
	return s
}

// release removes the reference to the workload, and the finalizer, from an object.
func (w *Workload) release(of string, it *resource.Item) *status.Status {
	s := w.API.Patch(of, "", controller.Key{Namespace: it.Namespace, Name: it.Name}, func(live object.Object) {
		disown(live, w.Object.UID())
		if w.Finalizer != "" {
			live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(f string) bool { return f == w.Finalizer }))
		}
	})
	return s
}

// NewPod returns a new pod from a template, which the caller has to create (controller.GetPodFromTemplate). The pod shares data
// with the template.
func (w *Workload) NewPod(template object.Object) object.Object {
	meta := map[string]any{"generateName": NamePrefix(w.Object.Name()), "namespace": w.Object.Namespace(), "ownerReferences": []any{w.Ref()}}
	for _, name := range []string{"labels", "annotations", "finalizers"} {
		if v, ok := template.Get("metadata", name); ok {
			meta[name] = v
		}
	}
	return object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": template.Map("spec")}
}

// CreatePod creates a pod from the workload's template and records an event. If change is not nil, it is applied to the pod first.
func (w *Workload) CreatePod(change func(pod object.Object)) *status.Status {
	obj := w.NewPod(object.Object(w.Object.Map("spec", "template")).Copy())
	if change != nil {
		change(obj)
	}
	if len(obj.Labels()) == 0 {
		return status.Internal(errors.New("unable to create Pods, no labels"))
	}
	made, s := w.API.Create(Pods, obj)
	switch {
	case s == nil:
		_ = w.API.Event(w.Object, "Normal", "SuccessfulCreate", "Created pod: "+made.Name) // failed events are not retried
	case !Terminating(s):
		_ = w.API.Event(w.Object, "Warning", "FailedCreate", "Error creating: "+s.Message)
	}
	return s
}

// NamePrefix returns the prefix of generated names of an owner's objects: the owner's name, followed by a hyphen if the result is
// a valid name.
func NamePrefix(name string) string {
	if len(name) > 252 { // NameIsDNSSubdomain with the hyphen
		return name
	}
	return name + "-"
}

// DeletePod deletes a pod of the workload and records an event. If the pod does not exist, it returns the NotFound error and
// records nothing.
func (w *Workload) DeletePod(p *Pod) *status.Status {
	s := w.API.Delete(Pods, p.Key(), controller.Preconditions{})
	switch {
	case s == nil:
		_ = w.API.Event(w.Object, "Normal", "SuccessfulDelete", "Deleted pod: "+p.Name)
	case s.Reason != status.ReasonNotFound:
		_ = w.API.Event(w.Object, "Warning", "FailedDelete", "Error deleting: "+s.Message)
		return status.Internal(errors.New("unable to delete pods: " + s.Message))
	}
	return s
}

// Terminating reports whether a request was rejected because its namespace is being deleted.
func Terminating(s *status.Status) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c status.Cause) bool { return c.Reason == "NamespaceTerminating" })
}

// SlowStartBatch calls do count times, in batches that double in size as long as there is no failure. After a failure it does not start
// another batch. It returns the number of successful calls (controller.slowStartBatch).
func SlowStartBatch(count int, do func() *status.Status) (done int, failed *status.Status) {
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

// SetCounts sets numeric fields of obj. Like encoding/json with omitempty, it omits fields that are 0.
func SetCounts(obj object.Object, numbers map[string]int64) {
	for name, n := range numbers { // order does not matter
		if delete(obj, name); n != 0 {
			obj[name] = n
		}
	}
}

// WriteStatus writes now as the status of a workload. On a conflict it reads the workload again and retries once.
func (w *Workload) WriteStatus(now object.Object) *status.Status {
	obj := w.Object
	for attempt := 0; ; attempt++ {
		obj["status"] = map[string]any(now)
		_, s := w.API.Update(w.Resource, "status", obj)
		if s == nil || attempt > 0 {
			return s
		}
		if obj = w.API.Live(w.Resource, obj.Namespace(), obj.Name()); obj == nil {
			return s
		}
	}
}

// Found returns nil if s is a NotFound error, and s otherwise.
func Found(s *status.Status) *status.Status {
	if s != nil && s.Reason == status.ReasonNotFound {
		return nil
	}
	return s
}

// Disown removes the references to the given owners, which are UIDs, from an object.
func Disown(api *controller.Client, of string, key controller.Key, owners ...string) *status.Status {
	s := api.Patch(of, "", key, func(live object.Object) { disown(live, owners...) })
	return s
}

func disown(live object.Object, owners ...string) {
	left := slices.DeleteFunc(live.List("metadata", "ownerReferences"), func(v any) bool {
		ref, _ := v.(map[string]any)
		return slices.Contains(owners, object.Object(ref).String("uid"))
	})
	if len(left) == 0 {
		live.Remove("metadata", "ownerReferences")
	} else {
		live.Set(left, "metadata", "ownerReferences")
	}
}
