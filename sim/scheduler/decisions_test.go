package scheduler

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/registry/registrytest"
	"github.com/kubesim/kubesim/sim/resource"
)

// world is a scheduler with a separate registry. It only schedules pods when the test calls it.
type world struct {
	*registrytest.Backend
	reg *registry.Registry
	s   *Scheduler
	api *controller.Client
}

func newWorld() *world {
	w := &world{Backend: registrytest.New(mvcc.New(1), clock.Epoch()), s: &Scheduler{}}
	w.reg = w.Backend.Registry()
	m := controller.New(&w.Log, w.Schedule, &w.Streams, w, nil, w.s.controller())
	w.Log.Listeners = append(w.Log.Listeners, m)
	w.api = m.Client("kube-scheduler")
	w.s.begin(w.api)
	return w
}

func (w *world) Registry() *registry.Registry               { return w.reg }
func (w *world) Admitted() *registry.Registry               { return w.Registry() }
func (w *world) Served(string, string) *resource.Definition { return nil }
func (w *world) Minor() string                              { return "1.36" }

// create stores an object as the API server would.
func (w *world) create(t *testing.T, of string, obj object.Object) {
	t.Helper()
	if _, s := w.api.Create(of, obj); s != nil {
		t.Fatal(s.Message)
	}
}

// recorded holds the decisions of a real kube-scheduler v1.36.3 in a random cluster, in the order of the pods.
type recorded struct {
	Nodes, Namespaces, Services []object.Object
	Steps                       []struct {
		Delete  []string
		Pod     object.Object
		Node    string // the chosen node
		Message string // otherwise the reason why no node was chosen
	}
}

// TestDecisions places the pods of random clusters and compares the decisions with those of a real scheduler. If the real scheduler
// chose no node, the reasons must be equal. Otherwise its node must be among those with the highest score.
func TestDecisions(t *testing.T) {
	f, err := os.Open("testdata/decisions.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.NewDecoder(unzipped).Decode(&all); err != nil {
		t.Fatal(err)
	}
	pods := 0
	for i, r := range all {
		pods += replay(t, i, r)
	}
	t.Logf("%d pods in %d clusters", pods, len(all))
}

// replay places the pods of one recorded cluster, compares the decisions, and returns the number of pods.
func replay(t *testing.T, number int, r recorded) (pods int) {
	w := newWorld()
	for _, list := range []struct {
		of   string
		objs []object.Object
	}{{"namespaces", r.Namespaces}, {"services", r.Services}, {"nodes", r.Nodes}} {
		for _, obj := range list.objs {
			w.create(t, list.of, exact(obj))
		}
	}
	for _, obj := range r.Nodes { // new nodes have a taint
		_ = w.api.Patch("nodes", "", controller.Key{Name: obj.Name()}, func(live object.Object) {
			live.Set(exact(obj).List("spec", "taints"), "spec", "taints")
		})
	}
	for _, step := range r.Steps {
		if step.Delete != nil {
			w.delete(t, controller.Key{Namespace: step.Delete[0], Name: step.Delete[1]})
			continue
		}
		pods++
		obj := exact(step.Pod)
		key := controller.Key{Namespace: obj.Namespace(), Name: obj.Name()}
		w.create(t, workload.Pods, obj)
		c := &cycle{s: w.s, api: w.api, cluster: w.s.memory.cluster, pod: w.s.memory.pending[key]}
		fit, d := c.find()
		switch {
		case step.Message != "" && len(fit) > 0:
			t.Errorf("cluster %d, %s: fits %s, want: %s", number, key, nodeNames(fit), step.Message)
		case step.Message != "":
			c.preempt(d)
			if d.text() != step.Message {
				t.Errorf("cluster %d, %s:\n got %s\nwant %s", number, key, d.text(), step.Message)
			}
		case !slices.Contains(nodeNames(fit), step.Node):
			t.Errorf("cluster %d, %s: %s, want %s", number, key, d.text(), step.Node)
		case len(fit) > 1 && !slices.Contains(nodeNames(c.leading(fit)), step.Node):
			t.Errorf("cluster %d, %s: best are %s of %s %v, want %s", number, key, nodeNames(c.leading(fit)), nodeNames(fit), c.scores(fit), step.Node)
		}
		if step.Node == "" {
			w.delete(t, key)
		} else if _, s := w.api.Connect(workload.Pods, "binding", key, object.Object{"kind": "Binding", "apiVersion": "v1",
			"metadata": map[string]any{"name": key.Name}, "target": map[string]any{"kind": "Node", "name": step.Node}}); s != nil {
			t.Fatal(s.Message)
		}
	}
	return pods
}

// delete deletes a pod without a grace period, as in the recordings.
func (w *world) delete(t *testing.T, key controller.Key) {
	t.Helper()
	if s := w.api.Delete(workload.Pods, key, controller.Preconditions{}); s != nil {
		t.Fatal(s.Message)
	}
}

// exact converts the numbers of encoding/json to those of objects.
func exact(obj object.Object) object.Object {
	o, err := object.Parse(object.JSON(map[string]any(obj)))
	if err != nil {
		panic(err)
	}
	return o
}

func nodeNames(nodes []*node) (names []string) {
	for _, n := range nodes {
		names = append(names, n.name)
	}
	return names
}
