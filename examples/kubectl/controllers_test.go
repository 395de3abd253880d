package kubectl

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// live runs a test in virtual time, with three nodes and all controllers, so that the conditions for which kubectl waits occur.
func live(t *testing.T, test func(is *is.I, k kubectl)) {
	synctest.Test(t, func(t *testing.T) {
		_, k := start(t, fake.Options{Clock: clock.System{}, Controllers: controller.All, Nodes: 3})
		test(is.New(t), k)
		time.Sleep(time.Minute) // what kubectl has put off ends before the bubble
	})
}

// A rollout is watched until its end, appears in the history, and is undone.
func TestRolloutRuns(t *testing.T) {
	live(t, func(is *is.I, k kubectl) {
		k.do("create -f " + k.file(web))
		is.True(strings.HasSuffix(k.do("rollout status deployment web"), "deployment \"web\" successfully rolled out\n"))
		k.do("set image deployment/web main=nginx:2")
		is.True(strings.HasSuffix(k.do("rollout status deployment web"), "deployment \"web\" successfully rolled out\n"))
		time.Sleep(time.Minute) // pods of before end
		is.Equal(k.do("get pods -o jsonpath={.items[*].spec.containers[0].image}"), "nginx:2 nginx:2")
		is.Equal(strings.Count(k.do("rollout history deployment web"), "<none>"), 2) // two revisions without a cause
		is.Equal(k.do("rollout undo deployment web"), "deployment.apps/web rolled back\n")
		k.do("rollout status deployment web")
		time.Sleep(time.Minute)
		is.Equal(k.do("get pods -o jsonpath={.items[*].spec.containers[0].image}"), "nginx:1 nginx:1")
	})
}

// A drained node has no pods. Those of the Deployment are recreated on other nodes.
func TestDrain(t *testing.T) {
	live(t, func(is *is.I, k kubectl) {
		k.do("create -f " + k.file(web))
		k.do("rollout status deployment web")
		node := k.do("get pods -o jsonpath={.items[0].spec.nodeName}")
		is.True(strings.HasSuffix(k.do("drain "+node), "node/"+node+" drained\n"))
		k.do("rollout status deployment web")
		is.True(!strings.Contains(k.do("get pods -o jsonpath={.items[*].spec.nodeName}"), node))
		is.True(strings.Contains(k.do("get node "+node), "Ready,SchedulingDisabled"))
		is.Equal(k.do("uncordon "+node), "node/"+node+" uncordoned\n")
	})
}

// A namespace is deleted together with its contents.
func TestWaitForDelete(t *testing.T) {
	live(t, func(is *is.I, k kubectl) {
		k.do("create namespace n")
		k.do("create -n n -f " + k.file(web))
		k.do("rollout status -n n deployment web")
		k.do("delete namespace n --wait=false")
		is.Equal(k.do("wait --for=delete namespace/n --timeout 5m"), "namespace/n condition met\n")
		is.Equal(k.do("get pods -A -o name"), "")
	})
}

// A Job is created manually from a CronJob, and runs to completion.
func TestCreateJobFrom(t *testing.T) {
	live(t, func(is *is.I, k kubectl) {
		k.do("create cronjob nightly --image busybox --schedule @daily -- echo hello")
		is.Equal(k.do("create job once --from cronjob/nightly"), "job.batch/once created\n")
		is.Equal(k.do("wait --for=condition=complete job/once --timeout 1m"), "job.batch/once condition met\n")
		is.Equal(k.do("logs job/once"), "hello\n")
	})
}

// An autoscaler follows the usage that the pods' annotations define.
func TestAutoscale(t *testing.T) {
	live(t, func(is *is.I, k kubectl) {
		busy := strings.Replace(web, "metadata: {labels: {app: web}}", "metadata: {labels: {app: web}, annotations: {kubesim.io/cpu: 90m}}", 1)
		busy = strings.Replace(busy, `image: "nginx:1"`, `image: "nginx:1", resources: {requests: {cpu: 100m}}`, 1)
		busy = strings.Replace(busy, `image: "envoy:1"`, `image: "envoy:1", resources: {requests: {cpu: 100m}}`, 1)
		k.do("create -f " + k.file(busy))
		k.do("rollout status deployment web")
		is.Equal(k.do("autoscale deployment web --min 1 --max 5 --cpu 45%"), "horizontalpodautoscaler.autoscaling/web autoscaled\n")
		is.Equal(k.do("wait --for=jsonpath={.status.desiredReplicas}=4 hpa/web --timeout 5m"), "horizontalpodautoscaler.autoscaling/web condition met\n")
	})
}
