package sim

import "github.com/kubesim/kubesim/sim/object"

// Nodes returns the number of nodes that run pods.
func (c *Cluster) Nodes() int { return c.options.Nodes }

// PodMetrics returns the usage of the containers of a namespace, or of all namespaces if it is "", as objects of
// metrics.k8s.io/v1beta1.
func (c *Cluster) PodMetrics(namespace string) (all []object.Object) {
	c.do(func() { all = c.nodes.PodMetrics(namespace) })
	return all
}

// NodeMetrics returns what each node uses: objects of metrics.k8s.io/v1beta1.
func (c *Cluster) NodeMetrics() []object.Object { return under(c, c.nodes.NodeMetrics) }
