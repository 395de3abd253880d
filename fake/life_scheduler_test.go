package fake_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/matryer/is"
)

// aNode is the body of a node with room for pods.
func aNode(name, cpu, labels string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q%s}},
		"status":{"allocatable":{"cpu":%q,"memory":"8Gi","pods":"110"},"capacity":{"cpu":%q,"memory":"8Gi","pods":"110"}}}`, name, name, labels, cpu, cpu)
}

// asking is the body of a pod that asks for cpu.
func asking(name, cpu, spec string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q,"labels":{"app":"a"}},"spec":{%s"containers":[{"name":"c","image":"i",
		"resources":{"requests":{"cpu":%q}}}]}}`, name, spec, cpu)
}

func TestMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: []string{"kube-scheduler"}})}
		for i := range 100 {
			c.must("POST", "/api/v1/nodes", aNode(fmt.Sprintf("n%d", i), "32", ""))
			c.mergePatch(fmt.Sprintf("/api/v1/nodes/n%d", i), `{"spec":{"taints":null}}`)
		}
		start := time.Now()
		for i := range 5000 {
			c.must("POST", "/api/v1/namespaces/default/pods", asking(fmt.Sprintf("p%d", i), "100m", ""))
		}
		_ = start
		is.Equal(len(c.names("/api/v1/namespaces/default/pods?fieldSelector=spec.nodeName%3D")), 0)
	})
}
