package fake

import (
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/autoscaling"
)

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
