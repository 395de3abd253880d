package server

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	finalizing = "CRDFinalizer"

	// cleanupPoll is how often the server checks whether the objects of a deleted definition are gone, cleanupMax the time after
	// which it reports a failure, and cleanupRetry the time until it tries again.
	cleanupPoll  = 5 * time.Second
	cleanupMax   = time.Minute
	cleanupRetry = 5 * time.Millisecond
)

// Finalizing deletes the objects of definitions that are being deleted, and then lets these go (apiextensions-apiserver,
// pkg/controller/finalizer).
func Finalizing() controller.Controller {
	return Own(finalizing, &finalizer{}, definitions)
}

// finalizer remembers the deletions that go on, by name of the definition.
type finalizer struct{ cleaning map[string]Cleanup }

// Cleanup is an ongoing deletion of the objects of a definition.
type Cleanup struct {
	Began time.Time
	Next  time.Time // time of the next check; zero if the finalizer is removed already
	Retry bool      // the next check starts the deletion again
}

// Memory implements controller.Rememberer.
func (f *finalizer) Memory() any { return &f.cleaning }

// Reconcile implements controller.Reconciler.
func (f *finalizer) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	name := key.Name
	obj := sketch(api, name)
	if obj == nil {
		delete(f.cleaning, name)
		return 0, nil
	}
	work, goesOn := f.cleaning[name]
	switch left := work.Next.Sub(api.Now()); {
	case goesOn && work.Next.IsZero():
		return 0, nil
	case goesOn && left > 0:
		return left, nil
	case goesOn && !work.Retry:
		return f.await(api, name, work), nil
	case obj.DeletionTimestamp() == "" || !slices.Contains(obj.Finalizers(), crd.CleanupFinalizer):
		delete(f.cleaning, name)
		return 0, nil
	}
	return f.begin(api, name, obj), nil
}

// begin deletes the objects of a definition.
func (f *finalizer) begin(api *controller.Client, name string, obj object.Object) (again time.Duration) {
	work := Cleanup{Began: api.Now()}
	f.put(name, work)
	terminating(api, name, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	switch {
	case name == crd.Storage || name == APIServices: // their objects are where those of the definition would be
		release(api, name, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
		return 0
	case !crd.IsTrue(obj, crd.Established):
		release(api, name, "NeverEstablished", "resource was never established")
		return 0
	}
	objects(api, name, func(it *resource.Item) bool {
		_ = api.Delete(name, controller.Key{Namespace: it.Namespace, Name: it.Name}, controller.Preconditions{}) // looked at again below
		return true
	})
	return f.await(api, name, work)
}

// objects yields the objects of a definition. A definition whose resource is built in has none: the existing objects do not belong
// to it.
func objects(api *controller.Client, name string, yield func(*resource.Item) bool) {
	if d := api.Definition(name); d == nil || d.Custom {
		api.Items(name, "", yield)
	}
}

// await lets a definition go once its objects are gone.
func (f *finalizer) await(api *controller.Client, name string, work Cleanup) (again time.Duration) {
	left := false
	objects(api, name, func(*resource.Item) bool { left = true; return false })
	if !left {
		f.put(name, Cleanup{Began: work.Began})
		release(api, name, "InstanceDeletionCompleted", "removed all instances")
		return 0
	}
	again, work.Retry = cleanupPoll, false
	if api.Now().Sub(work.Began) >= cleanupMax {
		terminating(api, name, "True", "InstanceDeletionCheck", "could not confirm zero CustomResources remaining: context deadline exceeded")
		again, work.Retry = cleanupRetry, true
	}
	work.Next = api.Now().Add(again)
	f.put(name, work)
	return again
}

func (f *finalizer) put(name string, work Cleanup) {
	if f.cleaning == nil {
		f.cleaning = map[string]Cleanup{}
	}
	f.cleaning[name] = work
}

// terminating writes the condition Terminating of a definition.
func terminating(api *controller.Client, name, value, reason, message string) {
	edit(api, name, func(obj object.Object) bool {
		crd.SetCondition(obj, api.Now(), crd.Terminating, value, reason, message)
		return true
	})
}

// release removes the finalizer that keeps a definition.
func release(api *controller.Client, name, reason, message string) {
	edit(api, name, func(obj object.Object) bool {
		crd.SetCondition(obj, api.Now(), crd.Terminating, "False", reason, message)
		obj.SetFinalizers(slices.DeleteFunc(obj.Finalizers(), func(name string) bool { return name == crd.CleanupFinalizer }))
		return true
	})
}
