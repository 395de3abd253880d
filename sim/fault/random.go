package fault

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Random returns a plan of about n faults for the resources, drawn from a seed. All faults are Legal: a client that
// fails under the plan would also fail in a correct cluster. The kinds of faults are drawn first, so that some plans
// contain only a few kinds. No fault occurs so often that a patient client cannot succeed.
func Random(seed uint64, n int, resources ...string) Plan {
	return Swarm{Resources: resources}.Plan(seed, n)
}

// Swarm describes the set of faults from which random plans are drawn.
type Swarm struct {
	// Resources are the resources of the faults. The default is all resources without discovery: a client that looks up
	// a kind while it holds a lock (controller-runtime's lazy RESTMapper) would block all other clients in a
	// testing/synctest bubble, in which time does not advance while a goroutine waits for a lock. "*" means all
	// requests, and "/apis*" means part of discovery.
	Resources []string
	// Replicas is the number of replicas that may lag, restart and, if the Level allows it, be cut off. They resume
	// after a while.
	Replicas int
	// Streams allows faults that silence a watch. A hold lasts until the faults are cleared. A stall lasts until the
	// connection breaks after 45 s, when a client that sends pings notices it (client-go sends a ping after 30 s and
	// waits 15 s for the response).
	Streams bool
	// Level is the highest level of the drawn faults.
	Level Level
	// Client restricts the faults to clients whose User-Agent begins with it.
	Client string
}

// Plan draws a plan of about n faults, like Random.
func (s Swarm) Plan(seed uint64, n int) Plan {
	r := rand.New(rand.NewPCG(seed, 0x6661756c74))
	if len(s.Resources) == 0 {
		s.Resources = []string{"*/*"}
	}
	all := s.kinds()
	var on []maker
	for _, one := range all {
		if r.IntN(2) == 0 {
			on = append(on, one)
		}
	}
	if len(on) == 0 {
		on = all
	}
	var p Plan
	for len(p) < n {
		p = append(p, on[r.IntN(len(on))](r, s.Resources[r.IntN(len(s.Resources))])...)
	}
	for i := range p {
		p[i].trigger.client = s.Client
	}
	return p
}

// maker draws one fault, and a second fault that ends the first one if necessary.
type maker func(r *rand.Rand, resource string) Plan

// kinds returns the makers that the Swarm allows.
func (s Swarm) kinds() []maker {
	all := slices.Clone(legal)
	if s.Streams {
		all = append(all,
			func(r *rand.Rand, on string) Plan { return Plan{scoped(On("watch", on), r).Times(1).Hold()} },
			func(r *rand.Rand, on string) Plan { return Plan{scoped(On("watch", on), r).Times(1).StallFor(noticed)} })
	}
	if s.Replicas == 0 {
		return all
	}
	replica := func(r *rand.Rand) int { return 1 + r.IntN(s.Replicas) }
	resumed := func(r *rand.Rand, n int, f Fault) Plan {
		return Plan{f, On("*", "*").Every(10 + r.IntN(40)).Resume(n)}
	}
	all = append(all,
		func(r *rand.Rand, on string) Plan {
			n := replica(r)
			if strings.HasPrefix(on, "*") || strings.HasPrefix(on, "/") || r.IntN(2) == 0 {
				return resumed(r, n, scoped(On(anyWrite, on), r).Lag(n, ""))
			}
			name, _, _ := strings.Cut(on, "/")
			return resumed(r, n, scoped(On(anyWrite, on), r).Lag(n, name))
		},
		func(r *rand.Rand, on string) Plan {
			return Plan{scoped(On(anyWrite, on), r).Times(1).Restart(replica(r))}
		})
	if s.Level >= Degraded {
		all = append(all, func(r *rand.Rand, on string) Plan {
			n := replica(r)
			return resumed(r, n, scoped(On(anyWrite, on), r).Times(1).Cut(n))
		})
	}
	return all
}

// noticed is the time after which a client notices that its connection is dead (client-go's HTTP/2 pings).
const noticed = 45 * time.Second

// scoped gives a fault a random probability and a random maximum number of occurrences.
func scoped(t Trigger, r *rand.Rand) Trigger {
	return t.Probability(float64(1+r.IntN(10)) / 20).Times(1 + r.IntN(5))
}

// seconds draws a duration between 100 ms and 10 s.
func seconds(r *rand.Rand) time.Duration {
	return time.Duration(1+r.IntN(100)) * 100 * time.Millisecond
}

const anyWrite = "create,update,patch,delete"
