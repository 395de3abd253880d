// Package workload is shared by the controllers of pods: ownership, the order of deletion, and expectations.
//
//	Owner     a kind whose objects control others: Watch, Of
//	Workload  one such object: Candidates ─▶ Claim (adopt, let go) ─▶ CreatePod, DeletePod ─▶ WriteStatus
//	Pod       the fields that controllers read of a pod, extracted from its item once
//	Expectations  creations and deletions of pods that the cache does not show yet
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

// Pods is where pods are stored.
const Pods = "pods"

// Owner is a kind of which objects control others.
type Owner struct {
	Resource  string // its storage name
	Plain     bool   // spec.selector is a map of labels
	Finalizer string // set on adoption and removed on release, if not empty
}

// Workload is an object that has Pods, or objects that have.
type Workload struct {
	Owner
	API      *controller.Client
	Object   object.Object
	Selector selector.Labels
	Member   func(*resource.Item) bool // a further condition for selected objects, if not nil
}

// Of returns what the cache has of a workload, and false if it has nothing.
func (o Owner) Of(api *controller.Client, key controller.Key) (w Workload, ok bool) {
	obj := api.Get(o.Resource, key.Namespace, key.Name)
	if obj == nil {
		return w, false
	}
	w = Workload{Owner: o, API: api, Object: obj, Selector: o.selector(obj)}
	return w, true
}

// selector returns what an object of the kind selects.
func (o Owner) selector(obj object.Object) selector.Labels {
	if o.Plain {
		return selector.FromSet(object.StringMap(obj.Map("spec", "selector")))
	}
	labels, _ := selector.FromLabelSelector(obj.Map("spec", "selector")) // it was validated
	return labels
}

// ownerFacts are the values that are cached with the item of an object of the kind.
type ownerFacts struct {
	uid      string
	selector selector.Labels
}

func (o Owner) facts(it *resource.Item) *ownerFacts {
	return resource.Derived(it, func(obj object.Object) *ownerFacts { return &ownerFacts{obj.UID(), o.selector(obj)} })
}

// Watch watches what objects of the kind control: its keys are those of the controllers of an object, before and after a
// commit, and of the objects that could adopt an orphan. seen, if not nil, is called for each object with a controller.
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

// Controls returns the key of the object of the kind that controls another, and whether anything does.
func (o Owner) Controls(api *controller.Client, it *resource.Item) (key controller.Key, controlled bool) {
	ref := resource.Derived(it, readDependent).Ref()
	if ref == nil {
		return key, false
	}
	d := api.OfKind(ref.String("apiVersion"), ref.String("kind"))
	if d == nil || d.Storage != o.Resource {
		return key, true
	}
	owner := api.Item(o.Resource, it.Namespace, ref.String("name"))
	if owner == nil || o.facts(owner).uid != ref.String("uid") {
		return key, true
	}
	return controller.Key{Namespace: it.Namespace, Name: ref.String("name")}, true
}

// Adopters returns the keys of the objects of the kind that select an orphan.
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

// Ref is the reference of what the workload controls.
func (w *Workload) Ref() map[string]any {
	return map[string]any{"apiVersion": w.Object.APIVersion(), "kind": w.Object.Kind(), "name": w.Object.Name(), "uid": w.Object.UID(),
		"controller": true, "blockOwnerDeletion": true}
}

// Candidates returns the objects that the workload controls, and the objects of its namespace without a controller.
func (w *Workload) Candidates(of string) (all []*resource.Item) {
	for _, ref := range w.API.Owned(w.Object.UID()) {
		if ref.Resource == of && ref.Namespace == w.Object.Namespace() {
			if it := w.API.Item(of, ref.Namespace, ref.Name); it != nil {
				all = append(all, it)
			}
		}
	}
	for _, ref := range w.API.Unowned(of, w.Object.Namespace()) {
		if it := w.API.Item(of, ref.Namespace, ref.Name); it != nil {
			all = append(all, it)
		}
	}
	return all
}

// Claim returns the objects that the workload controls. It adopts matching objects without a controller, and releases objects that it does
// not select any more (controller.BaseControllerRefManager). failed is the last failure.
func (w *Workload) Claim(of string, candidates []*resource.Item) (mine []*resource.Item, failed *status.Status) {
	me, deleting := w.Object.UID(), w.Object.DeletionTimestamp() != ""
	for _, it := range candidates {
		facts := resource.Derived(it, readDependent)
		owner := facts.Owner()
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
		case owner == "" && selected && !deleting && !facts.Going():
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

// dependent is an object that could have a controller: an object, or the cached facts of a pod.
type dependent interface {
	Ref() object.Object // to its controller, nil if it has none
	Owner() string      // the uid of its controller, or ""
	Going() bool        // it was deleted
}

type dependentFacts struct {
	ref   object.Object
	owner string
	going bool
}

func readDependent(obj object.Object) dependent {
	ref := ControllerOf(obj)
	return &dependentFacts{ref, ref.String("uid"), obj.DeletionTimestamp() != ""}
}

func (d *dependentFacts) Ref() object.Object { return d.ref }
func (d *dependentFacts) Owner() string      { return d.owner }
func (d *dependentFacts) Going() bool        { return d.going }

// Adopt makes the workload the controller of an object, unless the API server knows that the workload is to go.
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

// release takes what makes an object the workload's from it.
func (w *Workload) release(of string, it *resource.Item) *status.Status {
	s := w.API.Patch(of, "", controller.Key{Namespace: it.Namespace, Name: it.Name}, func(live object.Object) {
		disown(live, w.Object.UID())
		if w.Finalizer != "" {
			live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(f string) bool { return f == w.Finalizer }))
		}
	})
	return s
}

// NewPod returns a pod of a template, whose parts it takes, that has yet to be made (controller.GetPodFromTemplate).
func (w *Workload) NewPod(template object.Object) object.Object {
	meta := map[string]any{"generateName": NamePrefix(w.Object.Name()), "namespace": w.Object.Namespace(), "ownerReferences": []any{w.Ref()}}
	for _, name := range []string{"labels", "annotations", "finalizers"} {
		if v, ok := template.Get("metadata", name); ok {
			meta[name] = v
		}
	}
	return object.Object{"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": template.Map("spec")}
}

// CreatePod makes a pod of the workload's template, and says so in an event.
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
		_ = w.API.Event(w.Object, "Normal", "SuccessfulCreate", "Created pod: "+made.Name) // a lost event is not recorded again
	case !Terminating(s):
		_ = w.API.Event(w.Object, "Warning", "FailedCreate", "Error creating: "+s.Message)
	}
	return s
}

// NamePrefix returns what generated names of an owner's objects begin with: the owner's name, and a hyphen where it leaves a valid name.
func NamePrefix(name string) string {
	if len(name) > 252 { // NameIsDNSSubdomain, with the hyphen
		return name
	}
	return name + "-"
}

// DeletePod deletes a pod of the workload, and says so in an event.
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

// Terminating reports whether something was refused because its namespace is being deleted.
func Terminating(s *status.Status) bool {
	return s.Details != nil && slices.ContainsFunc(s.Details.Causes, func(c status.Cause) bool { return c.Reason == "NamespaceTerminating" })
}

// Slowly does something count times, one time at first and then as often as it has gone well, until it fails: what cannot
// work is not tried a thousand times. It returns how often it has gone well (controller.slowStartBatch).
func Slowly(count int, do func() *status.Status) (done int, failed *status.Status) {
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

// SetCounts sets numbers; a field with omitempty is not there when it is 0.
func SetCounts(obj object.Object, numbers map[string]int64) {
	for name, n := range numbers { // order does not matter
		if delete(obj, name); n != 0 {
			obj[name] = n
		}
	}
}

// WriteStatus writes the status of a workload. On a conflict it reads the workload again and retries once.
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

// Found is a failure that is not one when it says that the object is gone.
func Found(s *status.Status) *status.Status {
	if s != nil && s.Reason == status.ReasonNotFound {
		return nil
	}
	return s
}

// Disown takes references to owners from an object.
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
