package fake

import (
	"context"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
)

// Controllers gives access to the controllers of a Server that Options.Controllers selects. Its methods return their
// pending work, determine the order in which they run, and make them fail.
//
//	srv := fake.RunT(t, fake.Options{Controllers: controller.All, Nodes: 3})
//	…                                                 // a client creates a Deployment
//	err := srv.Settle(ctx)                            // its pods run
//	srv.Controllers.Lag("replicaset-controller", "pods")
//
// The names are those of the flag --controllers of kube-controller-manager. An unknown name ends the test, or panics if
// there is no test.
type Controllers struct{ server *Server }

// Settle runs controllers and lets time pass until they have nothing to do for the next ten seconds, apart from
// maintenance such as node heartbeats, or until none of them has written anything for a minute, because they only try
// again. It advances a manual clock, and waits with any other clock. If the cluster has not settled after ten minutes of
// the clock, Settle returns an error that names the objects still to be reconciled. If ctx is done before that, it
// returns ctx's error.
func (s *Server) Settle(ctx context.Context) error {
	if err := s.cluster.Settle(ctx); err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// Step runs the next reconcile. It returns false if none is due. Use it if controllers do not run by themselves
// (Controllers.Stepped).
func (s *Server) Step() (done bool) {
	s.cluster.Control(func(m *controller.Manager) { done = m.Step() })
	return done
}

// Names returns the names of the controllers.
func (c *Controllers) Names() (names []string) {
	c.control(func(m *controller.Manager) error { names = m.Names(); return nil })
	return names
}

// Due returns the items that are due now or become due within the given time, sorted by time. It omits maintenance that
// is not due yet.
func (c *Controllers) Due(within time.Duration) (due []controller.Waiting) {
	c.control(func(m *controller.Manager) error { due = m.Moving(within); return nil })
	return due
}

// Stepped determines whether controllers run only in Server.Step and Server.Settle. By default they run by themselves:
// a request's effects are reconciled before the next request, and timed reconciles run at their time.
func (c *Controllers) Stepped(wait bool) {
	c.control(func(m *controller.Manager) error { m.Stepped = wait; return nil })
}

// Shuffle randomizes the order in which controllers run. The same seed produces the same order. By default, the item
// that has waited longest is next.
func (c *Controllers) Shuffle() {
	c.control(func(m *controller.Manager) error { m.Shuffle(); return nil })
}

// Plan sets the items to reconcile first: the first one in items that is due is next. If none is due, the usual order
// applies. A later call replaces the plan.
func (c *Controllers) Plan(items ...controller.Item) {
	c.control(func(m *controller.Manager) error { m.Plan = items; return nil })
}

// Stop stops a controller. When it is started again, it receives the events that it has missed.
func (c *Controllers) Stop(name string) {
	c.control(func(m *controller.Manager) error { return m.Stop(name) })
}

// Crash stops a controller and discards its memory. After Start it reads the existing objects, like a new process.
func (c *Controllers) Crash(name string) {
	c.control(func(m *controller.Manager) error { return m.Crash(name) })
}

// Start starts a controller that was stopped or has crashed.
func (c *Controllers) Start(name string) {
	c.control(func(m *controller.Manager) error { return m.Start(name) })
}

// Delay delays the reconciles of a controller for items that are queued from now on. A duration of 0 removes the delay.
func (c *Controllers) Delay(name string, d time.Duration) {
	c.control(func(m *controller.Manager) error { return m.Delay(name, d) })
}

// Lag stops the informers of a controller, for the given resources ("pods", "deployments.apps") or for all, until
// Resume.
func (c *Controllers) Lag(name string, resources ...string) {
	c.control(func(m *controller.Manager) error { return m.Lag(name, resources...) })
}

// Resume ends Lag. The controller receives all missed events in order.
func (c *Controllers) Resume(name string) {
	c.control(func(m *controller.Manager) error { return m.Resume(name) })
}

func (c *Controllers) control(f func(*controller.Manager) error) {
	var err error
	c.server.cluster.Control(func(m *controller.Manager) { err = f(m) })
	if err != nil {
		c.server.fail("%v", err)
	}
}

// Metric is a measurement of a pod, of another object or of something outside the cluster.
type Metric = autoscaling.Metric

// SetMetric sets the value of a metric for horizontal-pod-autoscaler-controller, which reads it every 15 seconds:
//
//	srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "250m"})  // the usage of each pod
//	srv.SetMetric(fake.Metric{Namespace: "default", Name: "queue", Value: "70"})                        // an external metric
//
// An empty Value removes the metric. If a pod has no metric for its resource usage and there are nodes, its node
// reports the usage. Until a metric of a type (resource, custom or external) is set, the cluster has no API for that
// type, and the events of a HorizontalPodAutoscaler report this. Forks and archives contain the metrics. SetMetric
// fails the test if the server does not run that controller or if the metric is invalid.
func (s *Server) SetMetric(m Metric) {
	s.Controllers.control(func(x *controller.Manager) error {
		r, err := x.Reconciler(autoscaling.Name)
		if err != nil {
			return err
		}
		return r.(*autoscaling.Controller).Set(m)
	})
}
