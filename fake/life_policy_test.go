package fake_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
)

// used returns the usage in the status of the quota q.
func (c client) used() string {
	c.t.Helper()
	return string(object.JSON(c.must("GET", inCore+"resourcequotas/q", "").Map("status", "used")))
}

// guarded creates a running and ready pod to which the quota and the budget of these tests apply.
func (c client) guarded(name string) {
	c.t.Helper()
	c.must("POST", inCore+"pods", `{"metadata":{"name":"`+name+`","labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"100m"}}}]}}`)
	c.mergePatch(inCore+"pods/"+name+"/status", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`)
}

// TestQuotaIsCounted checks that a quota counts objects that were created before it, and no longer counts objects that
// are deleted.
func TestQuotaIsCounted(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.guarded("a")
		c.must("POST", inCore+"resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"pods":"2","requests.cpu":"1","count/configmaps":"9","count/widgets.example.com":"1"}}}`)
		is.Equal(c.used(), `{"count/configmaps":"1","pods":"1","requests.cpu":"100m"}`) // widgets are not served
		c.guarded("b")
		is.Equal(c.used(), `{"count/configmaps":"1","pods":"2","requests.cpu":"200m"}`)
		code, _ := c.do("POST", inCore+"pods", `{"metadata":{"name":"c"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`)
		is.Equal(code, http.StatusForbidden)
		c.mergePatch(inCore+"pods/a/status", `{"status":{"phase":"Succeeded"}}`) // the pod has ended
		is.Equal(c.used(), `{"count/configmaps":"1","pods":"1","requests.cpu":"100m"}`)
		c.must("DELETE", inCore+"pods/b", "")
		is.Equal(c.used(), `{"count/configmaps":"1","pods":"0","requests.cpu":"0"}`)
	})
}

// TestQuotaIsCountedAgain checks that usage that was charged for a create that failed is released when the controller
// counts again, at most five minutes later.
func TestQuotaIsCountedAgain(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inCore+"resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"count/secrets":"9"}}}`)
		c.must("POST", inCore+"secrets", `{"metadata":{"name":"a"}}`)
		code, _ := c.do("POST", inCore+"secrets", `{"metadata":{"name":"a"}}`)
		is.Equal(code, http.StatusConflict)
		is.Equal(c.used(), `{"count/secrets":"2"}`)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		is.Equal(c.used(), `{"count/secrets":"1"}`)
	})
}

func (c client) evict(name string) int {
	c.t.Helper()
	code, _ := c.do("POST", inCore+"pods/"+name+"/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"`+name+`"}}`)
	return code
}

const inBudgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

// budget returns the numbers of expected, healthy and disruptable pods in the status of the budget, and the reason of
// its condition.
func (c client) budget() (n [3]int64, reason string) {
	c.t.Helper()
	s := c.must("GET", inBudgets+"/b", "").At("status")
	return [3]int64{s.Int64("expectedPods"), s.Int64("currentHealthy"), s.Int64("disruptionsAllowed")}, s.Objects("conditions")[0].String("reason")
}

// TestEvictionsAndBudget checks that evictions are allowed as far as the budget permits, and that the controller
// updates the budget.
func TestEvictionsAndBudget(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inBudgets, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"web"}}}}`)
		c.guarded("a")
		c.guarded("b")
		n, reason := c.budget()
		is.Equal(n, [3]int64{2, 2, 1})
		is.Equal(reason, "SufficientPods")
		is.Equal(c.evict("a"), http.StatusCreated)
		is.Equal(c.evict("b"), http.StatusTooManyRequests)
		n, reason = c.budget()
		is.Equal(n, [3]int64{1, 1, 0})
		is.Equal(reason, "InsufficientPods")
		c.guarded("c")
		is.Equal(c.evict("b"), http.StatusCreated) // another pod replaces it
	})
}

// TestBudgetOfScale checks that a percentage refers to the number of replicas of the pods' controllers, which may be
// custom resources.
func TestBudgetOfScale(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"sets.example.com"},"spec":{"group":"example.com",
			"scope":"Namespaced","names":{"plural":"sets","singular":"set","kind":"Set","listKind":"SetList"},"versions":[{"name":"v1","served":true,"storage":true,
			"subresources":{"status":{},"scale":{"specReplicasPath":".spec.size","statusReplicasPath":".status.size"}},
			"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`)
		set := c.must("POST", "/apis/example.com/v1/namespaces/default/sets", `{"apiVersion":"example.com/v1","kind":"Set","metadata":{"name":"s"},"spec":{"size":4}}`)
		c.must("POST", inBudgets, `{"metadata":{"name":"b"},"spec":{"maxUnavailable":"50%","selector":{"matchLabels":{"app":"web"}}}}`)
		c.guarded("alone")
		_, reason := c.budget()
		is.Equal(reason, "InsufficientPods") // pods without a controller are not counted
		c.must("DELETE", inCore+"pods/alone", "")
		own := `{"metadata":{"ownerReferences":[{"apiVersion":"example.com/v1","kind":"Set","name":"s","uid":"` + set.UID() + `","controller":true}]}}`
		for _, name := range []string{"p", "q", "r"} {
			c.guarded(name)
			c.mergePatch(inCore+"pods/"+name, own)
		}
		n, _ := c.budget()
		is.Equal(n, [3]int64{4, 3, 1})
	})
}

// TestDisruptionTargetIsStale checks that a pod that was marked for disruption but not deleted loses the condition
// DisruptionTarget after two minutes.
func TestDisruptionTargetIsStale(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.guarded("a")
		c.mergePatch(inCore+"pods/a/status", `{"status":{"conditions":[{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI",
			"lastTransitionTime":"`+object.Time(time.Now())+`"}]}}`)
		target := func() string {
			return c.must("GET", inCore+"pods/a", "").Objects("status", "conditions")[0].String("status")
		}
		time.Sleep(2*time.Minute - time.Second)
		synctest.Wait()
		is.Equal(target(), "True")
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(target(), "False")
	})
}
