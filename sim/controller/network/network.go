// Package network implements the controllers of services, which maintain Endpoints and EndpointSlices (pkg/controller/endpoint,
// endpointslice and endpointslicemirroring).
//
//	Service ─selector─▶ pods ─┬─▶ Endpoints web            all addresses, grouped by port
//	                          └─▶ EndpointSlices web-x2x9k  up to a hundred endpoints of one IP family with the same ports
//	Endpoints whose service has no selector ─▶ EndpointSlices that mirror them
//	Service of type LoadBalancer, Ingress   ─▶ an address in its status, if the cluster simulates load balancers
//
// The types service and pod hold the fields of these objects that the controllers read. They are extracted from the objects'
// items once.
package network

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	services       = "services"
	pods           = "pods"
	nodes          = "nodes"
	endpoints      = "endpoints"
	endpointSlices = "endpointslices.discovery.k8s.io"

	headless    = "service.kubernetes.io/headless"
	triggerTime = "endpoints.kubernetes.io/last-change-trigger-time"

	// maxRetries is the maximum number of retries after a failure.
	maxRetries = 15
)

// service holds the fields of a Service that the controllers read. It is shared and must not be modified.
type service struct {
	object.Object
	selector selector.Labels
}

func serviceOf(it *resource.Item) *service {
	return resource.Derived(it, func(obj object.Object) *service {
		return &service{obj, selector.FromSet(object.StringMap(obj.Map("spec", "selector")))}
	})
}

// find returns a service from the cache, or nil.
func find(api *controller.Client, key controller.Key) *service {
	if it := api.Item(services, key.Namespace, key.Name); it != nil {
		return serviceOf(it)
	}
	return nil
}

// selects reports whether the service's selector determines its endpoints.
func (s *service) selects() bool {
	return len(s.Map("spec", "selector")) > 0 && s.String("spec", "type") != "ExternalName"
}

func (s *service) publishesUnready() bool { return s.True("spec", "publishNotReadyAddresses") }

func (s *service) headless() bool {
	ip := s.String("spec", "clusterIP")
	return ip == "" || ip == "None"
}

// families returns the IP families of the service: IPv4, IPv6 or both.
func (s *service) families() []string {
	if families := s.Strings("spec", "ipFamilies"); len(families) > 0 {
		return families
	}
	return []string{"IPv4", "IPv6"} // a headless service of a server without support for IP families
}

// ports returns the service's ports, with their target ports in a pod. It omits ports whose targetPort is a name that the pod
// does not have.
func (s *service) ports(p *pod) (at []port) {
	for _, sp := range s.Objects("spec", "ports") {
		number, found := s.targetPort(p, sp)
		if !found {
			continue
		}
		x := port{name: sp.String("name"), protocol: sp.String("protocol"), number: number}
		x.app, x.hasApp = sp.Get("appProtocol")
		at = append(at, x)
	}
	return at
}

// targetPort returns the number of a service's port in a pod. If the port is a name that no port of the pod with the same protocol
// has, found is false (endpointslice.FindPort).
func (s *service) targetPort(p *pod, sp object.Object) (number int64, found bool) {
	if n, ok := sp.Int("targetPort"); ok {
		return n, true
	}
	for _, own := range p.ports {
		if own.String("name") == sp.String("targetPort") && own.String("protocol") == sp.String("protocol") {
			return own.Int64("containerPort"), true
		}
	}
	return 0, false
}

// pods calls yield with each pod that the service selects, sorted by name.
func (s *service) pods(api *controller.Client, yield func(*pod)) {
	api.Items(pods, s.Namespace(), func(it *resource.Item) bool {
		if s.selector.Match(it.Label) {
			yield(podOf(it))
		}
		return true
	})
}

// pod holds the fields of a Pod that the controllers read. It is shared and must not be modified.
type pod struct {
	namespace, name, uid, node string
	hostname, subdomain        string
	ready, deleting, finished  bool
	readyChanged               string // time of the last change of ready
	ips                        []ip
	ports                      []object.Object // ports of its containers and sidecars
}

// ip is an address in canonical form.
type ip struct {
	text   string
	family string // IPv4 or IPv6
}

func podOf(it *resource.Item) *pod { return resource.Derived(it, readPod) }

func readPod(obj object.Object) *pod {
	phase := obj.String("status", "phase")
	p := &pod{namespace: object.Keep(obj.Namespace()), name: strings.Clone(obj.Name()), uid: strings.Clone(obj.UID()),
		node:     object.Keep(obj.String("spec", "nodeName")),
		hostname: strings.Clone(obj.String("spec", "hostname")), subdomain: object.Keep(obj.String("spec", "subdomain")),
		deleting: obj.DeletionTimestamp() != "", finished: phase == "Succeeded" || phase == "Failed"}
	ready := obj.Condition("Ready")
	p.ready, p.readyChanged = ready.String("status") == "True", object.Keep(ready.String("lastTransitionTime"))
	for _, x := range obj.Objects("status", "podIPs") {
		if at, ok := parseIP(x.String("ip")); ok {
			p.ips = append(p.ips, at)
		}
	}
	for _, c := range obj.Objects("spec", "containers") {
		p.ports = appendPorts(p.ports, c)
	}
	for _, c := range obj.Objects("spec", "initContainers") {
		if c.String("restartPolicy") == "Always" {
			p.ports = appendPorts(p.ports, c)
		}
	}
	return p
}

// appendPorts appends the ports of a container.
func appendPorts(all []object.Object, container object.Object) []object.Object {
	for _, port := range container.Objects("ports") {
		all = append(all, port.Kept())
	}
	return all
}

func parseIP(text string) (ip, bool) {
	addr, ok := field.ParseIP(text)
	if addr = addr.Unmap(); addr.Is4() {
		return ip{addr.String(), "IPv4"}, ok
	}
	return ip{addr.String(), "IPv6"}, ok
}

// answers reports whether the pod can receive requests: it has an address and has not ended.
func (p *pod) answers() bool { return !p.finished && len(p.ips) > 0 }

// hostnameIn returns the hostname of the pod within a service, or "".
func (p *pod) hostnameIn(s *service) string {
	if p.subdomain == s.Name() && p.namespace == s.Namespace() {
		return p.hostname
	}
	return ""
}

func (p *pod) ref() map[string]any {
	return map[string]any{"kind": "Pod", "namespace": p.namespace, "name": p.name, "uid": p.uid}
}

// same reports whether two versions of a pod result in the same endpoints (endpointslice/util.podEndpointsChanged). Like the real
// controller, it reports that every update of a pod that is being deleted is a change.
func same(a, b *pod) bool {
	return a.hostname == b.hostname && a.subdomain == b.subdomain && !a.deleting && !b.deleting && a.ready == b.ready &&
		slices.Equal(a.ips, b.ips)
}

// podWatch returns a watch of pods. Its keys are those of the services that select a pod before or after a commit.
func podWatch() controller.Watch {
	return controller.Watch{Resource: pods, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
		if !selects(api, c.Namespace) {
			return nil
		}
		items := []*resource.Item{c.Item()}
		if before := c.Before(); before != nil && !c.Deleted() {
			if before.SameLabels(c.Item()) {
				if same(podOf(before), podOf(c.Item())) {
					return nil
				}
			} else {
				items = append(items, before)
			}
		}
		return selecting(api, c.Namespace, items)
	}}
}

// selects reports whether any service in a namespace has a selector.
func selects(api *controller.Client, namespace string) (has bool) {
	api.Items(services, namespace, func(it *resource.Item) bool {
		has = len(serviceOf(it).Map("spec", "selector")) > 0
		return !has
	})
	return has
}

// selecting returns the keys of the services that select any of the pods.
func selecting(api *controller.Client, namespace string, items []*resource.Item) (keys []controller.Key) {
	api.Items(services, namespace, func(it *resource.Item) bool {
		s := serviceOf(it)
		if len(s.Map("spec", "selector")) > 0 && slices.ContainsFunc(items, func(p *resource.Item) bool { return s.selector.Match(p.Label) }) {
			keys = append(keys, controller.Key{Namespace: it.Namespace, Name: it.Name})
		}
		return true
	})
	return keys
}
