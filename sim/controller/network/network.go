// Package network holds the controllers of services, which keep Endpoints and EndpointSlices up to date (pkg/controller/endpoint,
// endpointslice and endpointslicemirroring).
//
//	Service ─selector─▶ pods ─┬─▶ Endpoints web            all addresses, by the ports that they have
//	                          └─▶ EndpointSlices web-x2x9k  a hundred addresses each, of one family and with the same ports
//	Endpoints whose service has no selector ─▶ EndpointSlices that mirror them
//
// service and pod hold the fields that the controllers read of those objects, extracted from their items once. slices keeps the
// EndpointSlices of a service as they should be, for any of the controllers.
package network

import (
	"slices"

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

	// maxRetries is how often something that fails is tried again.
	maxRetries = 15
)

// service holds the fields of a Service that controllers read. It is shared and must not be changed.
type service struct {
	object.Object
	selector selector.Labels
}

func serviceOf(it *resource.Item) *service {
	return resource.Derived(it, func(obj object.Object) *service {
		return &service{obj, selector.FromSet(object.StringMap(obj.Map("spec", "selector")))}
	})
}

// find returns what the cache has of a service, or nil.
func find(api *controller.Client, key controller.Key) *service {
	if it := api.Item(services, key.Namespace, key.Name); it != nil {
		return serviceOf(it)
	}
	return nil
}

// selects reports whether pods answer for the service that its selector decides about.
func (s *service) selects() bool {
	return len(s.Map("spec", "selector")) > 0 && s.String("spec", "type") != "ExternalName"
}

func (s *service) publishesUnready() bool { return s.True("spec", "publishNotReadyAddresses") }

func (s *service) headless() bool {
	ip := s.String("spec", "clusterIP")
	return ip == "" || ip == "None"
}

// families returns the address types of the service, IPv4 and IPv6.
func (s *service) families() []string {
	if families := s.Strings("spec", "ipFamilies"); len(families) > 0 {
		return families
	}
	return []string{"IPv4", "IPv6"} // a headless service of a server that knew no families
}

// ports returns the ports that the service has at a pod: those whose targetPort is a number, or the name of one of the
// pod's.
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

// targetPort finds a port of the service in a pod (endpointslice.FindPort).
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

// pods calls yield with the pods that the service selects, in the order of their names.
func (s *service) pods(api *controller.Client, yield func(*pod)) {
	api.Items(pods, s.Namespace(), func(it *resource.Item) bool {
		if s.selector.Match(it.Label) {
			yield(podOf(it))
		}
		return true
	})
}

// pod holds the fields of a Pod that controllers read. It is shared and must not be changed.
type pod struct {
	namespace, name, uid, node string
	hostname, subdomain        string
	ready, deleting, finished  bool
	readyChanged               string // when
	ips                        []ip
	ports                      []object.Object // of its containers, and of its sidecars
}

// ip is an address in its usual form.
type ip struct {
	text   string
	family string // IPv4 or IPv6
}

func podOf(it *resource.Item) *pod { return resource.Derived(it, readPod) }

func readPod(obj object.Object) *pod {
	phase := obj.String("status", "phase")
	p := &pod{namespace: obj.Namespace(), name: obj.Name(), uid: obj.UID(), node: obj.String("spec", "nodeName"),
		hostname: obj.String("spec", "hostname"), subdomain: obj.String("spec", "subdomain"),
		deleting: obj.DeletionTimestamp() != "", finished: phase == "Succeeded" || phase == "Failed"}
	ready := obj.Condition("Ready")
	p.ready, p.readyChanged = ready.String("status") == "True", ready.String("lastTransitionTime")
	for _, x := range obj.Objects("status", "podIPs") {
		if at, ok := parseIP(x.String("ip")); ok {
			p.ips = append(p.ips, at)
		}
	}
	for _, c := range obj.Objects("spec", "containers") {
		p.ports = append(p.ports, c.Objects("ports")...)
	}
	for _, c := range obj.Objects("spec", "initContainers") {
		if c.String("restartPolicy") == "Always" {
			p.ports = append(p.ports, c.Objects("ports")...)
		}
	}
	return p
}

func parseIP(text string) (ip, bool) {
	addr, ok := field.ParseIP(text)
	if addr = addr.Unmap(); addr.Is4() {
		return ip{addr.String(), "IPv4"}, ok
	}
	return ip{addr.String(), "IPv6"}, ok
}

// answers reports whether the pod has an address and will not end by itself any more.
func (p *pod) answers() bool { return !p.finished && len(p.ips) > 0 }

// hostnameIn returns the name that the pod has under a service, or "".
func (p *pod) hostnameIn(s *service) string {
	if p.subdomain == s.Name() && p.namespace == s.Namespace() {
		return p.hostname
	}
	return ""
}

func (p *pod) ref() map[string]any {
	return map[string]any{"kind": "Pod", "namespace": p.namespace, "name": p.name, "uid": p.uid}
}

// same reports whether a change of a pod changes no endpoint (endpointslice/util.podEndpointsChanged).
func same(a, b *pod) bool {
	return a.hostname == b.hostname && a.subdomain == b.subdomain && a.deleting == b.deleting && a.ready == b.ready &&
		slices.Equal(a.ips, b.ips)
}

// podWatch watches pods: its keys are those of the services that select one, before and after a commit.
func podWatch() controller.Watch {
	return controller.Watch{Resource: pods, Keys: func(api *controller.Client, c *commit.Commit) []controller.Key {
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

// selecting returns the keys of the services that select one of some pods.
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
