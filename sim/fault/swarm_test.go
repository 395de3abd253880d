package fault

import (
	"testing"

	"github.com/matryer/is"
)

// TestSwarmAndDiscovery checks that a Swarm has no faults for discovery unless Resources names it.
func TestSwarmAndDiscovery(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	hit := func(s Swarm, op Op) bool {
		for seed := range uint64(100) {
			for _, f := range s.Plan(seed, 8) {
				if f.Action().Kind != Resume && f.trigger.matches(&op) { // Resume does no harm
					return true
				}
			}
		}
		return false
	}
	apis := Op{Verb: "get", Path: "/apis"}
	is.True(!hit(Swarm{Replicas: 2, Streams: true, Level: Degraded}, apis))
	is.True(hit(Swarm{}, Op{Verb: "get", Resource: "pods", Name: "a"}))
	is.True(hit(Swarm{}, Op{Verb: "update", Group: "apps", Resource: "deployments", Subresource: "status", Name: "a"}))
	is.True(hit(Swarm{Resources: []string{"*"}}, apis))
	is.True(hit(Swarm{Resources: []string{"/apis*"}}, apis))
}

// TestSwarm checks that a Swarm draws only allowed faults, and that each replica that lags or is cut off is resumed.
func TestSwarm(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for _, c := range []struct {
		swarm     Swarm
		want, not []Kind
	}{
		{Swarm{}, []Kind{Fail, Compact}, []Kind{Hold, Stall, Lag, Restart, Resume, Cut}},
		{Swarm{Streams: true}, []Kind{Hold, Stall}, []Kind{Lag, Cut}},
		{Swarm{Replicas: 3, Resources: []string{"pods", "widgets.example.com/status"}}, []Kind{Lag, Restart, Resume}, []Kind{Cut, Hold}},
		{Swarm{Replicas: 2, Level: Degraded}, []Kind{Lag, Cut, Restart}, []Kind{Drop}},
	} {
		seen := map[Kind]int{}
		for seed := range uint64(200) {
			plan := c.swarm.Plan(seed, 8)
			needs := map[int]bool{}
			for _, f := range plan {
				a := f.Action()
				is.NoErr(f.Check())
				is.True(f.Level() <= c.swarm.Level)
				is.True(a.Replica <= c.swarm.Replicas)
				seen[a.Kind]++
				switch a.Kind {
				case Lag, Cut:
					needs[a.Replica] = true
				case Resume:
					delete(needs, a.Replica)
				}
			}
			is.Equal(len(needs), 0) // every replica is resumed
			again, err := Parse(plan.String())
			is.NoErr(err)
			is.Equal(again, plan)
		}
		for _, k := range c.want {
			is.True(seen[k] > 0)
		}
		for _, k := range c.not {
			is.Equal(seen[k], 0)
		}
	}
}
