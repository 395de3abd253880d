package fake_test

import (
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// TestPodsThatANodeRefuses checks that a kubelet rejects a pod that it cannot run, whichever client has bound the pod
// to its node, and reports why.
func TestPodsThatANodeRefuses(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		const full = `"containers":[{"name":"c","image":"nginx","resources":{"requests":{"cpu":"7","memory":"1Gi"}},"ports":[{"containerPort":80,"hostPort":80}]}]`
		c.bound("full", full)
		for _, x := range []struct{ name, spec, reason, message string }{
			{"cpu", `"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1500m"}}}]`,
				"OutOfcpu", "Node didn't have enough resource: cpu, requested: 1500, used: 7000, capacity: 8000"},
			{"memory", `"containers":[{"name":"c","image":"i","resources":{"requests":{"memory":"32Gi"}}}]`,
				"OutOfmemory", "Node didn't have enough resource: memory, requested: 34359738368, used: 1073741824, capacity: 34359738368"},
			{"port", `"containers":[{"name":"c","image":"i","ports":[{"containerPort":1,"hostPort":80}]}]`,
				"NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"},
			{"selector", `"nodeSelector":{"disk":"ssd"},` + oneContainer,
				"NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"},
			{"windows", `"os":{"name":"windows"},` + oneContainer,
				"PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS"},
			{"sysctl", `"securityContext":{"sysctls":[{"name":"kernel.msgmax","value":"1"}]},` + oneContainer,
				"SysctlForbidden", `forbidden sysctl: "kernel.msgmax" not allowlisted`},
		} {
			c.bound(x.name, x.spec)
			pod := c.later(time.Second, x.name)
			is.Equal(state(pod), "Failed "+x.reason)
			is.Equal(pod.String("status", "message"), "Pod was rejected: "+x.message)
			is.Equal(len(pod.List("status", "conditions")), 0) // as from a real kubelet
			is.Equal(c.told(x.name), []string{x.reason + ": " + x.message})
			c.must("DELETE", inPods+"/"+x.name, "")
		}
		is.Equal(c.names(inPods), []string{"full"})
		c.bound("unknown", `"containers":[{"name":"c","image":"i","resources":{"requests":{"example.com/x":"1"},"limits":{"example.com/x":"1"}}}]`)
		is.Equal(state(c.later(time.Second, "unknown")), "Running c:running,ready") // the kubelet does not check a resource that the node does not report
		c.must("DELETE", inPods+"/full?gracePeriodSeconds=0", "")
		c.bound("again", full)
		is.Equal(state(c.later(time.Second, "again")), "Running c:running,ready")
	})
}

// TestTaintedNode checks that a node with a NoExecute taint admits no pod that does not tolerate the taint.
func TestTaintedNode(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.mergePatch("/api/v1/nodes/node-1", `{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}`)
		c.bound("a", oneContainer)
		c.bound("b", `"tolerations":[{"operator":"Exists"}],`+oneContainer)
		is.Equal(state(c.later(time.Second, "a")), "Failed TaintToleration")
		is.Equal(state(c.later(0, "b")), "Running c:running,ready")
	})
}

// resized changes the requests and limits of a pod with one container.
func (c client) resized(name, container string) {
	c.t.Helper()
	code, _, _ := c.ask("PATCH", inPods+"/"+name+"/resize", "application/strategic-merge-patch+json", "", `{"spec":{"containers":[`+container+`]}}`)
	is.New(c.t).Equal(code, 200) // the change is accepted
}

// amounts returns the requested and the allocated CPU of a container, and the pod's resize status.
func amounts(pod object.Object) string {
	s := pod.Objects("status", "containerStatuses")[0]
	text := s.String("resources", "requests", "cpu") + " of " + s.String("allocatedResources", "cpu")
	for _, c := range pod.Objects("status", "conditions") {
		if kind := c.String("type"); strings.HasPrefix(kind, "PodResize") {
			text += strings.TrimRight(" "+kind+" "+c.String("reason"), " ")
		}
	}
	return text
}

// TestResize checks that a pod is resized in place: at once if the node has enough resources, otherwise when another
// pod releases some.
func TestResize(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		asks := func(cpu string) string { return `{"name":"c","resources":{"requests":{"cpu":"` + cpu + `"}}}` }
		for _, name := range []string{"a", "b"} {
			c.bound(name, `"containers":[{"name":"c","image":"nginx","resources":{"requests":{"cpu":"3"}}}]`)
		}
		is.Equal(amounts(c.later(time.Second, "a")), "3 of 3")
		c.resized("a", asks("4"))
		is.Equal(amounts(c.later(0, "a")), "3 of 4 PodResizeInProgress")
		is.Equal(amounts(c.later(time.Second, "a")), "4 of 4")
		c.resized("b", asks("5"))
		is.Equal(amounts(c.later(time.Minute, "b")), "3 of 3 PodResizePending Deferred")
		c.resized("a", asks("2"))
		is.Equal(amounts(c.later(0, "b")), "3 of 3 PodResizePending Deferred") // a keeps its CPU until its own resize is done
		is.Equal(amounts(c.later(time.Second, "b")), "3 of 5 PodResizeInProgress")
		is.Equal(amounts(c.later(time.Second, "b")), "5 of 5")
		is.Equal(state(c.later(0, "b")), "Running c:running,ready")
		is.Equal(c.told("b")[4:], []string{
			`ResizeDeferred: Pod resize OutOfcpu: {"containers":[{"name":"c","resources":{"requests":{"cpu":"5"}}}],"generation":2,` +
				`"error":"Node didn't have enough resource: cpu, requested: 5000, used: 4000, capacity: 8000"}`,
			`ResizeStarted: Pod resize started: {"containers":[{"name":"c","resources":{"requests":{"cpu":"5"}}}],"generation":2}`,
			`ResizeCompleted: Pod resize completed: {"containers":[{"name":"c","resources":{"requests":{"cpu":"5"}}}],"generation":2}`})
	})
}

// TestResizeByRestart checks that a container whose resizePolicy requires it is restarted for a resize, whatever the
// restart policy of its pod.
func TestResizeByRestart(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		c.bound("a", `"restartPolicy":"OnFailure","containers":[{"name":"c","image":"nginx","resources":{"requests":{"cpu":"1"}},`+
			`"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]`)
		c.later(time.Second, "a")
		c.resized("a", `{"name":"c","resources":{"requests":{"cpu":"2"}}}`)
		pod := c.later(10*time.Second, "a")
		is.Equal(amounts(pod), "2 of 2")
		is.Equal(state(pod), "Running c:running,ready,1")
		is.True(strings.Contains(strings.Join(c.told("a"), "\n"), "Killing: Container c resize requires restart"))
	})
}

// TestResizeBelowUsage checks that a memory limit cannot be decreased below the container's usage.
func TestResizeBelowUsage(t *testing.T) {
	onNodes(t, fake.Options{}, func(t *testing.T, is *is.I, c client) {
		limit := func(memory string) string {
			return `{"name":"c","image":"nginx","resources":{"requests":{"memory":"8Mi"},"limits":{"memory":"` + memory + `"}}}`
		}
		c.bound("a", `"containers":[`+limit("64Mi")+`]`, `"kubesim.io/memory":"32Mi"`)
		c.later(time.Second, "a")
		c.resized("a", limit("16Mi"))
		pod := c.later(time.Minute, "a")
		is.Equal(pod.Objects("status", "containerStatuses")[0].String("resources", "limits", "memory"), "64Mi")
		is.Equal(pod.Objects("status", "conditions")[0].String("message"), "cannot decrease memory limits: [attempting to set pod memory limit "+
			`(16777216) below current usage (33554432), attempting to set container "c" memory limit (16777216) below current usage (33554432)]`)
		c.resized("a", limit("48Mi"))
		pod = c.later(time.Second, "a")
		is.Equal(pod.Objects("status", "containerStatuses")[0].String("resources", "limits", "memory"), "48Mi")
	})
}

// TestPodThatIsRefusedAgainAndAgain checks that a controller that replaces a pod that its node rejects does so once a
// second as long as the reason exists.
func TestPodThatIsRefusedAgainAndAgain(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Nodes: 1, Controllers: controller.All})}
	const port = `"containers":[{"name":"c","image":"nginx","ports":[{"containerPort":80,"hostPort":80}]}]`
	c.bound("first", port)
	c.srv.Clock.Advance(time.Second)
	c.must("POST", inApps+"statefulsets", `{"metadata":{"name":"web"},"spec":{"serviceName":"web","selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"node-1",`+port+`}}}}`)
	c.srv.Clock.Advance(10 * time.Second)
	is.Equal(strings.Count(strings.Join(c.told("web-0"), "\n"), "NodePorts:"), 11)
	c.must("DELETE", inPods+"/first", "")
	c.srv.Clock.Advance(10 * time.Second)
	is.Equal(state(c.must("GET", inPods+"/web-0", "")), "Running c:running,ready")
}
