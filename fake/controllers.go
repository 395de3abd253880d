package fake

import (
	"context"
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
)

// Controllers are the controllers of a Server that Options.Controllers names. Its methods show their pending work, decide the order in
// which they run, and make them fail.
//
//	srv := fake.RunT(t, fake.Options{Controllers: controller.All, Nodes: 3})
//	…                                                 // a client makes a Deployment
//	err := srv.Settle(ctx)                            // its pods run
//	srv.Controllers.Lag("replicaset-controller", "pods")
//
// Names are those of kube-controller-manager's flag --controllers. A name that does not exist ends the test; without a test it panics.
type Controllers struct{ server *Server }

// Settle runs controllers and lets time pass until they have nothing to do for the next ten seconds, apart from upkeep such as node
// heartbeats. It advances a manual clock, and waits for any other. If the cluster has not settled in ten minutes of the clock, Settle
// returns an error that names the objects still being reconciled. If ctx ends before, it returns the error of ctx.
func (s *Server) Settle(ctx context.Context) error {
	if err := s.cluster.Settle(ctx); err != nil {
		return fmt.Errorf("kubesim: %w", err)
	}
	return nil
}

// Step runs the next reconcile. It returns false if none is due. It is for controllers that do not run by themselves: see
// Controllers.Stepped.
func (s *Server) Step() (done bool) {
	s.cluster.Control(func(m *controller.Manager) { done = m.Step() })
	return done
}

// Names returns the names of the controllers.
func (c *Controllers) Names() (names []string) {
	c.control(func(m *controller.Manager) error { names = m.Names(); return nil })
	return names
}

// Due returns the items to reconcile now or, apart from upkeep, within a time, the earliest first.
func (c *Controllers) Due(within time.Duration) (due []controller.Waiting) {
	c.control(func(m *controller.Manager) error { due = m.Moving(within); return nil })
	return due
}

// Stepped sets whether controllers wait for Server.Step and Server.Settle. By default they run by themselves: they do the work that a
// request causes before the next request, and timed work at its time.
func (c *Controllers) Stepped(wait bool) {
	c.control(func(m *controller.Manager) error { m.Stepped = wait; return nil })
}

// Shuffle makes the order in which controllers run random from now on. The same seed gives the same order. By default the item that has
// waited longest is next.
func (c *Controllers) Shuffle() {
	c.control(func(m *controller.Manager) error { m.Shuffle(); return nil })
}

// Plan sets the items to reconcile first: the first one that is ready is next. When none is, the usual order applies.
func (c *Controllers) Plan(items ...controller.Item) {
	c.control(func(m *controller.Manager) error { m.Plan = items; return nil })
}

// Stop stops a controller. Its events are kept until Start.
func (c *Controllers) Stop(name string) {
	c.control(func(m *controller.Manager) error { return m.Stop(name) })
}

// Crash stops a controller and discards its memory. After Start it reads the existing objects, as a new process does.
func (c *Controllers) Crash(name string) {
	c.control(func(m *controller.Manager) error { return m.Crash(name) })
}

// Start starts a controller that was stopped or has crashed.
func (c *Controllers) Start(name string) {
	c.control(func(m *controller.Manager) error { return m.Start(name) })
}

// Delay makes a controller wait for a time before it reconciles items that are queued from now on. 0 ends the delay.
func (c *Controllers) Delay(name string, d time.Duration) {
	c.control(func(m *controller.Manager) error { return m.Delay(name, d) })
}

// Lag stops the informers of a controller, for some resources ("pods", "deployments.apps") or for all, until Resume.
func (c *Controllers) Lag(name string, resources ...string) {
	c.control(func(m *controller.Manager) error { return m.Lag(name, resources...) })
}

// Resume ends Lag: the controller gets all events that it has missed, in order.
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

// Metric is a measurement of a pod, of another object or of something outside of the cluster.
type Metric = autoscaling.Metric

// SetMetric sets the value of a metric for horizontal-pod-autoscaler-controller, which reads it every 15 seconds:
//
//	srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "250m"})  // each pod uses that
//	srv.SetMetric(fake.Metric{Namespace: "default", Name: "queue", Value: "70"})                        // an external metric
//
// An empty Value removes the metric. Without it, a pod's usage is reported by its node, if there are nodes. Until a metric of a type
// (resource, custom or external) is set, the cluster has no API for that type, and the events of a HorizontalPodAutoscaler say so.
// Forks and archives have the metrics that were set. SetMetric fails the test if the server does not run that controller or if the
// metric is invalid.
func (s *Server) SetMetric(m Metric) {
	s.Controllers.control(func(x *controller.Manager) error {
		r, err := x.Reconciler(autoscaling.Name)
		if err != nil {
			return err
		}
		return r.(*autoscaling.Controller).Set(m)
	})
}
