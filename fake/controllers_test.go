package fake_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/fault"
)

const (
	deploymentController = "deployment-controller"
	replicaSetController = "replicaset-controller"

	threePods = `{"metadata":{"name":"web"},"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},
		"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`
)

// controlled returns a server with controllers and a manual clock.
func controlled(t *testing.T) (client, *is.I) {
	return client{t, fake.RunT(t, fake.Options{Controllers: controller.All})}, is.New(t)
}

// number returns the number of objects in a list.
func (c client) number(path string) int {
	c.t.Helper()
	return len(c.must("GET", path, "").List("items"))
}

const (
	webPods = "/api/v1/namespaces/default/pods"
	webSets = "/apis/apps/v1/namespaces/default/replicasets"
	webs    = "/apis/apps/v1/namespaces/default/deployments"
)

// TestControllersWork checks that controllers finish reconciling the effects of a request before the server handles the
// next one.
func TestControllersWork(t *testing.T) {
	c, is := controlled(t)
	c.must("POST", webs, threePods)
	is.Equal(c.number(webPods), 3)
	began := c.srv.Clock.Now()
	is.NoErr(c.srv.Settle(context.Background())) // no kubelet runs the pods, so there is nothing more to do
	is.Equal(c.srv.Clock.Now(), began)
}

// TestSettleLetsTimePass checks that Settle advances the clock as long as controllers have work in the near future.
func TestSettleLetsTimePass(t *testing.T) {
	c, is := controlled(t)
	c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	c.must("DELETE", "/api/v1/namespaces/n", "")
	began := c.srv.Clock.Now()
	is.NoErr(c.srv.Settle(context.Background()))
	code, _, _ := c.exchange("GET", "/api/v1/namespaces/n", "")
	is.Equal(code, 404)                                     // the namespace was deleted after its five seconds
	is.True(c.srv.Clock.Now().Sub(began) <= 10*time.Second) // no more time passed than was necessary
}

// TestSettleNamesWhatMoves checks that the error of Settle names an object that never comes to rest, while a CronJob makes controllers
// write every minute.
func TestSettleNamesWhatMoves(t *testing.T) {
	c, is := controlled(t)
	c.must("POST", "/apis/batch/v1/namespaces/default/cronjobs", `{"metadata":{"name":"tick"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":`+
		`{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}}}`)
	c.must("POST", "/api/v1/namespaces", `{"metadata":{"name":"n"}}`)
	c.must("POST", "/api/v1/namespaces/n/configmaps", `{"metadata":{"name":"held","finalizers":["example.com/me"]}}`)
	c.must("DELETE", "/api/v1/namespaces/n", "")
	err := c.srv.Settle(context.Background())
	is.True(err != nil && strings.Contains(err.Error(), "controllers have not settled in 10m"))
	is.True(strings.Contains(err.Error(), "namespace-controller n"))
}

// TestSteps checks that Step allows a test to observe each reconcile, and that Plan determines the next one.
func TestSteps(t *testing.T) {
	c, is := controlled(t)
	c.srv.Controllers.Stepped(true)
	c.must("POST", webs, threePods)
	is.Equal(c.number(webSets), 0)
	var due []string
	for _, w := range c.srv.Controllers.Due(0) {
		due = append(due, w.Item.String())
	}
	is.True(strings.Contains(strings.Join(due, ","), deploymentController+" default/web"))
	c.srv.Controllers.Plan(controller.Item{Controller: deploymentController, Key: controller.Key{Namespace: "default", Name: "web"}})
	is.True(c.srv.Step())
	is.Equal(c.number(webSets), 1) // the planned one was first
	is.Equal(c.number(webPods), 0)
	f := c.srv.Fork()
	is.NoErr(f.Settle(context.Background()))
	is.Equal(client{t, f}.number(webPods), 3) // a fork continues with the queue
	is.Equal(c.number(webPods), 0)            // the original server does not
	for c.srv.Step() {
	}
	is.Equal(c.number(webPods), 3)
}

// TestShuffled checks that a Deployment reaches the same state in any random order of reconciles.
func TestShuffled(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Controllers: controller.All, Seed: seed + 1})}
		c.srv.Controllers.Shuffle()
		c.srv.Controllers.Stepped(true)
		c.must("POST", webs, threePods)
		is.NoErr(c.srv.Settle(context.Background()))
		is.Equal(c.number(webPods), 3)
	}
}

// two returns the JSON of a Deployment named two with the given number of replicas.
func two(replicas int) string {
	return strings.ReplaceAll(strings.ReplaceAll(threePods, "web", "two"), `"replicas":3`, fmt.Sprint(`"replicas":`, replicas))
}

// TestTroubleOfControllers checks that controllers can be stopped, crashed, delayed and made to lag: with a method, a
// fault or a control request.
func TestTroubleOfControllers(t *testing.T) {
	c, is := controlled(t)
	c.srv.Controllers.Stop(replicaSetController)
	c.must("POST", webs, threePods)
	is.Equal(c.number(webPods), 0)
	c.srv.Controllers.Start(replicaSetController)
	is.Equal(c.number(webPods), 3)

	c.srv.Faults.Add(fault.On("create", "pods").Times(1).CrashController(replicaSetController))
	c.must("POST", webs, two(3))
	is.Equal(c.number(webPods+"?labelSelector=app%3Dtwo"), 1) // it crashed in the middle of its work
	c.must("PUT", webs+"/two", two(5))
	c.do("POST", "/sim/v1/controllers/replicaset-controller/start", "")
	is.Equal(c.number(webPods+"?labelSelector=app%3Dtwo"), 5)

	c.do("POST", "/sim/v1/controllers/deployment-controller/slow?for=30s", "")
	c.must("PUT", webs+"/two", two(4))
	is.Equal(c.number(webPods+"?labelSelector=app%3Dtwo"), 5)
	c.srv.Clock.Advance(30 * time.Second)
	is.Equal(c.number(webPods+"?labelSelector=app%3Dtwo"), 4)
	_, text := c.do("POST", "/sim/v1/controllers/nobody/stop", "")
	is.True(strings.Contains(text, `there is no controller "nobody": there are `))
	_, text = c.do("POST", "/sim/v1/controllers/deployment-controller/cut", "")
	is.True(strings.Contains(text, "the actions are lag, resume, restart, stop, crash, start and slow"))
}

// TestStepsByRequest checks that control requests step controllers and return their state.
func TestStepsByRequest(t *testing.T) {
	c, is := controlled(t)
	control := func(path string) int {
		code, _ := c.do("POST", "/sim/v1/controllers/"+path, "")
		return code
	}
	is.Equal(control("stepped?wait=true"), 200)
	c.must("POST", webs, threePods)
	_, _, text := c.ask("GET", "/sim/v1/controllers", "", "application/json", "")
	var report controller.Report
	is.NoErr(json.Unmarshal([]byte(text), &report))
	is.True(report.Stepped)
	at := slices.IndexFunc(report.Controllers, func(r controller.Reported) bool { return r.Name == deploymentController })
	is.Equal(report.Controllers[at].Due, []controller.Due{{Key: "default/web", In: 0}})
	is.Equal(c.number(webSets), 0)
	is.Equal(control(deploymentController+"/step"), 200)
	is.Equal(c.number(webSets), 1)
	is.Equal(control("cronjob-controller/step"), 409) // it has nothing to do
	is.Equal(control("nobody/step"), 400)
	is.Equal(control("stepped"), 400) // the value is missing
	for steps := 0; control("step") == 200; steps++ {
		is.True(steps < 100)
	}
	is.Equal(c.number(webPods), 3)
	is.Equal(control("stop"), 404)
	is.Equal(control("stepped?wait=false"), 200)
	is.Equal(control(replicaSetController+"/stop"), 200)
	_, _, text = c.ask("GET", "/sim/v1/controllers", "", "application/json", "")
	is.True(strings.Contains(text, `{"name":"replicaset-controller","state":"stopped","rv":"`))
}

// TestIdleDay checks that a day in which nothing happens costs nothing: no controller runs.
func TestIdleDay(t *testing.T) {
	is := is.New(t)
	// This test excludes the scheduler, because the scheduler retries pods that fit on no node and reports that in
	// events, like the real one.
	c := client{t, fake.RunT(t, fake.Options{Controllers: append(controller.All, "-kube-scheduler")})}
	c.must("POST", webs, threePods)
	c.srv.Clock.Advance(24 * time.Hour) // the deadline of the rollout passes, and events expire
	before := c.srv.Revision()
	began := time.Now()
	c.srv.Clock.Advance(24 * time.Hour)
	is.Equal(c.srv.Revision(), before)
	is.True(time.Since(began) < time.Second)
}
