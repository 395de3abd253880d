package controller

import (
	"cmp"

	"github.com/kubesim/kubesim/sim/random"
)

// Order decides which of the items that are ready is next. There is at least one; the oldest is the first.
type Order interface {
	Next(ready []Item) int
}

// Oldest takes them in the order in which they were added.
type Oldest struct{}

// Next implements Order.
func (Oldest) Next([]Item) int { return 0 }

// Drawn takes any of them, by draws of the cluster's random numbers: the same seed gives the same order.
type Drawn struct{ Random *random.Streams }

// Next implements Order.
func (d Drawn) Next(ready []Item) int { return d.Random.Draw("controllers", len(ready)) }

// Shuffle lets draws of the cluster's random numbers decide the Order from now on.
func (m *Manager) Shuffle() { m.Order = Drawn{m.random} }

func compare(a, b Item) int {
	return cmp.Or(cmp.Compare(a.Controller, b.Controller), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
