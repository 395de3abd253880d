package soak

import (
	"slices"
	"testing"

	"github.com/kubesim/kubesim/sim/scenario"
	"github.com/matryer/is"
)

// Clients that try again until they know end up with the same, whatever went wrong on the way.
func TestConverge(t *testing.T) {
	t.Parallel()
	troubled := 0
	for seed := uint64(1); seed <= 8; seed++ {
		is := is.New(t)
		c := Swarm(seed, 40)
		c.Clients, c.Replicas, c.Calm = 3, 3, 1
		calm, err := Converge(c, nil)
		is.NoErr(err)
		all := slices.DeleteFunc(Generate(Config{Seed: seed, Ops: 150, Clients: 3, Replicas: 3, Names: c.Names, Work: c.Work,
			Trouble: c.Trouble, Calm: 1, Faults: 8}), func(o scenario.Op) bool { return o.Async || o.Name == "stop" })
		rough, err := Converge(c, all)
		is.NoErr(err)
		is.Equal(len(calm.Violations)+len(rough.Violations), 0) // no promise is broken either
		is.Equal(calm.Semantic, rough.Semantic)                 // the same has become of the objects
		if calm.Hash != rough.Hash && len(rough.History.Calls) > len(calm.History.Calls) {
			troubled++
		}
	}
	is.New(t).True(troubled >= 4) // there was trouble: requests had to be sent again
}
