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
)

// nodeReady sets the Ready condition of a node.
func (c client) nodeReady(name, status string) {
	c.t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	c.mergePatch("/api/v1/nodes/"+name+"/status", `{"status":{"conditions":[{"type":"Ready","status":"`+status+`","reason":"Kubelet","message":"m",
		"lastHeartbeatTime":"`+now+`","lastTransitionTime":"`+now+`"}]}}`)
}

// taints returns the taints of a node as KEY:EFFECT.
func (c client) taints(name string) (all []string) {
	c.t.Helper()
	for _, x := range c.must("GET", "/api/v1/nodes/"+name, "").Objects("spec", "taints") {
		all = append(all, x.String("key")+":"+x.String("effect"))
	}
	return all
}

// said returns the reasons and messages of the events about an object.
func (c client) said(name string) (all []string) {
	c.t.Helper()
	for _, e := range c.must("GET", "/api/v1/namespaces/default/events", "").Objects("items") {
		if e.String("involvedObject", "name") == name {
			all = append(all, e.String("reason")+": "+e.String("message"))
		}
	}
	return all
}

func nodesLive(t *testing.T, f func(is *is.I, c client)) {
	t.Helper()
	lively(t, []string{"node-lifecycle-controller", "taint-eviction-controller", "ttl-controller"}, f)
}

const (
	unreachable = "node.kubernetes.io/unreachable"
	unready     = "node.kubernetes.io/not-ready"
)

// TestNodeLost checks that a node that has not reported for 50 seconds is lost: its condition is unknown, its pods are
// not ready, and its pods are evicted unless they tolerate that for longer.
func TestNodeLost(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		for _, name := range []string{"lost", "well"} {
			c.node(name, "4", "")
			c.nodeReady(name, "True")
			c.must("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata":{"name":"`+name+`"}}`)
		}
		c.pod("p", "1", `"nodeName":"lost",`)
		c.mergePatch(inPods+"/p/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
		beat := func(d time.Duration) {
			for range d / (10 * time.Second) {
				pass(10 * time.Second)
				c.mergePatch("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/well",
					`{"spec":{"renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
			}
		}
		beat(50 * time.Second)
		is.Equal(len(c.taints("lost")), 0)
		pass(time.Second)
		lost := c.must("GET", "/api/v1/nodes/lost", "").Objects("status", "conditions")
		is.Equal(lost[0].String("reason"), "NodeStatusUnknown")
		is.Equal(lost[1].String("message"), "Kubelet never posted node status.")
		is.Equal(c.taints("lost"), []string{unreachable + ":NoSchedule", unreachable + ":NoExecute"})
		is.Equal(c.said("lost"), []string{"RegisteredNode: Node lost event: Registered Node lost in Controller",
			"NodeNotReady: Node lost status is now: NodeNotReady"})
		is.Equal(c.said("p"), []string{"NodeNotReady: Node is not ready"})
		beat(300 * time.Second)
		pod := c.must("GET", inPods+"/p", "")
		is.True(pod.DeletionTimestamp() != "") // after the default toleration of a pod has ended
		conditions := pod.Objects("status", "conditions")
		is.Equal(conditions[len(conditions)-1].String("reason"), "DeletionByTaintManager")
		c.nodeReady("lost", "True")
		is.Equal(len(c.taints("lost")), 0)
	})
}

// TestAllNodesLost checks that nothing is evicted if no node is ready, because the control plane itself may be cut off.
func TestAllNodesLost(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		for _, name := range []string{"a", "b"} {
			c.node(name, "4", "")
			c.nodeReady(name, "True")
		}
		c.nodeReady("a", "False")
		is.Equal(c.taints("a"), []string{unready + ":NoSchedule", unready + ":NoExecute"})
		c.nodeReady("b", "False")
		is.Equal(c.taints("a"), []string{unready + ":NoSchedule"})
		c.nodeReady("b", "True")
		pass(10 * time.Second) // a node of the zone was tainted a moment ago
		is.Equal(c.taints("a"), []string{unready + ":NoSchedule", unready + ":NoExecute"})
	})
}

// TestZone checks that one node per zone is tainted every ten seconds. In a small zone in which most nodes are not
// ready, none is tainted.
func TestZone(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		names := []string{"a", "b", "c", "d", "e", "f"}
		for _, name := range names {
			c.node(name, "4", "")
			c.nodeReady(name, "True")
		}
		executed := func() (n int) {
			for _, name := range names {
				if slices.Contains(c.taints(name), unready+":NoExecute") {
					n++
				}
			}
			return n
		}
		for _, name := range names[:3] {
			c.nodeReady(name, "False")
		}
		is.Equal(executed(), 1)
		pass(10 * time.Second)
		is.Equal(executed(), 2)
		c.nodeReady("d", "False")
		pass(30 * time.Second)
		is.Equal(executed(), 2)
	})
}

func TestTaintsEvict(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		c.node("n", "4", "")
		c.nodeReady("n", "True")
		bears := func(seconds string) string {
			return `"nodeName":"n","tolerations":[{"key":"k","operator":"Exists"` + seconds + `}],`
		}
		c.pod("none", "1", `"nodeName":"n",`)
		c.pod("ever", "1", bears(``))
		c.pod("short", "1", bears(`,"effect":"NoExecute","tolerationSeconds":10`))
		c.pod("long", "1", bears(`,"effect":"NoExecute","tolerationSeconds":20`))
		gone := func() (names []string) {
			for _, p := range c.must("GET", inPods, "").Objects("items") {
				if p.DeletionTimestamp() != "" {
					names = append(names, p.Name())
				}
			}
			return names
		}
		c.mergePatch("/api/v1/nodes/n", `{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
		is.Equal(gone(), []string{"none"})
		pass(10 * time.Second)
		is.Equal(gone(), []string{"none", "short"})
		c.mergePatch("/api/v1/nodes/n", `{"spec":{"taints":null}}`)
		pass(time.Minute)
		is.Equal(gone(), []string{"none", "short"})
		is.Equal(c.said("long"), []string{"TaintManagerEviction: Cancelling deletion of Pod default/long"})
		is.Equal(c.said("short"), []string{"TaintManagerEviction: Marking for deletion Pod default/short"})
	})
}

// TestNodeConditions checks that the conditions in the status of a node become taints, and that deprecated labels are
// kept up to date.
func TestNodeConditions(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		c.node("n", "4", `,"kubernetes.io/os":"linux"`)
		c.nodeReady("n", "True")
		c.mergePatch("/api/v1/nodes/n/status", `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"MemoryPressure","status":"True"}]}}`)
		c.mergePatch("/api/v1/nodes/n", `{"spec":{"unschedulable":true}}`)
		is.Equal(c.taints("n"), []string{"node.kubernetes.io/memory-pressure:NoSchedule", "node.kubernetes.io/unschedulable:NoSchedule"})
		n := c.must("GET", "/api/v1/nodes/n", "")
		is.Equal(n.Labels()["beta.kubernetes.io/os"], "linux")
		is.Equal(n.Annotations()["node.alpha.kubernetes.io/ttl"], "0")
	})
}

// TestIdleClusterWithNodes checks that a cluster whose nodes send heartbeats only checks each node every 50 seconds and
// writes nothing.
func TestIdleClusterWithNodes(t *testing.T) {
	nodesLive(t, func(is *is.I, c client) {
		c.node("n", "4", "")
		c.nodeReady("n", "True")
		c.must("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases", `{"metadata":{"name":"n"}}`)
		before := c.revision()
		for range 60 {
			pass(40 * time.Second)
			c.mergePatch("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n",
				`{"spec":{"renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
		}
		is.Equal(c.revision()-before, int64(60)) // the writes of the leases
	})
}

// TestNodeRanges checks that node-ipam-controller gives each node the next free ranges for its pods.
func TestNodeRanges(t *testing.T) {
	for ranges, want := range map[string]string{
		"":                       "10.244.0.0/24,10.244.2.0/24,10.244.3.0/24",
		"fd00::/112,10.0.0.0/24": "fd00:10:244::/64 10.244.0.0/24,fd00:10:244:1::/64 10.244.2.0/24,fd00:10:244:2::/64 10.244.3.0/24",
	} {
		synctest.Test(t, func(t *testing.T) {
			is := is.New(t)
			c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"nodeipam"}, ServiceCIDR: ranges})}
			create := func(name, spec string) string {
				c.must("POST", "/api/v1/nodes", `{"metadata":{"name":"`+name+`"},"spec":{`+spec+`}}`)
				synctest.Wait()
				return strings.Join(c.must("GET", "/api/v1/nodes/"+name, "").Strings("spec", "podCIDRs"), " ")
			}
			is.Equal(create("own", `"podCIDR":"10.244.1.128/25","podCIDRs":["10.244.1.128/25"]`), "10.244.1.128/25") // kept
			all := []string{create("a", ""), create("b", ""), create("c", "")}
			is.Equal(strings.Join(all, ","), want)
			if ranges != "" {
				return
			}
			c.must("DELETE", "/api/v1/nodes/a", "")
			for i, others := range []string{"4.0/22", "8.0/21", "16.0/20", "32.0/19", "64.0/18", "128.0/17"} { // all others
				create(fmt.Sprint("more", i), `"podCIDR":"10.244.`+others+`","podCIDRs":["10.244.`+others+`"]`)
			}
			is.Equal(create("last", ""), "10.244.0.0/24") // the range of the deleted node
			is.Equal(create("none", ""), "")
			is.Equal(c.said("none"), []string{"CIDRNotAvailable: Node none status is now: CIDRNotAvailable"})
		})
	}
}
