package fake

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
)

// Metric is a measurement of a pod, of another object or of something outside of the cluster.
type Metric = autoscaling.Metric

// SetMetric says what a metric is until it is said anew, for horizontal-pod-autoscaler-controller, which looks every 15 seconds:
//
//	srv.SetMetric(fake.Metric{Namespace: "default", Object: "Pod/web-*", Name: "cpu", Value: "250m"})  // each pod uses that
//	srv.SetMetric(fake.Metric{Namespace: "default", Name: "queue", Value: "70"})                        // an external metric
//
// An empty Value takes it back. What a pod uses is otherwise what its node says, where there are nodes. As long as no metric of
// a sort was set, the cluster has no API for it, which the events of a HorizontalPodAutoscaler say; forks and archives have what
// was set. A server without that controller ends the test, as does a metric that is none.
func (s *Server) SetMetric(m Metric) {
	s.Controllers.control(func(x *controller.Manager) error {
		r, err := x.Reconciler(autoscaling.Name)
		if err != nil {
			return err
		}
		return r.(*autoscaling.Controller).Set(m)
	})
}
