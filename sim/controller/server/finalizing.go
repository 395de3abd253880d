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

	// cleanupPoll is the interval at which the server checks whether the objects of a deleted definition are gone. After
	// cleanupMax it reports a failure, and after cleanupRetry it tries again.
	cleanupPoll  = 5 * time.Second
	cleanupMax   = time.Minute
	cleanupRetry = 5 * time.Millisecond
)

// Finalizing deletes the objects of definitions that are being deleted, and then removes the definitions' finalizer
// (apiextensions-apiserver, pkg/controller/finalizer).
func Finalizing() controller.Controller {
	return Own(finalizing, &finalizer{}, definitions)
}

// finalizer remembers the ongoing deletions, by the name of the definition.
type finalizer struct{ cleaning map[string]Cleanup }

// Cleanup is an ongoing deletion of the objects of a definition.
type Cleanup struct {
	Began time.Time
	Next  time.Time // time of the next check; zero if the finalizer has already been removed
	Retry bool      // the next check restarts the deletion
}

// Memory implements controller.Rememberer.
func (f *finalizer) Memory() any { return &f.cleaning }

// Reconcile implements controller.Reconciler.
func (f *finalizer) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	name := key.Name
	obj := definitionOutline(api, name)
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

// begin starts the deletion of the objects of a definition.
func (f *finalizer) begin(api *controller.Client, name string, obj object.Object) (again time.Duration) {
	work := Cleanup{Began: api.Now()}
	f.put(name, work)
	terminating(api, name, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	switch {
	case name == crd.Storage || name == APIServices: // this definition's objects would have the storage name of built-in objects
		release(api, name, "OverlappingBuiltInResource", "instances overlap with built-in resources in storage")
		return 0
	case !crd.IsTrue(obj, crd.Established):
		release(api, name, "NeverEstablished", "resource was never established")
		return 0
	}
	objects(api, name, func(it *resource.Item) bool {
		_ = api.Delete(name, controller.Key{Namespace: it.Namespace, Name: it.Name}, controller.Preconditions{}) // await checks the result
		return true
	})
	return f.await(api, name, work)
}

// objects calls yield with the objects of a definition. It yields none if the definition's resource is built in, because the
// objects do not belong to the definition.
func objects(api *controller.Client, name string, yield func(*resource.Item) bool) {
	if d := api.Definition(name); d == nil || d.Custom {
		api.Items(name, "", yield)
	}
}

// await removes the finalizer from a definition if its objects are gone. Otherwise it returns the delay until the next check.
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

// terminating sets the condition Terminating of a definition.
func terminating(api *controller.Client, name, value, reason, message string) {
	edit(api, name, func(obj object.Object) bool {
		crd.SetCondition(obj, api.Now(), crd.Terminating, value, reason, message)
		return true
	})
}

// release removes the finalizer from a definition.
func release(api *controller.Client, name, reason, message string) {
	edit(api, name, func(obj object.Object) bool {
		crd.SetCondition(obj, api.Now(), crd.Terminating, "False", reason, message)
		obj.SetFinalizers(slices.DeleteFunc(obj.Finalizers(), func(name string) bool { return name == crd.CleanupFinalizer }))
		return true
	})
}
