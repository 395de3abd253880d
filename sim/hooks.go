package sim

import (
	"slices"

	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/apiserver"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Convert registers a function that converts the objects of the named CustomResourceDefinition, whatever its spec.conversion is. If
// f is nil, it removes the function. f may modify and return its argument. It is called with the Cluster's lock held, so it must
// not send requests to the Cluster, unlike a webhook (ConvertThrough).
func (c *Cluster) Convert(definition string, f func(obj map[string]any, apiVersion string) (map[string]any, error)) {
	var convert crd.Converter
	if f != nil {
		convert = func(obj object.Object, apiVersion string) (object.Object, error) { return f(obj, apiVersion) }
	}
	c.do(func() {
		c.servers.Conversions.Register(definition, convert)
		c.servers.Reread()
	})
}

// ConvertThrough sets the function that calls conversion webhooks. If call is nil, they are not called. call is invoked without the
// Cluster's lock: a webhook may send requests to the Cluster, and a slow one delays only the request that needs it. However, the
// lock is held if no request needs the conversion: if a controller deletes an object that is stored in an older version, or if a
// watch cache of limited size has dropped a result. As in a real server, call is invoked for each write, to fill the watch caches
// that serve lists and watches, and for each get.
func (c *Cluster) ConvertThrough(call webhook.Call) {
	c.do(func() {
		c.servers.Conversions.Through(call)
		if c.servers.CallWebhooksToConvert() {
			c.servers.Reread()
		}
	})
}

// Admit registers a function that handles the named admission webhook (webhooks[].name of a configuration) instead of its server.
// If f is nil, it removes the function. f receives an AdmissionReview as JSON and returns it, or another one, with a response;
// fields of the request that are missing from the result are filled in. f is called without the Cluster's lock and may send
// requests to the Cluster.
func (c *Cluster) Admit(webhook string, f func(review map[string]any) map[string]any) {
	c.do(func() { c.servers.Webhooks.Register(webhook, admission.Handler(f)) })
}

// Calls configures how admission webhooks are called.
func (c *Cluster) Calls(set func(*replica.Calls)) { c.do(func() { set(&c.servers.Webhooks.Calls) }) }

// Audit sets the auditor of requests to the API servers. The Cluster's controllers and kubelets send no requests, so their writes
// are not audited.
func (c *Cluster) Audit(a apiserver.Auditor) { c.do(func() { c.servers.Audit(a) }) }

// AggregateThrough sets the Proxy for aggregated API servers. After a Load, the availability of the servers does not change until a
// related object changes or Recheck is called.
func (c *Cluster) AggregateThrough(a Aggregator) {
	c.do(func() { c.aggregator.Through(a) })
}

// Recheck checks all aggregated API servers again, because their addresses may have changed.
func (c *Cluster) Recheck() {
	c.do(func() {
		for _, name := range c.aggregator.Known() {
			c.controllers.Add(aggregator.Availability, controller.Key{Name: name})
		}
	})
}

// ServiceAddress returns the HOST:PORT at which an API server reaches a service port: its cluster IP or external name
// (k8s.io/apiserver, proxy.ResolveCluster). It returns the real server's errors.
func (c *Cluster) ServiceAddress(namespace, name string, port int64) (address string, err error) {
	c.do(func() { address, err = aggregator.Address(c.servers.First().Reader(), namespace, name, port) })
	return address, err
}

// SimulatesService reports whether a service has ready endpoints, and all of them are on simulated nodes. No program listens there.
func (c *Cluster) SimulatesService(namespace, name string) bool {
	return under(c, func() bool {
		nodes := aggregator.ReadyNodes(c.servers.First().Reader(), namespace, name)
		return len(nodes) > 0 && !slices.ContainsFunc(nodes, func(node string) bool { return c.nodes.Of(node) == nil })
	})
}
