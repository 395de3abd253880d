package fake

import (
	"context"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/fake/listen"
	"github.com/kubesim/kubesim/fake/meter"
	"github.com/kubesim/kubesim/fake/oracle"
	"github.com/kubesim/kubesim/fake/outbound"
	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/replica"
)

// Fork returns an independent copy of the server in its current state, for example to try something: writes to one
// server are not visible on the other. Open watches, waiting requests and listeners stay with this server; see
// sim.Cluster.Fork for details. If this server's clock is a clock.Manual, the fork has its own Clock at the same
// instant; any other clock is shared. The fork has no audit log. In a test of RunT, t.Cleanup closes the fork.
//
//	before := srv.Fork()
//	… // the operator under test acts on srv, another version of it on before
func (s *Server) Fork() *Server { return s.forked(s.cluster.Fork()) }

// ForkAt is like Fork, but at a revision that the store still has, with the time and the random state of that revision.
// The fork's replicas are newly started, its trace is empty, and it has no faults. ForkAt returns an error if the store
// does not have the revision.
func (s *Server) ForkAt(rev uint64) (*Server, error) {
	c, err := s.cluster.ForkAt(rev)
	if err != nil {
		return nil, err
	}
	return s.forked(c), nil
}

// forked returns the server for a fork of the cluster.
func (s *Server) forked(c *sim.Cluster) *Server {
	o := s.options
	if o.trial != nil {
		o.trial = o.trial.Fork()
	}
	o.services = s.outbound.Services
	o.audit = nil
	f := o.serve(c)
	f.trust.Adopt(s.trust)
	if err := o.admission.Manifests.Load(c); err != nil {
		s.log("kubesim: the fork has no static manifests: %v", err)
	}
	f.test = s.test
	f.authenticate.Store(s.authenticate.Load())
	f.outbound.Aggregator.Adopt(s.outbound.Aggregator)
	f.handleMetrics()
	if f.test != nil {
		f.observer.Begin(f.test)
		f.test.Cleanup(f.Close)
	}
	return f
}

// serve returns a server for a Cluster.
func (o setup) serve(c *sim.Cluster) *Server {
	s := &Server{options: o, cluster: c}
	if o.services == nil {
		o.services = &outbound.Services{}
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.outbound = outbound.New(s.life, c, &s.options.Options, o.admission.Webhooks, o.services, o.trial, s.log)
	s.observer = oracle.NewObserver(c, o.writesMax(), o.FailOnWarning)
	s.Oracles = s.observer.Oracles()
	s.trust = listen.NewTrust(o.Signers(), o.caFiles(), o.Seed, c)
	s.Faults, s.Controllers = &Faults{s}, &Controllers{s}
	manual := false
	if s.Clock, manual = c.Clock().(*clock.Manual); !manual {
		s.Clock = clock.NewManual(c.Clock().Now())
	}
	c.Calls(func(x *replica.Calls) { x.MayWait = !manual })
	switch {
	case o.Metrics:
		c.Audit(meter.New(o.audit.Auditor(), o.meterSources()...))
	case o.audit != nil:
		c.Audit(o.audit)
	}
	s.connect(manual)
	return s
}
