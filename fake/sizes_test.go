package fake_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// podsOf is a Deployment, of the given number and replicas.
const podsOf = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web-%[1]d"},"spec":{"replicas":%[2]d,
"selector":{"matchLabels":{"app":"web-%[1]d"}},"template":{"metadata":{"labels":{"app":"web-%[1]d"}},"spec":{"containers":[
{"name":"web","image":"nginx:1.29","resources":{"requests":{"cpu":"50m"}}}]}}}}`

// TestSameBytesAtEachSize checks that the same seed gives the same bytes at each size, whatever the number of processors, and that
// another seed gives others. The test is not parallel, because it changes the number of processors of the process.
func TestSameBytesAtEachSize(t *testing.T) {
	sizes := []struct{ nodes, pods int }{{3, 100}, {50, 300}, {1000, 100}}
	if testing.Short() {
		sizes = []struct{ nodes, pods int }{{3, 30}}
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, size := range sizes {
		t.Run(fmt.Sprintf("%dx%d", size.nodes, size.pods), func(t *testing.T) {
			is := is.New(t)
			first := hashOfFilled(t, 1, size.nodes, size.pods)
			is.Equal(hashOfFilled(t, 1, size.nodes, size.pods), first) // twice
			is.True(hashOfFilled(t, 2, size.nodes, size.pods) != first)
			processors := []int{1, 2, 7}
			if testing.Short() || size != sizes[0] {
				processors = processors[:1] // a large cluster takes seconds
			}
			for _, n := range processors {
				runtime.GOMAXPROCS(n)
				is.Equal(hashOfFilled(t, 1, size.nodes, size.pods), first)
			}
		})
	}
}

// hashOfFilled fills a cluster with running pods, and returns a hash of its trace and its objects.
func hashOfFilled(t *testing.T, seed uint64, nodes, pods int) string {
	const replicas = 10
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Seed: seed, Controllers: controller.All, Nodes: nodes, Clock: clock.NewManual(clock.Epoch())})}
	for n := range pods / replicas {
		c.must("POST", "/apis/apps/v1/namespaces/default/deployments", fmt.Sprintf(podsOf, n, replicas))
	}
	is.NoErr(c.srv.Settle(context.Background()))
	h := sha256.New()
	h.Write(c.srv.Trace().JSONL())
	for _, path := range []string{"/api/v1/nodes", "/api/v1/pods", "/api/v1/events", "/apis/apps/v1/replicasets", "/apis/apps/v1/deployments",
		"/apis/coordination.k8s.io/v1/leases"} {
		code, _, text := c.ask("GET", path, "", "", "")
		is.Equal(code, 200)
		h.Write([]byte(text))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}
