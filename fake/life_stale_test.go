package fake_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// inMinors runs a test in virtual time with a server of 1.36 and one of 1.37, which have all controllers.
func inMinors(t *testing.T, f func(is *is.I, c client, since37 bool)) {
	t.Helper()
	for _, minor := range []string{"1.36", "1.37"} {
		synctest.Test(t, func(t *testing.T) {
			o := fake.Options{Clock: clock.System{}, Controllers: controller.All, Replicas: []fake.ReplicaOptions{{Version: minor}}}
			f(is.New(t), client{t, fake.RunT(t, o)}, minor == "1.37")
		})
	}
}

// TestStaleLeases checks that a node is not marked as lost because the controller's cache of leases is outdated, since 1.37.
func TestStaleLeases(t *testing.T) {
	inMinors(t, func(is *is.I, c client, since37 bool) {
		const inLeases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
		ready := func() string {
			synctest.Wait()
			return c.must("GET", "/api/v1/nodes/n", "").Condition("Ready").String("status")
		}
		c.node("n", "4", "")
		c.nodeReady("n", "True")
		c.must("POST", inLeases, `{"metadata":{"name":"n"},"spec":{"holderIdentity":"n","leaseDurationSeconds":40}}`)
		c.srv.Controllers.Lag("node-lifecycle-controller", "leases.coordination.k8s.io")
		for range 12 {
			c.mergePatch(inLeases+"/n", `{"spec":{"renewTime":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")+`"}}`)
			pass(10 * time.Second)
		}
		is.Equal(ready(), map[bool]string{true: "True", false: "Unknown"}[since37])
		c.srv.Controllers.Resume("node-lifecycle-controller")
		pass(2 * time.Minute)
		is.Equal(ready(), "Unknown") // it is no longer renewed
	})
}

// TestStaleAutoscalers checks that an autoscaler waits until its cache shows its last status, since 1.37.
func TestStaleAutoscalers(t *testing.T) {
	inMinors(t, func(is *is.I, c client, since37 bool) {
		const autoscaler = "horizontal-pod-autoscaler-controller"
		replicas := func(usage string) string {
			c.srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: usage})
			pass(30 * time.Second)
			c.started()
			return fmt.Sprint(c.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas"))
		}
		c.deployed("2")
		c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{`+scaled+`,"metrics":[{"type":"Resource","resource":{"name":"cpu",
			"target":{"type":"Utilization","averageUtilization":50}}}]}}`)
		pass(20 * time.Second)
		c.srv.Controllers.Lag(autoscaler, "horizontalpodautoscalers.autoscaling")
		is.Equal(replicas("75m"), "3")
		is.Equal(replicas("100m"), map[bool]string{true: "3", false: "6"}[since37]) // its own status is not in the cache
		c.srv.Controllers.Resume(autoscaler)
		is.Equal(replicas("100m"), map[bool]string{true: "6", false: "10"}[since37])
	})
}

// TestPreemptionIsExplained checks the message about a pod for which another one is evicted, since 1.37.
func TestPreemptionIsExplained(t *testing.T) {
	inMinors(t, func(is *is.I, c client, since37 bool) {
		c.must("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", `{"metadata":{"name":"high"},"value":10}`)
		c.node("n1", "2", "")
		c.nodeReady("n1", "True")
		c.pod("low", "2", "")
		c.pod("high", "1", `"priorityClassName":"high",`)
		want := "0/1 nodes are available: 1 Insufficient cpu."
		if since37 {
			want += " preemption: found a potential placement for pod on node n1, preempting 1 victims"
		}
		is.Equal(c.why("high"), want)
	})
}

// TestClaimStatusesAreKept checks that a client that does not know the claims of a pod cannot remove them from its status, since 1.37.
func TestClaimStatusesAreKept(t *testing.T) {
	inMinors(t, func(is *is.I, c client, since37 bool) {
		c.must("POST", inPods, `{"metadata":{"name":"p"},"spec":{"resourceClaims":[{"name":"c","resourceClaimTemplateName":"t"}],`+oneContainer+`}}`)
		claims := func(value string) int {
			c.mergePatch(inPods+"/p/status", `{"status":{"resourceClaimStatuses":`+value+`}}`)
			return len(c.must("GET", inPods+"/p", "").List("status", "resourceClaimStatuses"))
		}
		is.Equal(claims(`[{"name":"c","resourceClaimName":"x"}]`), 1)
		is.Equal(claims("null"), map[bool]int{true: 1, false: 0}[since37])
		is.Equal(claims("[]"), 0)
	})
}
