// Package outbound sends a server's own requests, to webhooks and to aggregated API servers, over the network or in process.
//
//	webhook.Request ─▶ Caller ─▶ Network, or another http.RoundTripper ─▶ webhook
//	                              │ Plugins: the server's credentials
//	                              ▼
//	                            places ─▶ Services: the real addresses and the CA of services
//	                              ▲
//	sim.APIService ──▶ Aggregator ┴─▶ a handler in process, or an http.Transport ─▶ aggregated API server
package outbound

import (
	"context"
	"net/http"
	"sync"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/config"
	"github.com/kubesim/kubesim/sim/replica"
)

// Outbound sends the requests of one server to other servers: webhooks and aggregated API servers.
type Outbound struct {
	Services   *Services
	Network    *Network
	Aggregator *Aggregator
	Caller     *Caller

	cluster  *sim.Cluster
	mu       sync.Mutex
	admits   bool // AdmitThrough was called
	converts bool // ConvertThrough was called
}

// New returns the Outbound of a cluster's server. Its requests end with the context life. trial may be nil. logf logs panics of
// webhooks.
func New(life context.Context, c *sim.Cluster, o *config.Cluster, p Plugins, s *Services, trial Trial,
	logf func(format string, args ...any),
) *Outbound {
	at := places{c, s}
	out := &Outbound{cluster: c, Services: s, Network: &Network{places: at, plugins: p},
		Aggregator: &Aggregator{places: at, options: o, life: life}, Caller: &Caller{trial: trial, logf: logf}}
	c.Calls(func(x *replica.Calls) { x.Until = out.Caller.Run })
	c.AggregateThrough(out.Aggregator)
	return out
}

// SetAddress sets the real address of a service, and closes idle connections so that it takes effect. See Services.SetAddress.
func (o *Outbound) SetAddress(service, address string) error {
	if err := o.Services.SetAddress(service, address); err != nil {
		return err
	}
	o.Network.forget()
	o.cluster.Recheck()
	return nil
}

// AdmitThrough sets the transport for requests to admission webhooks.
func (o *Outbound) AdmitThrough(transport http.RoundTripper) {
	o.mu.Lock()
	o.admits = true
	o.mu.Unlock()
	o.cluster.Calls(func(x *replica.Calls) { x.Send, x.Concurrently = o.Caller.through(transport), callConcurrently })
}

// callConcurrently calls functions concurrently, and waits for them.
func callConcurrently(calls []func()) {
	var wait sync.WaitGroup
	for _, call := range calls {
		wait.Go(call)
	}
	wait.Wait()
}

// ConvertThrough sets the transport for requests to conversion webhooks.
func (o *Outbound) ConvertThrough(transport http.RoundTripper) {
	o.mu.Lock()
	o.converts = true
	o.mu.Unlock()
	o.cluster.ConvertThrough(o.Caller.through(transport))
}

// ReachOut makes a server with a listener use the network for its own requests: to webhooks, unless another transport was set, and
// to aggregated API servers.
func (o *Outbound) ReachOut() {
	o.mu.Lock()
	admits, converts := o.admits, o.converts
	o.mu.Unlock()
	if !admits {
		o.AdmitThrough(o.Network)
	}
	if !converts {
		o.ConvertThrough(o.Network)
	}
	o.Aggregator.listen()
}
