package fake_test

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
)

// TestTopologyOfServices checks that a service with the annotation for topology-aware routing gets an event with the
// result.
func TestTopologyOfServices(t *testing.T) {
	is := is.New(t)
	c := client{t, fake.RunT(t, fake.Options{Nodes: 2, Controllers: controller.All})}
	c.must("POST", inCore+"services", `{"metadata":{"name":"web","annotations":{"service.kubernetes.io/topology-mode":"Auto"}},"spec":{"ports":[{"port":80}],"selector":{"app":"web"}}}`)
	c.must("POST", inApps+"deployments", `{"metadata":{"name":"web"},"spec":{"replicas":2,`+template(`"app":"web"`)+`}}`)
	c.srv.Clock.Advance(time.Minute)
	is.Equal(c.endpointTexts(), []string{"10.244.0.2 ready serving for zone-1", "10.244.1.2 ready serving for zone-2"})
	const few, type4 = "TopologyAwareHintsDisabled: Insufficient number of endpoints (0 endpoints, 2 zones)", ", addressType: IPv4"
	is.Equal(c.said("web")[0], few+type4)
	is.Equal(c.said("web")[len(c.said("web"))-1], "TopologyAwareHintsEnabled: Topology Aware Hints has been enabled"+type4)
	c.mergePatch("/api/v1/nodes/node-2", `{"metadata":{"labels":{"topology.kubernetes.io/zone":"zone-1"}}}`)
	c.srv.Clock.Advance(time.Minute)
	is.Equal(c.endpointTexts(), []string{"10.244.0.2 ready serving", "10.244.1.2 ready serving"})
	const unknown = "TopologyAwareHintsDisabled: Insufficient Node information: allocatable CPU or zone not specified on one or more nodes"
	is.Equal(c.said("web")[len(c.said("web"))-1], unknown+type4)
}
