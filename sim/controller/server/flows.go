package server

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	dangling = "priority-and-fairness-config-consumer"
	ensuring = "priority-and-fairness-config-producer"

	// EnsureInterval is the interval at which API servers check the flow schemas and priority levels that they created
	// (PostStartHook of the group flowcontrol.apiserver.k8s.io).
	EnsureInterval = time.Minute
)

// flows returns watches of flow schemas and priority levels. They share a single key.
func flows(others bool) []controller.Watch {
	all := func(*controller.Client, *commit.Commit) []controller.Key { return []controller.Key{{}} }
	return []controller.Watch{{Resource: flowcontrol.Schemas, Keys: all, Others: others}, {Resource: flowcontrol.Levels, Keys: all, Others: others}}
}

// Dangling maintains the condition of flow schemas that reports whether their priority level exists (k8s.io/apiserver,
// pkg/util/flowcontrol).
func Dangling() controller.Controller {
	c := Own(dangling, &marker{memory: marked{Recent: map[string][]time.Time{}}}, flows(false)...)
	c.FieldManager = flowcontrol.Consumer
	return c
}

// markMost is the maximum number of condition updates of a flow schema within markWindow. API servers with different caches may
// write opposite conditions. After markMost updates, the controller waits 30 to 75 seconds.
const (
	markMost   = 6
	markWindow = time.Minute
)

// marker contains the times at which it updated the status of flow schemas.
type marker struct{ memory marked }

type marked struct {
	Recent map[string][]time.Time `json:",omitzero"` // by name of the flow schema; only times within markWindow
}

// Memory implements controller.Rememberer.
func (m *marker) Memory() any { return &m.memory }

// Reconcile implements controller.Reconciler.
func (m *marker) Reconcile(api *controller.Client, _ controller.Key) (again time.Duration, _ *status.Status) {
	m.forget(api.Now())
	api.Items(flowcontrol.Schemas, "", func(it *resource.Item) bool {
		schema := it.Object()
		found := api.Item(flowcontrol.Levels, "", flowcontrol.Level(schema)) != nil
		condition, changes := flowcontrol.Dangling(schema, found)
		switch {
		case !changes:
		case len(m.memory.Recent[it.Name]) >= markMost:
			if again == 0 {
				again = time.Duration(30+api.Random(45)) * time.Second
			}
		default:
			m.memory.Recent[it.Name] = append(m.memory.Recent[it.Name], api.Now())
			condition["lastTransitionTime"] = object.Time(api.Now())
			_, _ = api.Apply(flowcontrol.Schemas, "status", controller.Key{Name: it.Name}, // fails if the flow schema was deleted, which is not an error
				object.Object{"status": map[string]any{"conditions": []any{condition}}})
		}
		return true
	})
	return again, nil
}

// forget drops the times older than markWindow.
func (m *marker) forget(now time.Time) {
	if m.memory.Recent == nil { // the map is nil after a State was loaded from an archive
		m.memory.Recent = map[string][]time.Time{}
	}
	for name, times := range m.memory.Recent { // order does not matter
		times = slices.DeleteFunc(times, func(at time.Time) bool { return now.Sub(at) > markWindow })
		if m.memory.Recent[name] = times; len(times) == 0 {
			delete(m.memory.Recent, name)
		}
	}
}

// Ensuring restores the flow schemas and priority levels that API servers created, within a minute of a change. It also deletes
// other objects that are marked as maintained by API servers (kube-apiserver, pkg/registry/flowcontrol/ensurer).
func Ensuring() controller.Controller {
	c := Own(ensuring, &ensurer{}, flows(true)...)
	c.FieldManager = flowcontrol.Producer
	return c
}

// ensurer contains the time of its next check.
type ensurer struct{ memory ensured }

type ensured struct {
	Due time.Time `json:",omitzero"` // zero if nothing is due before an object changes
}

// Memory implements controller.Rememberer.
func (e *ensurer) Memory() any { return &e.memory }

// Reconcile implements controller.Reconciler.
func (e *ensurer) Reconcile(api *controller.Client, _ controller.Key) (time.Duration, *status.Status) {
	if e.memory.Due.IsZero() {
		e.memory.Due = api.Now().Add(EnsureInterval)
	}
	if left := e.memory.Due.Sub(api.Now()); left > 0 {
		return left, nil
	}
	for _, storage := range []string{flowcontrol.Levels, flowcontrol.Schemas} {
		ensure(api, storage)
	}
	e.memory.Due = time.Time{}
	return 0, nil
}

// ensure restores the objects of one kind.
func ensure(api *controller.Client, storage string) {
	made := boot.Objects(api.Minor(), api.Definition(storage).Kind)
	for _, name := range object.SortedKeys(made) {
		ensureOne(api, storage, made[name])
	}
	api.Items(storage, "", func(it *resource.Item) bool {
		if made[it.Name] == nil && flowcontrol.Unwanted(it.Object()) {
			_ = api.Delete(storage, controller.Key{Name: it.Name}, controller.Preconditions{}) // may fail if a finalizer keeps the object
		}
		return true
	})
}

// ensureOne restores an object that is missing or has been modified.
func ensureOne(api *controller.Client, storage string, made object.Object) {
	current := api.Get(storage, "", made.Name())
	if current == nil {
		d := api.Definition(storage)
		_, _ = api.Create(storage, object.Object{"kind": d.Kind, "apiVersion": d.GV(), "spec": object.Copy(made["spec"]), // the object did not exist
			"metadata": map[string]any{"name": made.Name(), "annotations": object.Copy(made.Metadata()["annotations"])}})
		return
	}
	if flowcontrol.Revise(current, made) {
		_, _ = api.Update(storage, "", current) // a conflict causes another reconcile
	}
}
