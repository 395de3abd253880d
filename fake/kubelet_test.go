package fake_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

const leaseOfNode = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1"

// standing returns a client of a server with a node, a manual clock and a running pod.
func standing(t *testing.T) client {
	t.Helper()
	c := client{t, fake.RunT(t, fake.Options{Nodes: 1})}
	c.bound("web", oneContainer)
	c.srv.Clock.Advance(time.Second)
	return c
}

// TestHeartbeats checks that a client sees that a kubelet renews its lease every ten seconds and reports every five
// minutes. Renewals that no client can observe are not written.
func TestHeartbeats(t *testing.T) {
	is := is.New(t)
	c := standing(t)
	c.srv.Clock.Advance(2 * time.Hour) // the events about it have expired
	before := c.srv.Revision()
	c.srv.Clock.Advance(22*time.Hour + 3*time.Second)
	lease := c.must("GET", leaseOfNode, "")
	is.Equal(lease.String("spec", "renewTime"), "2026-01-02T00:00:00.000000Z")
	ready := c.must("GET", "/api/v1/nodes/node-1", "").Objects("status", "conditions")[3]
	is.Equal(ready.String("lastHeartbeatTime"), "2026-01-02T00:00:00Z")
	is.Equal(ready.String("lastTransitionTime"), "2026-01-01T00:00:00Z")
	is.Equal(c.srv.Revision()-before, uint64(2)) // for the whole day: the last renewal and the last report
	c.srv.Clock.Advance(7 * time.Second)
	is.Equal(c.must("GET", leaseOfNode, "").String("spec", "renewTime"), "2026-01-02T00:00:10.000000Z")
}

// TestIdleKubelets checks that a cluster without requests has almost nothing to do, however many controllers and nodes
// it has.
func TestIdleKubelets(t *testing.T) {
	is := is.New(t)
	srv := fake.RunT(t, fake.Options{Nodes: 3, Controllers: controller.All})
	srv.Clock.Advance(2 * time.Hour)
	before := srv.Revision()
	srv.Clock.Advance(24 * time.Hour)
	is.Equal(srv.Revision()-before, uint64(6)) // the last renewal and the last report of each node
	is.Equal(len(srv.Controllers.Due(time.Hour)), 0)
}

// TestNodeIsGivenUp checks that a node whose kubelet is down becomes unknown 50 seconds after its last heartbeat, and
// that its pods are evicted five minutes later.
func TestNodeIsGivenUp(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Nodes: 2, Controllers: controller.All})}
	c.must("POST", inApps+"deployments", `{"metadata":{"name":"web"},"spec":{"replicas":1,`+template(`"a":"b"`)+`}}`)
	c.srv.Clock.Advance(24 * time.Hour)
	pod := c.names(inPods)[0]
	node := c.must("GET", inPods+"/"+pod, "").String("spec", "nodeName")
	ready := func() string {
		return c.must("GET", "/api/v1/nodes/"+node, "").Objects("status", "conditions")[3].String("status")
	}
	c.srv.Controllers.Crash("kubelet-" + node)
	c.srv.Clock.Advance(40 * time.Second)
	is.Equal(ready(), "True")
	c.srv.Clock.Advance(20 * time.Second)
	is.Equal(ready(), "Unknown")
	c.srv.Clock.Advance(6 * time.Minute)
	is.Equal(c.must("GET", inPods+"/"+pod, "").DeletionTimestamp() != "", true)
	is.Equal(len(c.names(inPods)), 2) // a second one runs on the other node
	c.srv.Controllers.Start("kubelet-" + node)
	c.srv.Clock.Advance(time.Minute)
	is.Equal(ready(), "True")
	is.Equal(len(c.names(inPods)), 1)
	is.Equal(len(c.must("GET", "/api/v1/nodes/"+node, "").List("spec", "taints")), 0)
}

// TestKubeletDies checks that a kubelet that is down does not renew its lease, and that its containers keep running. A
// restarted kubelet finds them in their current state.
func TestKubeletDies(t *testing.T) {
	is := is.New(t)
	c := standing(t)
	c.srv.Controllers.Crash("kubelet-node-1")
	c.bound("late", oneContainer)
	c.srv.Clock.Advance(time.Hour)
	is.Equal(c.must("GET", leaseOfNode, "").String("spec", "renewTime"), "2026-01-01T00:00:00.000000Z")
	is.Equal(state(c.must("GET", inPods+"/late", "")), "Pending")
	web := c.must("GET", inPods+"/web", "")
	c.srv.Controllers.Start("kubelet-node-1")
	is.Equal(c.must("GET", leaseOfNode, "").String("spec", "renewTime"), "2026-01-01T01:00:01.000000Z")
	c.srv.Clock.Advance(time.Second)
	is.Equal(state(c.must("GET", inPods+"/late", "")), "Running c:running,ready")
	is.Equal(c.must("GET", inPods+"/web", ""), web)
}

// TestForkOfPods checks that a fork and a server from a snapshot continue with the pods of their origin.
func TestForkOfPods(t *testing.T) {
	is := is.New(t)
	c := standing(t)
	c.bound("crash", `"containers":[{"name":"c","image":"busybox","command":["sh","-c","sleep 2; exit 1"]}]`)
	c.bound("probed", `"containers":[{"name":"c","image":"i","readinessProbe":{"httpGet":{"port":1}}}]`, `"kubesim.io/ready-delay":"45s"`)
	c.srv.Clock.Advance(5 * time.Second)
	snapshot, err := c.srv.Snapshot()
	is.NoErr(err)
	loaded, err := fake.New(fake.Options{Snapshot: snapshot})
	is.NoErr(err)
	defer loaded.Close()
	var all []string
	for _, srv := range []*fake.Server{c.srv, c.srv.Fork(), loaded} {
		srv.Clock.Advance(time.Minute)
		one := client{t, srv}
		_, text := one.do("GET", inPods, "")
		_, told := one.do("GET", "/api/v1/namespaces/default/events", "")
		all = append(all, text+told+one.logs("crash", ""))
	}
	is.Equal(all[1], all[0])
	is.Equal(all[2], all[0])
}

// TestForkOfPodsThatWere checks that a fork at a past revision has the pods in their state at that revision, and that
// they continue from there.
func TestForkOfPodsThatWere(t *testing.T) {
	is := is.New(t)
	c := standing(t)
	at := c.srv.Revision()
	c.must("DELETE", inPods+"/web", "")
	c.srv.Clock.Advance(time.Minute)
	is.Equal(len(c.names(inPods)), 0)
	fork, err := c.srv.ForkAt(at)
	is.NoErr(err)
	f := client{t, fork}
	is.Equal(state(f.must("GET", inPods+"/web", "")), "Running c:running,ready")
	f.must("DELETE", inPods+"/web", "")
	fork.Clock.Advance(time.Second)
	is.Equal(len(f.names(inPods)), 0)
}

// TestNodesThatAreNotThere checks that a pod that is bound to a node that does not exist stays as it is. A node that a
// client has deleted does not come back by itself.
func TestNodesThatAreNotThere(t *testing.T) {
	is := is.New(t)
	c := standing(t)
	c.must("POST", inPods, `{"metadata":{"name":"lost"},"spec":{"nodeName":"node-9",`+oneContainer+`}}`)
	c.must("DELETE", "/api/v1/nodes/node-1", "")
	c.srv.Clock.Advance(time.Hour)
	is.Equal(state(c.must("GET", inPods+"/lost", "")), "Pending")
	code, _ := c.do("GET", "/api/v1/nodes/node-1", "")
	is.Equal(code, 404)
	code, _ = c.do("GET", inPods+"/lost/log", "")
	is.Equal(code, 404)
}

// deploy creates deployments of ten replicas on nodes, waits until the cluster has settled, and returns the number of
// ready pods.
func deploy(tb testing.TB, nodes, deployments int) (ready int64) {
	srv, err := fake.New(fake.Options{Nodes: nodes, Controllers: controller.All})
	is := is.NewRelaxed(tb)
	is.NoErr(err)
	defer srv.Close()
	ask := func(method, body string) object.Object {
		q, err := http.NewRequest(method, srv.URL()+inApps+"deployments", strings.NewReader(body))
		is.NoErr(err)
		q.Header.Set("Content-Type", "application/json")
		res, err := srv.Transport().RoundTrip(q)
		is.NoErr(err)
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		is.NoErr(err)
		obj, err := object.Parse(data)
		is.NoErr(err)
		return obj
	}
	for n := range deployments {
		ask("POST", fmt.Sprintf(`{"metadata":{"name":"web-%d"},"spec":{"replicas":10,%s}}`, n, template(fmt.Sprintf(`"app":"web-%d"`, n))))
	}
	is.NoErr(srv.Settle(tb.Context()))
	for _, d := range ask("GET", "").Objects("items") {
		ready += d.Int64("status", "readyReplicas")
	}
	return ready
}

// TestDeploymentOnNodes checks that the pods of a Deployment are scheduled, run, and make the Deployment ready.
func TestDeploymentOnNodes(t *testing.T) {
	is.New(t).Equal(deploy(t, 3, 2), int64(20))
}

func BenchmarkDeploymentReady(b *testing.B) {
	for b.Loop() {
		is.NewRelaxed(b).Equal(deploy(b, 3, 1), int64(10))
	}
}

func BenchmarkFiveThousandPods(b *testing.B) {
	for b.Loop() {
		is.NewRelaxed(b).Equal(deploy(b, 100, 500), int64(5000))
	}
}
