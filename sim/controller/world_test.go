package controller_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/builtin"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/fieldmanager"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// world is the least that controllers need: a store, a registry of built-in kinds over it, and a clock.
type world struct {
	clock    *clock.Manual
	schedule *clock.Schedule
	random   random.Streams
	log      commit.Log
	reg      *registry.Registry
	hubs     map[string]*resource.Definition
	manager  *controller.Manager
	done     []string // what was reconciled
}

func newWorld(t testing.TB, store *mvcc.Store, at time.Time) *world {
	t.Helper()
	set, err := schema.Load("1.36")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{clock: clock.NewManual(at), hubs: map[string]*resource.Definition{}}
	for _, d := range builtin.Definitions(set) {
		w.hubs[d.Storage] = d.Hub
	}
	w.random.Begin(1)
	w.schedule = clock.NewSchedule(w.clock, &sync.Mutex{})
	w.log = commit.Log{Store: store, Clock: w.clock, Known: w}
	w.reg = &registry.Registry{Backend: backend{w}, Fields: fieldmanager.New()}
	return w
}

// run makes controllers that note what they reconcile, each of the config maps of a namespace of its own name.
func (w *world) run(names ...string) *controller.Manager {
	var all []controller.Controller
	for _, name := range names {
		all = append(all, controller.Controller{Name: name, FieldManager: name, Watches: []controller.Watch{{Resource: "configmaps"}},
			Reconciler: &noter{w: w, name: name}})
	}
	w.manager = controller.New(&w.log, w.schedule, &w.random, w, all...)
	w.log.Listeners = append(w.log.Listeners, w.manager)
	return w.manager
}

// noter counts how often it was asked about each object. One whose data has "again" is asked for again after a second, one
// that has "fail" fails.
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

// put writes a config map with a key in its data, as a user.
func (w *world) put(t testing.TB, name, key string) {
	t.Helper()
	q := &registry.Request{Definition: w.hubs["configmaps"], Namespace: "default", Name: name, Manager: "user", Warn: func(string) {}}
	obj := object.Object{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": name}, "data": map[string]any{key: "x"}}
	if _, s := w.reg.Create(q, obj.Copy()); s != nil {
		_, s = w.reg.Update(q, registry.Change{Make: func(object.Object) (object.Object, *status.Status) { return obj, nil }})
		if s != nil {
			t.Fatal(s)
		}
	}
}

// took returns what was reconciled since it was last asked.
func (w *world) took() string {
	text := strings.Join(w.done, ", ")
	w.done = nil
	return text
}

func (w *world) Registry() *registry.Registry                   { return w.reg }
func (w *world) Definition(storage string) *resource.Definition { return w.hubs[storage] }
func (w *world) Served(string, string) *resource.Definition     { return nil }
func (w *world) Minor() string                                  { return "1.36" }

// backend is the world as its registry sees it.
type backend struct{ *world }

func (b backend) Store() *mvcc.Store                                 { return b.log.Store }
func (b backend) Reachable() bool                                    { return true }
func (b backend) Committed(e *mvcc.Event)                            { b.log.Committed(e) }
func (b backend) Cache(*resource.Definition) *watchcache.Cache       { return nil }
func (b backend) Unready(*resource.Definition) (time.Duration, bool) { return 0, false }
func (b backend) Await(*watchcache.Cache, uint64, func(bool))        {}
func (b backend) After(d time.Duration, f func()) (stop func())      { return b.schedule.After(d, f) }
func (b backend) Pause()                                             {}
func (b backend) Grant(ttl time.Duration, key string, rev uint64)    {}
func (b backend) Now() time.Time                                     { return b.clock.Now() }
func (b backend) Random(purpose string, n int) int                   { return b.random.Draw(purpose, n) }
