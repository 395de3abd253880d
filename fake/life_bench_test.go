package fake_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// BenchmarkDeployment measures a Deployment from the start of its server until all its pods are ready, with all controllers.
func BenchmarkDeployment(b *testing.B) {
	for _, size := range []struct{ pods, nodes int }{{10, 3}, {1000, 100}, {5000, 100}} {
		b.Run(fmt.Sprintf("%d-on-%d", size.pods, size.nodes), func(b *testing.B) {
			body := strings.Replace(threePods, `"replicas":3`, fmt.Sprint(`"replicas":`, size.pods), 1)
			body = strings.Replace(body, `{"metadata":{"name":"web"}`, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"}`, 1)
			for range b.N {
				srv, err := fake.New(fake.Options{Controllers: controller.All, Nodes: size.nodes})
				if err != nil {
					b.Fatal(err)
				}
				if err := srv.LoadData([]byte(body)); err != nil {
					b.Fatal(err)
				}
				if err := srv.Settle(context.Background()); err != nil {
					b.Fatal(err)
				}
				srv.Close()
			}
		})
	}
}

// TestDeploymentIsReady checks that after Settle, all pods of a Deployment are ready.
func TestDeploymentIsReady(t *testing.T) {
	c := client{t, fake.RunT(t, fake.Options{Controllers: controller.All, Nodes: 3})}
	c.must("POST", webs, threePods)
	if err := c.srv.Settle(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := c.must("GET", webs+"/web", "").Int64("status", "readyReplicas"); n != 3 {
		t.Errorf("%d of 3 pods are ready", n)
	}
}
