package fake_test

import (
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

const (
	nodes      = "/api/v1/nodes"
	asDaemons  = inApps + "daemonsets"
	namedField = `{"key":"metadata.name","operator":"In","values":["a"]}`
)

// daemonic runs a test with the three nodes a, b and c. a and b have the label disk=ssd.
func daemonic(t *testing.T, f func(t *testing.T, is *is.I, c client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"daemonset-controller", "garbage-collector-controller"}})}
		for _, n := range [][2]string{{"a", "ssd"}, {"b", "ssd"}, {"c", "hdd"}} {
			c.must("POST", nodes, `{"metadata":{"name":"`+n[0]+`","labels":{"disk":"`+n[1]+`"}}}`)
			c.mergePatch(nodes+"/"+n[0], `{"spec":{"taints":null}}`)
		}
		f(t, is.New(t), c)
	})
}

// daemonSet creates a DaemonSet with additional fields in its spec and in its pod template's spec.
func (c client) daemonSet(more, pod string) {
	c.t.Helper()
	c.must("POST", asDaemons, `{"metadata":{"name":"agent"},"spec":{"selector":{"matchLabels":{"a":"b"}},`+more+`
		"template":{"metadata":{"labels":{"a":"b"}},"spec":{`+pod+`"containers":[{"name":"c","image":"i"}]}}}}`)
	c.runAll()
}

// runAll binds pods to the nodes in their affinity, as a scheduler does, makes them ready, and removes pods that are
// being deleted.
func (c client) runAll() {
	c.t.Helper()
	for _, p := range c.must("GET", allPods, "").Objects("items") {
		switch {
		case p.DeletionTimestamp() != "":
			c.ask("DELETE", allPods+"/"+p.Name(), "application/json", "", `{"gracePeriodSeconds":0}`)
			continue
		case p.String("spec", "nodeName") == "":
			c.must("POST", allPods+"/"+p.Name()+"/binding", `{"metadata":{"name":"`+p.Name()+`"},"target":{"kind":"Node","name":"`+nodeOf(p)+`"}}`)
		}
	}
	c.readySince(time.Now().Add(-time.Minute))
}

// nodeOf returns the node of a pod, or the node in its affinity.
func nodeOf(p object.Object) string {
	if name := p.String("spec", "nodeName"); name != "" {
		return name
	}
	terms := p.Objects("spec", "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
	return terms[0].Objects("matchFields")[0].Strings("values")[0]
}

// onNodes returns the nodes of the pods that are not being deleted, each with the generation of the pod's template.
func (c client) onNodes() string {
	var all []string
	for _, p := range c.must("GET", allPods, "").Objects("items") {
		if p.DeletionTimestamp() == "" {
			all = append(all, nodeOf(p)+p.Labels()["pod-template-generation"])
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestDaemonSetNodes(t *testing.T) {
	const tainted = `{"spec":{"taints":[{"key":"k","value":"v","effect":"NoSchedule"}]}}`
	affinity := func(term string) string {
		return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + term + `]}}},`
	}
	for i, test := range []struct{ name, pod, want string }{
		{"all that are not tainted", "", "a1 c1"},
		{"that are chosen", `"nodeSelector":{"disk":"ssd"},`, "a1"},
		{"by name", `"nodeName":"c",`, "c1"},
		{"by affinity", affinity(`{"matchExpressions":[{"key":"disk","operator":"NotIn","values":["ssd"]}]}`), "c1"},
		{"by a field", affinity(`{"matchFields":[` + namedField + `]}`), "a1"},
		{"by both", affinity(`{"matchExpressions":[{"key":"disk","operator":"In","values":["hdd"]}],"matchFields":[` + namedField + `]}`), ""},
		{"by either", affinity(`{"matchExpressions":[{"key":"none","operator":"Exists"}]},{"matchFields":[` + namedField + `]}`), "a1"},
		{"tolerated", `"tolerations":[{"key":"k","value":"v","effect":"NoSchedule"}],`, "a1 b1 c1"},
		{"of another value", `"tolerations":[{"key":"k","value":"w"}],`, "a1 c1"},
		{"whatever it is", `"tolerations":[{"operator":"Exists"}],`, "a1 b1 c1"},
	} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			daemonic(t, func(t *testing.T, is *is.I, c client) {
				c.mergePatch(nodes+"/b", tainted)
				c.daemonSet("", test.pod)
				is.Equal(c.onNodes(), test.want)
			})
		})
	}
}

// TestDaemonSetFollowsNodes checks that a node that gets a NoSchedule taint keeps its pod. A node that gets a NoExecute
// taint or other labels loses it.
func TestDaemonSetFollowsNodes(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet("", `"nodeSelector":{"disk":"ssd"},`)
		is.Equal(c.onNodes(), "a1 b1")
		c.mergePatch(nodes+"/c", `{"metadata":{"labels":{"disk":"ssd"}}}`)
		c.mergePatch(nodes+"/a", `{"metadata":{"labels":{"disk":"hdd"}}}`)
		is.Equal(c.onNodes(), "b1 c1")
		c.mergePatch(nodes+"/b", `{"spec":{"taints":[{"key":"k","effect":"NoSchedule"}]}}`)
		is.Equal(c.onNodes(), "b1 c1")
		is.Equal(c.must("GET", asDaemons+"/agent", "").Int64("status", "numberMisscheduled"), int64(2)) // one of them is being deleted
		c.mergePatch(nodes+"/b", `{"spec":{"taints":[{"key":"k","effect":"NoExecute"}]}}`)
		is.Equal(c.onNodes(), "c1")
		c.mergePatch(nodes+"/c", `{"spec":{"unschedulable":true}}`)
		c.runAll()
		is.Equal(c.onNodes(), "c1") // every daemon tolerates this taint
		c.must("POST", nodes, `{"metadata":{"name":"d","labels":{"disk":"ssd"}}}`)
		c.mergePatch(nodes+"/d", `{"spec":{"taints":null}}`)
		is.Equal(c.onNodes(), "c1 d1")
	})
}

func TestDaemonSetStatus(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet("", "")
		is.Equal(string(object.JSON(c.must("GET", asDaemons+"/agent", "").Map("status"))), `{"currentNumberScheduled":3,"desiredNumberScheduled":3,`+
			`"numberAvailable":3,"numberMisscheduled":0,"numberReady":3,"observedGeneration":1,"updatedNumberScheduled":3}`)
		pod := c.must("GET", allPods, "").Objects("items")[0]
		is.Equal(len(pod.List("spec", "tolerations")), 6) // every daemon gets these
		is.Equal(len(c.messages("SuccessfulCreate")), 3)
	})
}

// TestDaemonSetRolls checks that at most maxUnavailable pods are replaced at a time.
func TestDaemonSetRolls(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":"50%"}},`, "")
		c.annotate(asDaemons+"/agent", "2")
		is.Equal(c.onNodes(), "c1") // half of three is two
		c.runAll()
		c.runAll()
		c.runAll()
		c.runAll()
		is.Equal(c.onNodes(), "a2 b2 c2")
		is.Equal(c.must("GET", asDaemons+"/agent", "").Int64("status", "updatedNumberScheduled"), int64(3))
	})
}

// TestDaemonSetSurges checks that with maxSurge, the new pod is available before the old one is deleted.
func TestDaemonSetSurges(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet(`"updateStrategy":{"rollingUpdate":{"maxUnavailable":0,"maxSurge":1}},`, "")
		c.annotate(asDaemons+"/agent", "2")
		is.Equal(c.onNodes(), "a1 a2 b1 c1")
		c.runAll()
		is.Equal(c.onNodes(), "a2 b1 b2 c1")
		for range 4 {
			c.runAll()
		}
		is.Equal(c.onNodes(), "a2 b2 c2")
	})
}

func TestDaemonSetOnDelete(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet(`"updateStrategy":{"type":"OnDelete"},`, "")
		c.annotate(asDaemons+"/agent", "2")
		is.Equal(c.onNodes(), "a1 b1 c1")
		c.ask("DELETE", allPods+"/"+c.names(allPods)[0], "application/json", "", `{"gracePeriodSeconds":0}`)
		is.Equal(strings.Count(c.onNodes(), "2"), 1)
	})
}

// TestDaemonSetBacksOff checks that the first failed pod is deleted at once, the next one after a second, and the third
// one after two seconds.
func TestDaemonSetBacksOff(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet("", `"nodeName":"a",`)
		fail := func() (passed time.Duration) {
			name, start := c.names(allPods)[0], time.Now()
			c.ask("PATCH", allPods+"/"+name+"/status", "application/merge-patch+json", "", `{"status":{"phase":"Failed"}}`)
			for slices.Contains(c.names(allPods), name) {
				time.Sleep(time.Second)
				synctest.Wait()
			}
			passed = time.Since(start)
			c.runAll() // the next pod
			return passed
		}
		is.Equal([]time.Duration{fail(), fail(), fail()}, []time.Duration{0, time.Second, 2 * time.Second})
		is.Equal(len(c.messages("FailedDaemonPod")), 3)
	})
}

// TestDaemonSetRevisions checks that a template that is restored gets its old revision with a higher number. Old
// revisions are deleted.
func TestDaemonSetRevisions(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet(`"revisionHistoryLimit":1,`, `"nodeName":"a",`)
		for _, v := range []string{"2", "3", "2"} {
			c.annotate(asDaemons+"/agent", v)
			c.runAll()
			c.runAll()
		}
		all := c.must("GET", inApps+"controllerrevisions", "").Objects("items")
		is.Equal(len(all), 2)
		numbers := []int64{all[0].Int64("revision"), all[1].Int64("revision")}
		slices.Sort(numbers)
		is.Equal(numbers, []int64{3, 4})
	})
}

// TestSecondRevision checks that a revision that another client creates for a DaemonSet is kept until the next sync of
// the DaemonSet. Then the newest of two equal revisions is kept.
func TestSecondRevision(t *testing.T) {
	daemonic(t, func(t *testing.T, is *is.I, c client) {
		c.daemonSet("", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		first := c.must("GET", inApps+"controllerrevisions", "").Objects("items")[0]
		first["metadata"] = map[string]any{"name": "agent-copy", "labels": map[string]any{"a": "b", "controller-revision-hash": "copy"},
			"ownerReferences": first.List("metadata", "ownerReferences")}
		first["revision"] = int64(2)
		c.must("POST", inApps+"controllerrevisions", string(object.JSON(map[string]any(first))))
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(len(c.names(inApps+"controllerrevisions")), 2)
		c.mergePatch(asDaemons+"/agent", `{"spec":{"minReadySeconds":1}}`)
		synctest.Wait()
		is.Equal(c.names(inApps+"controllerrevisions"), []string{"agent-copy"})
	})
}
