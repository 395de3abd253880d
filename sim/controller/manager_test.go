package controller_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

func start(t testing.TB, names ...string) (*world, *controller.Manager) {
	t.Helper()
	w := newWorld(t, mvcc.New(1), clock.Epoch())
	m := w.run(names...)
	m.Stepped = true
	return w, m
}

// TestStep checks that a step performs one reconcile, and that an object that is written twice before its reconcile is reconciled
// once.
func TestStep(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a", "b")
	is.True(m.Idle())
	w.put(t, "x", "k")
	w.put(t, "x", "l")
	w.put(t, "y", "k")
	is.True(m.Step())
	is.Equal(w.took(), "a x 1")
	is.Equal(len(m.ReconcileAll()), 0)
	is.Equal(w.took(), "b x 1, a y 1, b y 1") // oldest first; for the same commit, in the order of the controllers
	is.True(!m.Step())
}

// TestOwnWrite checks that an object which its own reconcile has written is queued behind the items that the reconcile has
// caused.
func TestOwnWrite(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w := newWorld(t, mvcc.New(1), clock.Epoch())
	var done []string
	w.manager = controller.New(&w.Log, w.Schedule, &w.Streams, w, nil, controller.Controller{Name: "a", FieldManager: "a",
		Watches: []controller.Watch{{Resource: "configmaps"}},
		Reconciler: controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			if done = append(done, key.Name); len(done) == 1 {
				s := api.Patch("configmaps", "", key, func(live object.Object) { live.Set("x", "data", "own") })
				is.True(s == nil)
				w.put(t, "y", "k")
			}
			return 0, nil
		})})
	w.Log.Listeners = append(w.Log.Listeners, w.manager)
	w.manager.Stepped = true
	w.put(t, "x", "k")
	w.manager.ReconcileAll()
	is.Equal(done, []string{"x", "y", "x"})
}

// TestAgainAndFailures checks that Next returns the time of an item that is to be reconciled again, and that the delay of a
// failing item grows.
func TestAgainAndFailures(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a")
	w.put(t, "x", "again")
	m.ReconcileAll()
	next, ok := m.Next()
	is.True(ok)
	is.Equal(next, clock.Epoch().Add(time.Second))
	w.Clock.Advance(time.Second)
	is.True(!m.Idle()) // it is due and waits for a step
	w.put(t, "x", "done")
	m.ReconcileAll()
	is.Equal(w.took(), "a x 1, a x 2")
	_, ok = m.Next()
	is.True(!ok) // nothing will be due without a further write

	w.put(t, "x", "fail")
	for _, pause := range []time.Duration{5, 10, 20, 40} {
		m.ReconcileAll()
		next, _ = m.Next()
		is.Equal(next.Sub(w.Clock.Now()), pause*time.Millisecond)
		w.Clock.AdvanceTo(next)
	}
	w.put(t, "x", "done")
	m.ReconcileAll()
	is.Equal(len(m.Queue().Failures()), 0) // the success resets the failures
}

// TestTimers checks that a Manager that is not stepped reconciles waiting items when they are due.
func TestTimers(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a")
	m.Stepped = false
	w.put(t, "x", "again")
	m.ReconcileAll()
	w.Clock.Advance(3500 * time.Millisecond)
	is.Equal(w.took(), "a x 1, a x 2, a x 3, a x 4")
}

// TestOrder checks that a plan and then random choices determine the order, and that the order is the same for the same seed.
func TestOrder(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	run := func(plan ...controller.Item) string {
		w, m := start(t, "a", "b", "c")
		m.Order, m.Plan = controller.Drawn{Random: &w.Streams}, plan
		w.put(t, "x", "k")
		w.put(t, "y", "k")
		m.ReconcileAll()
		return w.took()
	}
	drawn := run()
	is.Equal(run(), drawn)                                       // the same seed
	is.True(drawn != "a x 1, b x 1, c x 1, a y 1, b y 1, c y 1") // not sorted by age
	y := controller.Item{Controller: "c", Key: controller.Key{Namespace: "default", Name: "y"}}
	is.Equal(run(y)[:5], "c y 1")
}

// TestTrouble tests Stop, Crash and Delay.
func TestTrouble(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a", "b")
	is.NoErr(m.Stop("a"))
	w.put(t, "x", "k")
	m.ReconcileAll()
	is.Equal(w.took(), "b x 1") // a does nothing
	is.NoErr(m.Start("a"))
	m.ReconcileAll()
	is.Equal(w.took(), "a x 1") // it continues with its queue

	is.NoErr(m.Crash("a"))
	w.put(t, "y", "k")
	m.ReconcileAll()
	is.NoErr(m.Start("a"))
	m.ReconcileAll()
	is.Equal(w.took(), "b y 1, a x 1, a y 1") // it has lost its state, and lists all objects

	is.NoErr(m.Delay("a", time.Second))
	w.put(t, "x", "l")
	m.ReconcileAll()
	is.Equal(w.took(), "b x 2")
	w.Clock.Advance(time.Second)
	m.ReconcileAll()
	is.Equal(w.took(), "a x 2")
	is.NoErr(m.Delay("a", 0))

	is.Equal(m.Stop("z").Error(), `there is no controller "z": there are a, b`)
}

// TestLag checks that a controller with lagging informers is not notified of commits, and reads objects from before the lag.
func TestLag(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a")
	w.put(t, "x", "k")
	m.ReconcileAll()
	is.NoErr(m.Lag("a"))
	w.put(t, "y", "k")
	w.put(t, "y", "l")
	m.ReconcileAll()
	is.Equal(w.took(), "a x 1") // not notified of y
	m.Add("a", controller.Key{Namespace: "default", Name: "y"})
	m.ReconcileAll()
	is.Equal(w.took(), "a y 1 gone") // its cache does not contain y
	is.Equal(len(m.Client("a").List("configmaps", "", selector.Labels{})), 1)
	is.True(m.Client("a").Live("configmaps", "default", "y") != nil) // the API server has y
	is.NoErr(m.Resume("a"))
	m.ReconcileAll()
	is.Equal(w.took(), "a y 2")

	is.NoErr(m.Lag("a"))
	w.put(t, "z", "k")
	w.put(t, "z", "l")
	is.NoErr(w.Log.Store.Compact(w.Log.Store.Rev()))
	is.NoErr(m.Resume("a"))
	m.ReconcileAll()
	is.Equal(w.took(), "a x 2, a y 3, a z 1") // the store has compacted the missed commits, so it lists all objects
}

// TestStateRoundTrip checks that an encoded, decoded and loaded State behaves like the original Manager.
func TestStateRoundTrip(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a", "b", "c", "d")
	w.put(t, "again", "again")
	w.put(t, "fail", "fail")
	m.ReconcileAll()
	is.NoErr(m.Stop("b"))
	is.NoErr(m.Delay("c", 3*time.Second))
	is.NoErr(m.Crash("d"))
	w.put(t, "x", "k")
	m.Plan = []controller.Item{{Controller: "b", Key: controller.Key{Name: "never"}}}
	w.took()
	text, err := json.Marshal(m.State())
	is.NoErr(err)

	store, err := w.Log.Store.Fork(0)
	is.NoErr(err)
	f := newWorld(t, store, w.Clock.Now())
	g := f.run("a", "b", "c", "d")
	g.Stepped = true
	var s controller.State
	is.NoErr(json.Unmarshal(text, &s))
	is.NoErr(g.Load(&s))
	again, err := json.Marshal(g.State())
	is.NoErr(err)
	is.Equal(string(again), string(text)) // the States are equal

	for _, x := range []struct {
		w *world
		m *controller.Manager
	}{{w, m}, {f, g}} {
		for range 5 {
			x.w.Clock.Advance(time.Second)
			x.m.ReconcileAll()
		}
		is.NoErr(x.m.Start("b"))
		is.NoErr(x.m.Start("d"))
		x.m.ReconcileAll()
	}
	is.Equal(f.took(), w.took()) // both behave identically
}

// TestClient checks that a controller's writes have preconditions, and that its repeated events are counted.
func TestClient(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a")
	w.put(t, "x", "k")
	api, key := m.Client("a"), controller.Key{Namespace: "default", Name: "x"}

	old := api.Get("configmaps", "default", "x")
	w.put(t, "x", "l")
	old.Set("late", "data", "k")
	_, s := api.Update("configmaps", "", old)
	is.Equal(s.Code, 409) // it has been modified in the meantime
	s = api.Patch("configmaps", "", key, func(live object.Object) { live.Set("1", "data", "m") })
	is.True(s == nil)
	obj, s := api.Apply("configmaps", "", key, object.Object{"data": map[string]any{"n": "2"}})
	is.True(s == nil)
	is.Equal(obj.Map("data"), map[string]any{"l": "x", "m": "1", "n": "2"})
	is.Equal(api.Delete("configmaps", key, controller.Preconditions{UID: "other"}).Code, 409)
	is.True(api.Delete("configmaps", key, controller.Preconditions{UID: obj.UID()}) == nil)
	_, s = api.Create("nothing", object.Object{})
	is.Equal(s.Code, 404)

	for range 3 {
		is.True(api.Event(obj, "Normal", "Seen", "it was seen") == nil)
	}
	is.True(api.Event(obj, "Warning", "Gone", "it is gone") == nil)
	counts := map[string]int64{}
	for _, e := range api.List("events", "default", selector.Labels{}) {
		counts[e.String("reason")], _ = e.Int("count")
	}
	is.Equal(counts, map[string]int64{"Seen": 3, "Gone": 1})
}

// TestLagNames checks that Lag accepts resources by the names that users use. An unknown name is an error and has no effect.
func TestLagNames(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	w, m := start(t, "a")
	is.Equal(m.Lag("a", "nothing").Error(), `there is no resource "nothing"`)
	w.put(t, "x", "k")
	m.ReconcileAll()
	is.Equal(w.took(), "a x 1") // it was notified
}
