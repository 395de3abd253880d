package sim

import (
	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/controller"
)

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
