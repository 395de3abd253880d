package campaign

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// Limits restrict the plans that a Campaign draws.
type Limits struct {
	// Items is the approximate number of faults and steps in a plan. If it is negative, plans have none.
	Items int
	// Level is the highest level of the drawn faults.
	Level fault.Level
	// Without are the kinds of faults and steps that are excluded.
	Without []string
	// NoFeedback disables feedback: plans that led to new behaviour are not mutated.
	NoFeedback bool
}

// Campaign draws plans and uses the outcomes of earlier plans.
type Campaign struct {
	limits  Limits
	seen    Seen
	classes []class         // of the writes of clients under test
	own     []class         // of the writes of the test itself
	other   []class         // of the commits of kubesim's controllers and nodes
	known   map[uint64]bool // the known sequences
	kept    []Plan          // the plans that led to new sequences, newest last
}

// NewCampaign returns a Campaign. calm is the outcome of a run without faults.
func NewCampaign(l Limits, calm *Outcome) *Campaign {
	c := &Campaign{limits: l, seen: calm.Seen, classes: classes(calm.Writes), own: classes(calm.Own), other: classes(calm.Others),
		known: map[uint64]bool{}}
	for _, s := range calm.Sequences {
		c.known[s] = true
	}
	return c
}

// Known returns the number of known sequences of requests and responses, and the number of plans that are kept for
// mutation.
func (c *Campaign) Known() (sequences, plans int) { return len(c.known), len(c.kept) }

// New returns the sequences of requests and responses that did not occur in earlier runs.
func (c *Campaign) New(o *Outcome) (list []uint64) {
	for _, s := range o.Sequences {
		if !c.known[s] {
			list = append(list, s)
		}
	}
	return list
}

// Learn records the outcome of a plan. Plans that fail are not kept, even if their failures are known: changed plans would fail in the
// same way.
func (c *Campaign) Learn(p Plan, o *Outcome) {
	fresh := c.New(o)
	for _, s := range fresh {
		c.known[s] = true
	}
	if len(fresh) > 0 && len(o.Failures) == 0 && !o.Known {
		c.kept = append(c.kept, p)
	}
}

// Plan draws a plan from a seed. The result depends only on the seed and on the outcomes of earlier plans.
func (c *Campaign) Plan(seed uint64) Plan {
	if c.limits.Items < 0 {
		return Plan{Seed: seed}
	}
	if items := c.pattern(seed); len(items) > 0 {
		return Plan{seed, items}
	}
	r := rand.New(rand.NewPCG(seed, 0x6578706c6f7265))
	if len(c.kept) > 0 && !c.limits.NoFeedback && r.IntN(2) == 0 {
		return c.changed(r, seed)
	}
	return Plan{seed, c.items(r, seed, c.limits.Items)}
}

// items draws about n faults and steps. It first draws which kinds of steps are possible, so that some plans contain
// only a few kinds. A third of the plans begin with failures of a class of writes, and a third have nothing else.
func (c *Campaign) items(r *rand.Rand, seed uint64, n int) (list []Item) {
	bursts := 0
	if len(c.classes) > 0 {
		bursts = r.IntN(3)
	}
	if bursts > 0 {
		for range 1 + r.IntN(burstsMax) {
			list = append(list, c.burst(r))
		}
	}
	if bursts == 1 {
		return c.allowed(list)
	}
	return c.allowed(append(list, c.others(r, seed, max(n-len(list), 0))...))
}

// drawWrite draws the number of a write of a client's classes.
func drawWrite(r *rand.Rand, own []class) int {
	k := &own[r.IntN(len(own))]
	return k.writes[k.draw(r)].nth
}

// burstsMax is the maximum number of classes, or of objects, whose writes fail in a plan.
const burstsMax = 3

// allowed removes the items of excluded kinds.
func (c *Campaign) allowed(list []Item) []Item {
	return slices.DeleteFunc(list, func(i Item) bool { return slices.Contains(c.limits.Without, i.Kind()) })
}

// others draws about n faults of all requests and watches, and steps.
func (c *Campaign) others(r *rand.Rand, seed uint64, n int) (list []Item) {
	steps := c.steps(r)
	faults := n
	if len(steps) > 0 {
		faults = r.IntN(n + 1)
	}
	swarm := fault.Swarm{Resources: c.resources(r), Streams: true, Level: c.limits.Level}
	for _, f := range swarm.Plan(seed, faults) {
		list = append(list, Item{Fault: &f})
	}
	for len(list) < n && len(steps) > 0 {
		list = append(list, Item{Step: steps[r.IntN(len(steps))](r)})
	}
	return list
}

// resources draws the resources that faults apply to: a subset of the resources that clients requested, or nil for all
// resources.
func (c *Campaign) resources(r *rand.Rand) []string {
	if len(c.seen.Resources) == 0 || r.IntN(3) == 0 {
		return nil
	}
	var some []string
	for _, name := range c.seen.Resources {
		if r.IntN(2) == 0 {
			some = append(some, name+"/*")
		}
	}
	return some
}

// maker draws one step.
type maker func(r *rand.Rand) Step

// steps returns a random subset of the kinds of steps, or all kinds if the subset is empty.
func (c *Campaign) steps(r *rand.Rand) (on []maker) {
	all := slices.Concat(c.clientSteps(), c.serverSteps())
	if len(c.seen.Objects) > 0 {
		all = append(all, c.edit, c.edit)
	}
	for _, one := range all {
		if r.IntN(2) == 0 {
			on = append(on, one)
		}
	}
	if len(on) == 0 {
		return all
	}
	return on
}

// clientSteps returns the kinds of steps that affect clients.
func (c *Campaign) clientSteps() (all []maker) {
	for _, client := range c.seen.Clients {
		own := of(client.Name, c.classes)
		around := func(r *rand.Rand) When {
			if len(own) > 0 && r.IntN(2) == 0 {
				return When{Client: client.Name, Nth: drawWrite(r, own), Before: r.IntN(2) == 0}
			}
			return When{Client: client.Name, Nth: 1 + r.IntN(client.Writes+1), Before: r.IntN(2) == 0}
		}
		if client.Writes > 0 {
			all = append(all, func(r *rand.Rand) Step {
				w := around(r)
				w.Before = true // so that the version that the client has read is stale
				return Step{w, Touch}
			})
		}
		if client.Process {
			all = append(all, func(r *rand.Rand) Step { return Step{around(r), Crash{Process: client.Name, Down: seconds(r, 10)}} })
			if c.seen.Replicas > 1 && c.limits.Level >= fault.Degraded {
				all = append(all, func(r *rand.Rand) Step {
					w := around(r)
					w.Before = true // so that the replica does not receive the write
					return Step{w, Crash{client.Name, seconds(r, 5), 2 + r.IntN(c.seen.Replicas-1), seconds(r, 60)}}
				})
			}
		}
		if client.Clock {
			all = append(all, func(r *rand.Rand) Step {
				return Step{c.drawTime(r), Jump{client.Name, time.Duration(r.IntN(7201)-3600) * time.Second}}
			})
		}
	}
	return all
}

// serverSteps returns the kinds of steps that affect API servers and leaders.
func (c *Campaign) serverSteps() []maker {
	all := []maker{func(r *rand.Rand) Step { return Step{c.drawTime(r), Expire} }}
	if slices.Contains(c.seen.Resources, "leases.coordination.k8s.io") {
		all = append(all, func(r *rand.Rand) Step { return Step{c.drawTime(r), Depose} })
	}
	all = append(all,
		func(r *rand.Rand) Step {
			return Step{c.drawTime(r), Replica{Kind: trouble.Restart, N: c.replica(r)}}
		},
		func(r *rand.Rand) Step {
			resource := ""
			if n := len(c.seen.Resources); n > 0 && r.IntN(2) == 0 {
				resource = c.seen.Resources[r.IntN(n)]
			}
			return Step{c.drawTime(r), Replica{trouble.Lag, c.replica(r), seconds(r, 60), resource}}
		})
	if c.limits.Level >= fault.Degraded {
		all = append(all, func(r *rand.Rand) Step {
			return Step{c.drawTime(r), Replica{Kind: trouble.Cut, N: c.replica(r), For: seconds(r, 30)}}
		})
	}
	return all
}

// replica draws the number of a replica. In most cases it is the first, which clients use.
func (c *Campaign) replica(r *rand.Rand) int {
	if r.IntN(3) > 0 {
		return 1
	}
	return 1 + r.IntN(max(c.seen.Replicas, 1))
}

// drawTime draws the time of a step: in most cases before or after a write, otherwise a time before faults end.
func (c *Campaign) drawTime(r *rand.Rand) When {
	if r.IntN(3) == 0 {
		if m, ok := c.moment(r); ok {
			return m.around(r)
		}
	}
	writers := slices.DeleteFunc(slices.Clone(c.seen.Clients), func(x Client) bool { return x.Writes == 0 })
	if len(writers) > 0 && r.IntN(2) > 0 {
		w := writers[r.IntN(len(writers))]
		return When{Client: w.Name, Nth: 1 + r.IntN(w.Writes), Before: r.IntN(2) == 0}
	}
	return When{At: time.Duration(r.Int64N(max(int64(c.seen.Took/time.Second), 1))) * time.Second}
}

// seconds draws a duration between one second and most seconds.
func seconds(r *rand.Rand, most int) time.Duration {
	return time.Duration(1+r.IntN(most)) * time.Second
}

// edit draws an edit of an object.
func (c *Campaign) edit(r *rand.Rand) Step {
	o := c.seen.Objects[r.IntN(len(c.seen.Objects))]
	return Step{c.drawTime(r), Edit{o.Resource, o.Key, string(RandomPatch(r, o))}}
}

// changed mutates a plan that led to new behaviour: it removes, copies and adds items, and uses another seed.
func (c *Campaign) changed(r *rand.Rand, seed uint64) Plan {
	p := Plan{seed, slices.Clone(c.kept[len(c.kept)-1-min(r.IntN(len(c.kept)), r.IntN(len(c.kept)))].Items)}
	for range 1 + r.IntN(3) {
		switch n := len(p.Items); {
		case n > 0 && r.IntN(3) == 0:
			p.Items = slices.Delete(p.Items, r.IntN(n), n)
		case r.IntN(3) == 0:
			other := c.kept[r.IntN(len(c.kept))].Items
			if len(other) > 0 {
				p.Items = append(p.Items, other[r.IntN(len(other))])
			}
		default:
			p.Items = append(p.Items, c.items(r, r.Uint64(), 1+r.IntN(3))...)
		}
	}
	if most := 2 * c.limits.Items; len(p.Items) > most {
		p.Items = p.Items[len(p.Items)-most:]
	}
	return p
}
