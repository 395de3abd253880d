package sim

import "github.com/kubesim/kubesim/sim/object"

// Nodes returns the number of simulated nodes, which run pods.
func (c *Cluster) Nodes() int { return c.options.Kubelets() }

// MetricsVersions returns the versions in which a metrics server of the Cluster's minor serves metrics.k8s.io.
func (c *Cluster) MetricsVersions() []string {
	if under(c, func() bool { return c.servers.First().Since(37) }) {
		return []string{"v1beta1", "v1"}
	}
	return []string{"v1beta1"}
}

// PodMetrics returns the resource usage of the containers in a namespace, or in all namespaces if namespace is "", as objects of
// metrics.k8s.io/v1beta1.
func (c *Cluster) PodMetrics(namespace string) (all []object.Object) {
	c.do(func() { all = c.nodes.PodMetrics(namespace) })
	return all
}

// NodeMetrics returns the resource usage of each node, as objects of metrics.k8s.io/v1beta1.
func (c *Cluster) NodeMetrics() []object.Object { return under(c, c.nodes.NodeMetrics) }
