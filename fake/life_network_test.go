package fake_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"
)

const (
	inCore   = "/api/v1/namespaces/default/"
	inSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
	ofWeb    = "?labelSelector=kubernetes.io/service-name=web"
)

// serve creates a node, a service named web and a pod of the service with an address.
func (c client) serve(spec string) {
	c.t.Helper()
	c.must("POST", "/api/v1/nodes", `{"metadata":{"name":"n1","labels":{"topology.kubernetes.io/zone":"z"}}}`)
	c.must("POST", inCore+"services", `{"metadata":{"name":"web"},"spec":{"ports":[{"port":80,"targetPort":"http"}],"selector":{"app":"web"}`+spec+`}}`)
	c.backend("a", 1, true)
}

// backend creates a pod of the service with an address.
func (c client) backend(name string, n int, ready bool) {
	c.t.Helper()
	c.must("POST", inCore+"pods", `{"metadata":{"name":"`+name+`","labels":{"app":"web"},"finalizers":["example.com/me"]},"spec":{"nodeName":"n1",
		"containers":[{"name":"c","image":"i","ports":[{"name":"http","containerPort":8080}]}]}}`)
	c.up(name, n, ready)
}

func (c client) up(name string, n int, ready bool) {
	c.t.Helper()
	value := map[bool]string{true: "True", false: "False"}[ready]
	ip := fmt.Sprintf("10.1.%d.%d", n/256, n%256)
	c.mergePatch(inCore+"pods/"+name+"/status", `{"status":{"phase":"Running","podIP":"`+ip+`","podIPs":[{"ip":"`+ip+`"}],
		"conditions":[{"type":"Ready","status":"`+value+`","lastTransitionTime":"2000-01-02T03:04:05Z"}]}}`)
}

// endpointTexts returns the endpoints of all slices: the address, whether the endpoint is ready, serving and
// terminating, and the hints.
func (c client) endpointTexts() (texts []string) {
	c.t.Helper()
	for _, s := range c.must("GET", inSlices+ofWeb, "").Objects("items") {
		for _, e := range s.Objects("endpoints") {
			text := e.Strings("addresses")[0]
			for _, name := range []string{"ready", "serving", "terminating"} {
				if e.True("conditions", name) {
					text += " " + name
				}
			}
			for _, h := range append(e.Objects("hints", "forZones"), e.Objects("hints", "forNodes")...) {
				text += " for " + h.Name() + h.String("name")
			}
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts
}

func TestEndpoints(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.serve("")
		c.backend("b", 2, false)
		e := c.must("GET", inCore+"endpoints/web", "")
		is.Equal(e.Annotations()["endpoints.kubernetes.io/last-change-trigger-time"], "2000-01-02T03:04:05Z")
		is.Equal(e.Labels(), map[string]string{"endpoints.kubernetes.io/managed-by": "endpoint-controller"})
		subsets := e.Objects("subsets")
		is.Equal(len(subsets), 1)
		is.Equal(subsets[0].Objects("addresses")[0].String("ip"), "10.1.0.1")
		is.Equal(subsets[0].Objects("notReadyAddresses")[0].String("ip"), "10.1.0.2")
		is.Equal(subsets[0].Objects("ports")[0].Int64("port"), int64(8080))
		c.must("DELETE", inCore+"services/web", "")
		code, _ := c.do("GET", inCore+"endpoints/web", "")
		is.Equal(code, 404)
		is.Equal(len(c.endpointTexts()), 0)
	})
}

// TestEndpointTerminates checks that a terminating pod is serving but not ready, and is no longer in the Endpoints.
func TestEndpointTerminates(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.serve("")
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving"})
		c.must("DELETE", inCore+"pods/a", "")
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 serving terminating"})
		is.Equal(len(c.must("GET", inCore+"endpoints/web", "").List("subsets")), 0)
	})
}

func TestEndpointHints(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.serve(`,"trafficDistribution":"PreferSameNode"`)
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving for z for n1"})
		c.mergePatch(inCore+"services/web", `{"spec":{"trafficDistribution":"PreferSameZone"}}`)
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving for z"})
		c.mergePatch(inCore+"services/web", `{"spec":{"trafficDistribution":null}}`)
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving"})
	})
}

// TestSlicesAreFull checks that a slice contains at most a hundred endpoints. A pod on a node that does not exist is in
// no slice.
func TestSlicesAreFull(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.serve("")
		for n := 2; n <= 101; n++ {
			c.backend(fmt.Sprint("p", n), n, true)
		}
		var sizes []int
		for _, s := range c.must("GET", inSlices+ofWeb, "").Objects("items") {
			sizes = append(sizes, len(s.List("endpoints")))
		}
		slices.Sort(sizes)
		is.Equal(sizes, []int{1, 100})
		c.must("DELETE", "/api/v1/nodes/n1", "")
		c.up("a", 1, false)
		is.Equal(len(c.endpointTexts()), 0)
		is.True(slices.Contains(c.reasons(), "FailedToUpdateEndpointSlices"))
	})
}

// TestSliceIsMended checks that a slice that another client damages is repaired a second later.
func TestSliceIsMended(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.serve("")
		name := c.names(inSlices + ofWeb)[0]
		c.mergePatch(inSlices+"/"+name, `{"endpoints":[]}`)
		is.Equal(len(c.endpointTexts()), 0)
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving"})
		c.must("DELETE", inSlices+"/"+name, "")
		time.Sleep(time.Second)
		synctest.Wait()
		is.Equal(c.endpointTexts(), []string{"10.1.0.1 ready serving"})
	})
}

// TestMirroring checks that the Endpoints of a service without a selector are mirrored to slices.
func TestMirroring(t *testing.T) {
	live(t, func(t *testing.T, is *is.I, c client) {
		c.must("POST", inCore+"services", `{"metadata":{"name":"web"},"spec":{"ports":[{"port":80}]}}`)
		c.must("POST", inCore+"endpoints", `{"metadata":{"name":"web","labels":{"a":"b"}},"subsets":[
			{"addresses":[{"ip":"10.2.0.1"},{"ip":"fd00::1"}],"notReadyAddresses":[{"ip":"10.2.0.2"}],"ports":[{"port":80}]}]}`)
		is.Equal(c.endpointTexts(), []string{"10.2.0.1 ready", "10.2.0.2", "fd00::1 ready"})
		all := c.must("GET", inSlices+ofWeb, "").Objects("items")
		is.Equal(len(all), 2) // one slice for each address family
		is.Equal(all[0].Labels(), map[string]string{"a": "b", "kubernetes.io/service-name": "web",
			"endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io"})
		c.mergePatch(inCore+"endpoints/web", `{"metadata":{"labels":{"endpointslice.kubernetes.io/skip-mirror":"true"}}}`)
		is.Equal(len(c.endpointTexts()), 0)
	})
}

// TestServiceCIDRStays checks that a ServiceCIDR is kept as long as a service uses one of its addresses that is in no
// other ServiceCIDR.
func TestServiceCIDRStays(t *testing.T) {
	const ranges = "/apis/networking.k8s.io/v1/servicecidrs"
	live(t, func(t *testing.T, is *is.I, c client) {
		reason := func() string {
			return c.must("GET", ranges+"/more", "").Objects("status", "conditions")[0].String("reason")
		}
		c.must("POST", ranges, `{"metadata":{"name":"more"},"spec":{"cidrs":["10.77.0.0/24"]}}`)
		is.Equal(c.must("GET", ranges+"/more", "").Finalizers(), []string{"networking.k8s.io/service-cidr-finalizer"})
		is.Equal(reason(), "")
		c.must("POST", inCore+"services", `{"metadata":{"name":"a"},"spec":{"clusterIP":"10.77.0.9","ports":[{"port":80}]}}`)
		c.must("DELETE", ranges+"/more", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		is.Equal(reason(), "Terminating")
		c.must("DELETE", inCore+"services/a", "")
		synctest.Wait()
		code, _ := c.do("GET", ranges+"/more", "")
		is.Equal(code, 404)
	})
}
