package sim

import (
	"context"
	"time"

	"github.com/kubesim/kubesim/sim/aggregator"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/registry"
)

// APIService is an APIService whose API a service answers for: an aggregated API server.
type APIService = aggregator.APIService

// Aggregator reaches aggregated API servers. It is called without the Cluster's lock, but for Placed.
type Aggregator = aggregator.Proxy

// Within returns a context that ends after a time of the Cluster's clock, and what ends it before.
type Within = aggregator.Within

// AggregateThrough sets what reaches aggregated API servers. Those of a Cluster that was loaded count as what they were
// until something happens to them, or Recheck is called.
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

// around is the Cluster as its Aggregator sees it.
type around struct{ c *Cluster }

func (x around) Do(f func())      { x.c.do(f) }
func (x around) Outside(f func()) { x.c.door.Outside(f) }

func (x around) Within(d time.Duration) (context.Context, func()) { return x.c.door.Within(d) }

func (x around) Serves(group, version string) bool {
	return x.c.leader().server.Table.Serves(group, version)
}

func (x around) Rediscover() {
	for _, r := range x.c.replicas {
		r.server.Discovery.Changed()
	}
}

func (x around) Reader() registry.Reader { return x.c.own().Reader() }
