package fake_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/network"
	"github.com/kubesim/kubesim/sim/object"
)

// ipsOf returns the addresses in a list of a status.
func ipsOf(obj object.Object, path ...string) (all []string) {
	for _, x := range obj.Objects(path...) {
		all = append(all, x.String("ip")+x.String("address"))
	}
	return all
}

// TestTwoFamilies checks the addresses of nodes, pods, services, endpoints and load balancers of a cluster with both IP families.
func TestTwoFamilies(t *testing.T) {
	for ranges, want := range map[string]struct{ first, node, cidrs, pod, slices, balancer string }{
		"":                       {"10.0.0.1", "172.18.0.2 node-1", "10.244.0.0/24", "10.244.0.2", "10.244.0.2", "198.18.0.2"},
		"10.0.0.0/24,fd00::/112": {"10.0.0.1", "172.18.0.2 fc00:172:18::2 node-1", "10.244.0.0/24 fd00:10:244::/64", "10.244.0.2 fd00:10:244::2", "10.244.0.2 fd00:10:244::2", "198.18.0.2 2001:2::2"},
		"fd00::/64,10.0.0.0/24":  {"fd00::1", "fc00:172:18::2 172.18.0.2 node-1", "fd00:10:244::/64 10.244.0.0/24", "fd00:10:244::2 10.244.0.2", "10.244.0.2 fd00:10:244::2", "2001:2::2 198.18.0.2"},
		"fd00::/112":             {"fd00::1", "fc00:172:18::2 node-1", "fd00:10:244::/64", "fd00:10:244::2", "fd00:10:244::2", "2001:2::2"},
	} {
		t.Run(ranges, func(t *testing.T) {
			o := fake.Options{ServiceCIDR: ranges, Controllers: slices.Concat(controller.All, []string{network.LoadBalancers})}
			onNodes(t, o, func(t *testing.T, is *is.I, c client) {
				is.Equal(c.must("GET", inCore+"services/kubernetes", "").String("spec", "clusterIP"), want.first)
				is.Equal(c.must("GET", "/apis/networking.k8s.io/v1/ipaddresses/"+want.first, "").String("spec", "parentRef", "name"), "kubernetes")
				c.must("POST", inPods, `{"metadata":{"name":"p","labels":{"app":"web"}},"spec":{`+oneContainer+`}}`)
				c.bound("echo", `"containers":[{"name":"c","image":"busybox","command":["sh","-c","echo $IPS $HOSTS"],"env":[
					{"name":"IPS","valueFrom":{"fieldRef":{"fieldPath":"status.podIPs"}}},{"name":"HOSTS","valueFrom":{"fieldRef":{"fieldPath":"status.hostIPs"}}}]}]`)
				c.must("POST", inCore+"services", `{"metadata":{"name":"web"},"spec":{"type":"LoadBalancer","ipFamilyPolicy":"PreferDualStack",
					"ports":[{"port":80}],"selector":{"app":"web"}}}`)
				pod := c.later(10*time.Second, "p")
				node := c.must("GET", "/api/v1/nodes/node-1", "")
				is.Equal(strings.Join(ipsOf(node, "status", "addresses"), " "), want.node)
				is.Equal(strings.Join(node.Strings("spec", "podCIDRs"), " "), want.cidrs)
				is.Equal(strings.Join(ipsOf(pod, "status", "podIPs"), " "), want.pod)
				is.Equal(pod.String("status", "podIP"), ipsOf(pod, "status", "podIPs")[0])
				is.Equal(strings.Join(append(ipsOf(pod, "status", "hostIPs"), "node-1"), " "), want.node)
				echo := c.must("GET", inPods+"/echo", "")
				_, log := c.do("GET", inPods+"/echo/log", "")
				is.Equal(log, strings.Join(ipsOf(echo, "status", "podIPs"), ",")+" "+strings.Join(ipsOf(echo, "status", "hostIPs"), ",")+"\n")
				service := c.must("GET", inCore+"services/web", "")
				is.Equal(len(service.Strings("spec", "clusterIPs")), len(node.Strings("spec", "podCIDRs"))) // one of each family
				is.Equal(strings.Join(ipsOf(service, "status", "loadBalancer", "ingress"), " "), want.balancer)
				var endpoints []string
				for _, s := range c.must("GET", inSlices+ofWeb, "").Objects("items") {
					endpoints = append(endpoints, s.Objects("endpoints")[0].Strings("addresses")...)
				}
				slices.Sort(endpoints)
				is.Equal(strings.Join(endpoints, " "), want.slices)
				is.Equal(c.must("GET", inCore+"endpoints/web", "").Objects("subsets")[0].Objects("addresses")[0].String("ip"), pod.String("status", "podIP"))
			})
		})
	}
}

// TestRangesOfServices checks the errors for invalid ranges.
func TestRangesOfServices(t *testing.T) {
	is := is.New(t)
	for _, ranges := range []string{"x", "10.0.0.0/30", "fd00::/63", "10.0.0.0/24,10.1.0.0/24", "10.0.0.0/24,", "10.0.0.0/24,fd00::/112,fd01::/112", "fd00::/126"} {
		_, err := fake.New(fake.Options{ServiceCIDR: ranges})
		is.True(err != nil && strings.Contains(err.Error(), `Service CIDR "`+ranges+`": it must be a range`))
	}
	_, err := fake.New(fake.Options{ServiceCIDR: "fd00::/112", Advertise: "192.0.2.7"})
	is.Equal(err.Error(), `kubesim: service IP family "fd00::/112" must match public address family "192.0.2.7"`)
}
