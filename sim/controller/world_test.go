package controller_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// world provides the minimum that controllers need: a store, a registry of built-in kinds, and a clock.
type world struct {
	*registrytest.Backend
	reg     *registry.Registry
	manager *controller.Manager
	done    []string // the reconciles since took was last called
}

func newWorld(t testing.TB, store *mvcc.Store, at time.Time) *world {
	t.Helper()
	w := &world{Backend: registrytest.New(store, at)}
	w.reg = w.Backend.Registry()
	return w
}

// run creates controllers that reconcile the ConfigMaps and record their calls.
func (w *world) run(names ...string) *controller.Manager {
	var all []controller.Controller
	for _, name := range names {
		all = append(all, controller.Controller{Name: name, FieldManager: name, Watches: []controller.Watch{{Resource: "configmaps"}},
			Reconciler: &noter{w: w, name: name}})
	}
	w.manager = controller.New(&w.Log, w.Schedule, &w.Streams, w, nil, all...)
	w.Log.Listeners = append(w.Log.Listeners, w.manager)
	return w.manager
}

// noter counts the reconciles of each object. If an object's data has the key "again", it is reconciled again after a second. If
// it has the key "fail", the reconcile fails.
type noter struct {
	w     *world
	name  string
	count map[string]int
}

func (n *noter) Memory() any { return &n.count }

func (n *noter) Reconcile(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	if n.count == nil {
		n.count = map[string]int{}
	}
	n.count[key.Name]++
	obj := api.Get("configmaps", key.Namespace, key.Name)
	n.w.done = append(n.w.done, fmt.Sprintf("%s %s %d", n.name, key.Name, n.count[key.Name]))
	switch {
	case obj == nil:
		n.w.done[len(n.w.done)-1] += " gone"
	case obj.String("data", "fail") != "":
		return 0, status.BadRequest("no")
	case obj.String("data", "again") != "":
		return time.Second, nil
	}
	return 0, nil
}

// put creates or updates a ConfigMap with a key in its data, as a user.
func (w *world) put(t testing.TB, name, key string) {
	t.Helper()
	q := &registry.Request{Definition: w.Hubs["configmaps"], Namespace: "default", Name: name, Manager: "user"}
	obj := object.Object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": name}, "data": map[string]any{key: "x"}}
	if _, s := w.reg.Create(q, obj.Copy()); s != nil {
		_, s = w.reg.Update(q, registry.Change{Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
		if s != nil {
			t.Fatal(s)
		}
	}
}

// took returns the reconciles since the last call.
func (w *world) took() string {
	text := strings.Join(w.done, ", ")
	w.done = nil
	return text
}

func (w *world) Admitted() *registry.Registry               { return w.reg }
func (w *world) Registry() *registry.Registry               { return w.reg }
func (w *world) Served(string, string) *resource.Definition { return nil }
func (w *world) Minor() string                              { return "1.36" }
