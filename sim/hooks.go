package sim

import (
	"github.com/kubesim/kubesim/sim/admission"
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/webhook"
)

// Convert registers a function that converts the objects of the CustomResourceDefinition with the name, whatever its
// spec.conversion is; nil removes it. f may change and return its argument. It is called with the Cluster's lock held, so it must
// not send requests to the Cluster; a webhook (ConvertThrough) may.
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

// ConvertThrough sets the function that calls conversion webhooks. If call is nil, they are not called. It is called without the
// Cluster's lock: a webhook may send requests to the Cluster, and a slow one holds up only the request that needs it. An exception is
// a conversion that no request waits for, which calls it under the lock: a controller deletes an object that is stored in an older
// version, or a watch cache of limited size has forgotten a result. It is called when an object is written, for the watch caches, from
// which lists and watches are served, and by each get, as in a real server.
func (c *Cluster) ConvertThrough(call webhook.Call) {
	c.do(func() {
		c.servers.Conversions.Through(call)
		c.servers.Reread()
	})
}

// Admit registers a function that answers the admission webhook with the name (webhooks[].name of a configuration) in place of its
// server; nil removes it. f gets an AdmissionReview as JSON and returns it, or another one, with a response; fields of the request
// that the response omits are filled in. f is called without the Cluster's lock: it may send requests to the Cluster.
func (c *Cluster) Admit(webhook string, f func(review map[string]any) map[string]any) {
	c.do(func() { c.servers.Webhooks.Register(webhook, admission.Handler(f)) })
}

// Calls sets how admission webhooks are called.
func (c *Cluster) Calls(set func(*replica.Calls)) { c.do(func() { set(&c.servers.Webhooks.Calls) }) }

// AggregateThrough sets the Proxy that reaches aggregated API servers. After a Load their availability stays as loaded until a
// related object changes, or Recheck is called.
func (c *Cluster) AggregateThrough(a Aggregator) {
	c.do(func() { c.aggregator.Through(a) })
}

// Recheck has all aggregated API servers looked at: they may be reached in another way.
func (c *Cluster) Recheck() {
	c.do(func() {
		for _, name := range c.aggregator.Known() {
			c.controllers.Add(aggregator.Availability, controller.Key{Name: name})
		}
	})
}

// ServiceAddress returns the HOST:PORT at which an API server reaches a port of a service: its cluster IP, or its external name
// (k8s.io/apiserver, proxy.ResolveCluster). The errors are those of the real server.
func (c *Cluster) ServiceAddress(namespace, name string, port int64) (address string, err error) {
	c.do(func() { address, err = aggregator.Address(c.servers.First().Reader(), namespace, name, port) })
	return address, err
}
