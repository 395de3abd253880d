package fake_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

// lively runs a test in virtual time, with a server that runs the given controllers.
func lively(t *testing.T, controllers []string, f func(is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(is.New(t), client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: controllers})})
	})
}

// scheduled runs a test in virtual time, with a server that runs the scheduler.
func scheduled(t *testing.T, f func(is *is.I, c client)) {
	t.Helper()
	lively(t, []string{"kube-scheduler"}, f)
}

// node creates a node with a number of CPUs that accepts pods. labels is JSON text that follows the first label.
func (c client) node(name, cpu, labels string) {
	c.t.Helper()
	room := fmt.Sprintf(`{"cpu":%q,"memory":"8Gi","pods":"110"}`, cpu)
	c.must("POST", "/api/v1/nodes", fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q%s}},"status":{"allocatable":%s,"capacity":%s}}`,
		name, name, labels, room, room))
	c.mergePatch("/api/v1/nodes/"+name, `{"spec":{"taints":null}}`)
}

// pod creates a pod with a CPU request. spec is JSON text that precedes the containers in the spec.
func (c client) pod(name, cpu, spec string) {
	c.t.Helper()
	c.must("POST", inPods, fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":%q}},"spec":{%s"containers":[{"name":"c","image":"i",
		"resources":{"requests":{"cpu":%q}}}]}}`, name, name, spec, cpu))
}

// on returns the node of a pod.
func (c client) on(name string) string {
	c.t.Helper()
	return c.must("GET", inPods+"/"+name, "").String("spec", "nodeName")
}

// why returns the message of a pod's condition PodScheduled.
func (c client) why(name string) string {
	c.t.Helper()
	for _, x := range c.must("GET", inPods+"/"+name, "").Objects("status", "conditions") {
		if x.String("type") == "PodScheduled" {
			return x.String("message")
		}
	}
	return ""
}

// notes returns the notes of the events that have a reason.
func (c client) notes(reason string) (notes []string) {
	c.t.Helper()
	for _, e := range c.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events", "").Objects("items") {
		if e.String("reason") == reason {
			notes = append(notes, e.String("note"))
		}
	}
	return notes
}

func TestSchedules(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		c.node("small", "1", "")
		c.node("large", "4", "")
		c.pod("p", "2", "")
		is.Equal(c.on("p"), "large")
		is.Equal(c.notes("Scheduled"), []string{"Successfully assigned default/p to large"})
		c.pod("q", "3", "")
		is.Equal(c.on("q"), "")
		is.Equal(c.why("q"), "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: "+
			"1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.")
		c.pod("other", "1", `"schedulerName":"other",`)
		is.Equal(c.on("other"), "") // it is for another scheduler
	})
}

// TestTriesAgain checks that a rejected pod is retried when an event has occurred that could make it schedulable, and
// not before.
func TestTriesAgain(t *testing.T) {
	for _, test := range []struct {
		name   string
		spec   string
		before func(c client)
		help   func(c client)
	}{
		{"a node", "", func(client) {}, func(c client) { c.node("n", "4", "") }},
		{"a larger node", "", func(c client) { c.node("n", "1", "") }, func(c client) {
			c.mergePatch("/api/v1/nodes/n/status", `{"status":{"allocatable":{"cpu":"2"}}}`)
		}},
		{"a pod that goes", "", func(c client) { c.node("n", "2", ""); c.pod("first", "2", "") }, func(c client) {
			c.must("DELETE", inPods+"/first", `{"gracePeriodSeconds":0}`)
		}},
		{"a pod that ends", "", func(c client) { c.node("n", "2", ""); c.pod("first", "2", "") }, func(c client) {
			c.mergePatch(inPods+"/first/status", `{"status":{"phase":"Succeeded"}}`)
		}},
		{"a taint taken", "", func(c client) {
			c.node("n", "4", "")
			c.mergePatch("/api/v1/nodes/n", `{"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}}`)
		}, func(c client) { c.mergePatch("/api/v1/nodes/n", `{"spec":{"taints":null}}`) }},
		{"a label given", `"nodeSelector":{"disk":"ssd"},`, func(c client) { c.node("n", "4", "") }, func(c client) {
			c.mergePatch("/api/v1/nodes/n", `{"metadata":{"labels":{"disk":"ssd"}}}`)
		}},
		{"gates removed", `"schedulingGates":[{"name":"example.com/g"}],`, func(c client) { c.node("n", "4", "") }, func(c client) {
			c.mergePatch(inPods+"/p", `{"spec":{"schedulingGates":null}}`)
		}},
		{"a pod to be with", `"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"kubernetes.io/hostname",
			"labelSelector":{"matchLabels":{"app":"friend"}}}]}},`, func(c client) { c.node("n", "4", "") }, func(c client) { c.pod("friend", "1", "") }},
		{"five minutes", `"nodeSelector":{"kubernetes.io/hostname":"n"},"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
			[{"topologyKey":"kubernetes.io/hostname","labelSelector":{"matchLabels":{"app":"foe"}}}]}},`, func(c client) {
			c.node("n", "4", "")
			c.pod("foe", "1", "")
		}, func(c client) { // no event of this change puts the pod back into the queue
			c.mergePatch(inPods+"/foe", `{"metadata":{"labels":{"app":"friend"}}}`)
			time.Sleep(5*time.Minute + 1)
			synctest.Wait()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			scheduled(t, func(is *is.I, c client) {
				test.before(c)
				c.pod("p", "2", test.spec)
				is.Equal(c.on("p"), "")
				test.help(c)
				is.Equal(c.on("p"), "n")
			})
		})
	}
}

// TestOrder checks that the pod with the highest priority is scheduled first. Among pods of equal priority the oldest
// is first.
func TestOrder(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		c.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high"},"value":10,"preemptionPolicy":"Never"}`)
		c.pod("first", "1", "")
		c.pod("second", "1", "")
		c.pod("third", "1", `"priorityClassName":"high",`)
		c.node("n", "2", "")
		is.Equal([]string{c.on("first"), c.on("second"), c.on("third")}, []string{"n", "", "n"})
	})
}

func TestPreemption(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		for name, value := range map[string]string{"low": "1", "middle": "5", "high": "10"} {
			c.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"`+name+`"},"value":`+value+`}`)
		}
		c.node("n1", "2", "")
		c.node("n2", "2", "")
		c.pod("guarded", "2", `"priorityClassName":"low","nodeSelector":{"kubernetes.io/hostname":"n1"},`)
		c.pod("middle", "1", `"priorityClassName":"middle","nodeSelector":{"kubernetes.io/hostname":"n2"},`)
		c.pod("low", "1", `"priorityClassName":"low","nodeSelector":{"kubernetes.io/hostname":"n2"},`)
		c.must("POST", "/apis/policy/v1/namespaces/default/poddisruptionbudgets", `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"guarded"}}}}`)
		c.pod("high", "1", `"priorityClassName":"high",`)

		is.Equal(c.must("GET", inPods+"/high", "").String("status", "nominatedNodeName"), "n2") // a budget protects the pod on n1
		victim := c.must("GET", inPods+"/low", "")
		is.True(victim.DeletionTimestamp() != "") // the least important pod is deleted, with its grace period
		conditions := victim.Objects("status", "conditions")
		is.Equal(conditions[len(conditions)-1].String("reason"), "PreemptionByScheduler")
		is.Equal(len(c.notes("Preempted")), 1)
		is.Equal(c.on("high"), "")
		c.pod("late", "1", `"priorityClassName":"middle","nodeSelector":{"kubernetes.io/hostname":"n2"},`)
		c.must("DELETE", inPods+"/low", `{"gracePeriodSeconds":0}`)
		is.Equal([]string{c.on("high"), c.on("late")}, []string{"n2", ""}) // the space is reserved for the pod that preempted the other
	})
}

// TestForkSchedules checks that a fork continues with the scheduler's queue and nominated nodes.
func TestForkSchedules(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		c.node("n", "1", "")
		c.pod("p", "1", "")
		c.pod("q", "1", "")
		fork := client{c.t, c.srv.Fork()}
		for _, x := range []client{c, fork} {
			x.must("DELETE", inPods+"/p", `{"gracePeriodSeconds":0}`)
			is.Equal(x.on("q"), "n")
		}
	})
}

// TestSpreads checks that hundreds of pods are spread over the nodes without repeated work: each pod causes one binding
// and one event.
func TestSpreads(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		for i := range 10 {
			c.node(fmt.Sprintf("n%d", i), "8", "")
		}
		before := c.revision()
		pods := 300
		if testing.Short() {
			pods = 100
		}
		for i := range pods {
			c.pod(fmt.Sprintf("p%d", i), "100m", "")
		}
		is.Equal(c.revision()-before, int64(3*pods))
		count := map[string]int{}
		for _, p := range c.must("GET", inPods, "").Objects("items") {
			count[p.String("spec", "nodeName")]++
		}
		var counts []int
		for _, n := range count {
			counts = append(counts, n)
		}
		is.True(slices.Max(counts)-slices.Min(counts) <= 1)
	})
}

// revision returns the store's revision.
func (c client) revision() (n int64) {
	list := c.must("GET", inPods+"?limit=1", "")
	_, _ = fmt.Sscan(list.String("metadata", "resourceVersion"), &n)
	return n
}

// TestSeries checks that a pod that is rejected repeatedly gets one event with a count, and that its status is written
// once.
func TestSeries(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		c.node("n", "1", "")
		c.pod("p", "2", "")
		for range 3 {
			time.Sleep(5*time.Minute + time.Second)
			synctest.Wait()
		}
		var all []object.Object
		for _, e := range c.must("GET", "/apis/events.k8s.io/v1/namespaces/default/events", "").Objects("items") {
			if strings.HasPrefix(e.Name(), "p.") {
				all = append(all, e)
			}
		}
		is.Equal(len(all), 2) // the first event refers to the pod before its status was written
		is.Equal(all[1].Int64("series", "count"), int64(2))
	})
}

// TestIdleScheduler checks that without nodes, no pod is retried. Without pods, the scheduler does nothing.
func TestIdleScheduler(t *testing.T) {
	scheduled(t, func(is *is.I, c client) {
		c.pod("p", "1", "")
		is.Equal(c.why("p"), "no nodes available to schedule pods")
		before := c.revision()
		pass(50 * time.Minute) // after an hour the event expires
		is.Equal(c.revision(), before)
		c.node("n", "1", "")
		is.Equal(c.on("p"), "n")
	})
}
