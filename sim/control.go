package sim

import "github.com/kubesim/kubesim/sim/controller"

// Control calls f with what runs the Cluster's controllers: to see what they have to do, to stop, delay or crash one of
// them, or to decide in which order they go. The Cluster's lock is held: f must not ask the Cluster.
func (c *Cluster) Control(f func(*controller.Manager)) {
	c.do(func() { f(c.controllers) })
}
