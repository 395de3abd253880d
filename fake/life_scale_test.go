package fake_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/object"
)

const (
	inAutoscaling = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
	scaled        = `"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"maxReplicas":10,"minReplicas":2`
)

// deployed creates a Deployment with ready pods. Each pod requests 100m of CPU.
func (c client) deployed(replicas string) {
	c.must("POST", inApps+"deployments", `{"metadata":{"name":"web"},"spec":{"replicas":`+replicas+`,"selector":{"matchLabels":{"a":"b"}},`+
		`"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"}}}]}}}}`)
	c.started()
}

// started makes all pods ready, with a time long ago.
func (c client) started() {
	for _, name := range c.names(podsPath) {
		c.ask("PATCH", podsPath+"/"+name+"/status", "application/merge-patch+json", "", `{"status":{"phase":"Running",
			"startTime":"1999-01-01T00:00:00Z","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"1999-01-01T00:01:00Z"}]}}`)
	}
}

// says returns the status, the reason and the message of a condition.
func says(obj object.Object, kind string) string {
	c := obj.Condition(kind)
	return c.String("status") + " " + c.String("reason") + ": " + c.String("message")
}

func TestAutoscaler(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.deployed("2")
		c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{`+scaled+`,"metrics":[{"type":"Resource","resource":{"name":"cpu",
			"target":{"type":"Utilization","averageUtilization":50}}}]}}`)
		c.srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "75m"})
		replicas := func() int64 { return c.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas") }
		pass(16 * time.Second)
		is.Equal(replicas(), int64(3)) // 75 % of the request instead of 50 %
		h := c.must("GET", inAutoscaling+"/web", "")
		is.Equal(h.Int64("status", "currentMetrics"), int64(0))
		is.Equal(h.Objects("status", "currentMetrics")[0].Int64("resource", "current", "averageUtilization"), int64(75))
		is.Equal(says(h, "AbleToScale"), "True SucceededRescale: the HPA controller was able to update the target scale to 3")

		c.started()
		c.srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "10m"})
		pass(4 * time.Minute)
		is.Equal(replicas(), int64(3)) // it does not scale down for five minutes
		is.Equal(says(c.must("GET", inAutoscaling+"/web", ""), "AbleToScale"),
			"True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation")
		pass(2 * time.Minute)
		is.Equal(replicas(), int64(2)) // the minimum
		is.Equal(says(c.must("GET", inAutoscaling+"/web", ""), "ScalingLimited"),
			"True TooFewReplicas: the desired replica count is less than the minimum replica count")
	})
}

// TestSortsOfMetrics checks that each type of metric determines the number of replicas, which is two at first.
func TestSortsOfMetrics(t *testing.T) {
	set := func(object, name, value string) fake.Metric {
		return fake.Metric{Namespace: "default", Object: object, Name: name, Value: value}
	}
	mail := fake.Metric{Namespace: "default", Name: "queue", Labels: map[string]string{"of": "mail"}, Value: "60"}
	for _, test := range []struct {
		name, metric string
		set          []fake.Metric
		want         int64
	}{
		{"resource", `"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}`,
			[]fake.Metric{set("Pod/web-*", "memory", "4Gi")}, 8},
		{"container", `"ContainerResource","containerResource":{"name":"cpu","container":"c","target":{"type":"Utilization","averageUtilization":50}}`,
			[]fake.Metric{{Namespace: "default", Object: "Pod/web-*", Container: "c", Name: "cpu", Value: "150m"}}, 6},
		{"pods", `"Pods","pods":{"metric":{"name":"requests"},"target":{"type":"AverageValue","averageValue":"10"}}`,
			[]fake.Metric{set("Pod/web-*", "requests", "20")}, 4},
		{"object", `"Object","object":{"metric":{"name":"requests"},"describedObject":{"apiVersion":"v1","kind":"Service","name":"web"},` +
			`"target":{"type":"Value","value":"10"}}`, []fake.Metric{set("Service/web", "requests", "15")}, 3},
		{"external", `"External","external":{"metric":{"name":"queue","selector":{"matchLabels":{"of":"mail"}}},"target":{"type":"AverageValue","averageValue":"10"}}`,
			[]fake.Metric{mail, set("", "queue", "500")}, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			live(t, func(t *testing.T, is *is.I, c client) {
				c.deployed("2")
				for _, m := range test.set {
					c.srv.SetMetric(m)
				}
				c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{`+scaled+`,"behavior":{"scaleUp":{"policies":[`+
					`{"type":"Pods","value":10,"periodSeconds":15}]}},"metrics":[{"type":`+test.metric+`}]}}`)
				pass(16 * time.Second)
				is.Equal(c.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas"), test.want)
			})
		})
	}
}

// TestScaleToZero checks that a target without replicas is scaled again only if the controller has scaled it to zero (KEP-2021).
func TestScaleToZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"*", "-kube-scheduler"}, Replicas: []fake.ReplicaOptions{{Version: "1.37"}}})}
		queue := func(length string) { c.srv.SetMetric(fake.Metric{Namespace: "default", Name: "queue", Value: length}) }
		replicas := func() int64 { return c.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas") }
		autoscaler := func() object.Object { return c.must("GET", inAutoscaling+"/web", "") }
		c.deployed("2")
		queue("20")
		c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"minReplicas":0,
			"maxReplicas":5,"behavior":{"scaleDown":{"stabilizationWindowSeconds":0}},"metrics":[{"type":"External","external":{"metric":{"name":"queue"},"target":{"type":"AverageValue","averageValue":"10"}}}]}}`)
		pass(time.Second)
		is.Equal(says(autoscaler(), "ScalingActive")[:4], "True") // at once, and not after 15 seconds
		queue("0")
		pass(16 * time.Second)
		is.Equal(replicas(), int64(0))
		is.Equal(says(autoscaler(), "ScaledToZero"), "True ScaledToZero: the HPA controller scaled the workload to zero")
		pass(time.Minute)
		is.Equal(replicas(), int64(0))
		queue("30")
		pass(16 * time.Second)
		is.Equal(replicas(), int64(3))
		is.Equal(says(autoscaler(), "ScaledToZero"), "False NotScaledToZero: the HPA controller did not scale the workload to zero")

		c.mergePatch(inApps+"deployments/web", `{"spec":{"replicas":0}}`) // by a user
		pass(time.Minute)
		is.Equal(replicas(), int64(0))
		is.Equal(says(autoscaler(), "ScalingActive"), "False ScalingDisabled: scaling is disabled since the replica count of the target is zero")
		c.mergePatch(inApps+"deployments/web", `{"spec":{"replicas":1}}`)
		queue("0")
		pass(16 * time.Second)
		is.Equal(replicas(), int64(0)) // by the controller
		c.mergePatch(inAutoscaling+"/web", `{"spec":{"minReplicas":2}}`)
		pass(time.Second)
		is.Equal(replicas(), int64(2)) // the change is processed at once
		is.Equal(autoscaler().Int64("status", "observedGeneration"), autoscaler().Generation())
	})
}

// TestNoMetrics checks that a HorizontalPodAutoscaler in a cluster without metrics reports the missing API and does not
// scale.
func TestNoMetrics(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.deployed("2")
		c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{`+scaled+`}}`)
		pass(16 * time.Second)
		is.Equal(says(c.must("GET", inAutoscaling+"/web", ""), "ScalingActive"), "False FailedGetResourceMetric: the HPA was unable to "+
			"compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from "+
			"resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)")
		is.Equal(c.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas"), int64(2))
	})
}

// TestForkScales checks that a fork continues with the metrics and the recommendations of its origin.
func TestForkScales(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.deployed("2")
		c.must("POST", inAutoscaling, `{"metadata":{"name":"web"},"spec":{`+scaled+`}}`)
		c.srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "160m"})
		f := c.srv.Fork()
		defer f.Close()
		pass(16 * time.Second)
		is.Equal(client{t, f}.must("GET", inApps+"deployments/web", "").Int64("spec", "replicas"), int64(4))
	})
}

// TestPodsOfLostNode checks that pods of a deleted node fail and are deleted after the quarantine.
func TestPodsOfLostNode(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
		c.must("POST", podsPath, `{"metadata":{"name":"a","finalizers":["example.com/me"]},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
		pass(time.Hour)
		is.Equal(c.must("GET", podsPath+"/a", "").DeletionTimestamp(), "")
		c.must("DELETE", "/api/v1/nodes/n", "")
		pass(59 * time.Second)
		is.Equal(c.must("GET", podsPath+"/a", "").DeletionTimestamp(), "")
		pass(2 * time.Second)
		p := c.must("GET", podsPath+"/a", "")
		is.Equal(p.String("status", "phase"), "Failed")
		is.Equal(says(p, "DisruptionTarget"), "True DeletionByPodGC: PodGC: node no longer exists")
		is.True(p.DeletionTimestamp() != "")
	})
}

// TestPodsThatNobodyEnds checks that a pod that is being deleted is removed when its node is out of service, or if it
// has no node.
func TestPodsThatNobodyEnds(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
		c.must("POST", podsPath, `{"metadata":{"name":"a"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
		c.must("DELETE", podsPath+"/a", "")
		pass(time.Hour)
		is.Equal(len(c.names(podsPath)), 1) // its kubelet would have to remove it
		c.mergePatch("/api/v1/nodes/n", `{"spec":{"taints":[{"key":"node.kubernetes.io/out-of-service","effect":"NoExecute"}]}}`)
		pass(21 * time.Second)
		is.Equal(len(c.names(podsPath)), 0)
	})
}
