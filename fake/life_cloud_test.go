package fake_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/network"
)

// TestLoadBalancers checks the controllers that simulate load balancers.
func TestLoadBalancers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		c := client{t, fake.RunT(t, fake.Options{Clock: clock.System{}, Controllers: slices.Concat(controller.All, []string{network.LoadBalancers, network.Ingresses})})}
		address := func(path string) string {
			time.Sleep(time.Second)
			all := c.must("GET", path, "").Objects("status", "loadBalancer", "ingress")
			if len(all) == 0 {
				return ""
			}
			return all[0].String("ip")
		}
		service := func(name, spec string) {
			c.must("POST", inCore+"services", `{"metadata":{"name":"`+name+`"},"spec":{"ports":[{"port":80}],"type":"LoadBalancer"`+spec+`}}`)
		}
		service("a", "")
		service("b", `,"loadBalancerIP":"192.0.2.9"`)
		service("c", `,"loadBalancerClass":"other.io/lb"`)
		service("d", "")
		is.Equal(address(inCore+"services/a"), "198.18.0.2")
		is.Equal(address(inCore+"services/b"), "192.0.2.9")
		is.Equal(address(inCore+"services/c"), "") // another load balancer is responsible
		is.Equal(address(inCore+"services/d"), "198.18.0.3")
		is.Equal(c.must("GET", inCore+"services/a", "").Finalizers(), []string{"service.kubernetes.io/load-balancer-cleanup"})
		c.must("DELETE", inCore+"services/d", "")
		c.mergePatch(inCore+"services/a", `{"spec":{"type":"ClusterIP","allocateLoadBalancerNodePorts":null}}`)
		is.Equal(address(inCore+"services/a"), "")
		is.Equal(len(c.must("GET", inCore+"services/a", "").Finalizers()), 0)
		is.Equal(len(c.must("GET", inCore+"services?fieldSelector=metadata.name=d", "").List("items")), 0)

		const inNetworking = "/apis/networking.k8s.io/v1/"
		ingress := func(name, class string) {
			c.must("POST", inNetworking+"namespaces/default/ingresses", `{"metadata":{"name":"`+name+`"},"spec":{"ingressClassName":"`+class+`",
				"defaultBackend":{"service":{"name":"a","port":{"number":80}}}}}`)
		}
		ingress("early", "ours")
		ingress("other", "theirs")
		is.Equal(address(inNetworking+"namespaces/default/ingresses/early"), "")                                   // there is no class yet
		for name, driver := range map[string]string{"ours": network.IngressDriver, "theirs": "other.io/ingress"} { // order does not matter
			c.must("POST", inNetworking+"ingressclasses", `{"metadata":{"name":"`+name+`"},"spec":{"controller":"`+driver+`"}}`)
		}
		is.Equal(address(inNetworking+"namespaces/default/ingresses/early"), "198.18.0.1")
		is.Equal(address(inNetworking+"namespaces/default/ingresses/other"), "")
	})
}
