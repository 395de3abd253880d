package campaign

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/trouble"
)

// TestItself is the name under which the plan counts the writes of the test itself, such as those of a user: before test 3. No
// process may have this name.
const TestItself = "test"

// moment is a write in the run without faults.
//
//	the test's write: user creates ─ before test 1, after test 1 ─┐
//	a client's write: it creates pods ─ before operator 3, … ─────┼─▶ a class, then a write ─▶ moment
//	another commit:   a pod finishes ─ at 4m59s, at 5m1s ─────────┘
type moment struct {
	at            time.Duration // virtual time since the beginning of the run
	before, after When
	resource      string
}

// around returns the time just before or just after the write.
func (m *moment) around(r *rand.Rand) When {
	if r.IntN(2) == 0 {
		return m.before
	}
	return m.after
}

// moment draws a write: first its author, then its class. It returns false if the run without faults has no writes.
func (c *Campaign) moment(r *rand.Rand) (m moment, ok bool) {
	authors := slices.DeleteFunc([][]class{c.own, c.classes, c.other}, func(list []class) bool { return len(list) == 0 })
	if len(authors) == 0 {
		return m, false
	}
	list := authors[r.IntN(len(authors))]
	k := &list[r.IntN(len(list))]
	w := &k.writes[k.draw(r)]
	m = moment{at: w.at, resource: k.object()}
	if k.client == "" {
		m.before, m.after = When{At: max(w.at.Truncate(time.Second)-time.Second, 0)}, When{At: w.at.Truncate(time.Second) + time.Second}
	} else {
		m.before, m.after = When{Client: k.client, Nth: w.nth, Before: true}, When{Client: k.client, Nth: w.nth}
	}
	return m, true
}

// pattern draws a plan of a few steps that belong together, for three tenths of the seeds. Independent steps rarely combine in this way.
// They are the patterns of Sieve (OSDI 2022): a process sees an older state again, does not see a state, or stops
// between two writes. For the other seeds it returns nil.
func (c *Campaign) pattern(seed uint64) []Item {
	r := rand.New(rand.NewPCG(seed, 0x736368656d65))
	processes := slices.DeleteFunc(slices.Clone(c.seen.Clients), func(x Client) bool { return !x.Process || x.Writes == 0 })
	if len(processes) == 0 {
		return nil
	}
	p := processes[r.IntN(len(processes))]
	switch r.IntN(10) {
	case 0:
		return c.allowed(c.travel(r, p.Name))
	case 1:
		return c.allowed(c.gap(r))
	case 2:
		return c.allowed(c.interruption(r, p.Name))
	}
	return nil
}

// travel draws a plan under which a process sees the past again: an API server lags from one moment on, and after a later one the
// process crashes and restarts with that server.
func (c *Campaign) travel(r *rand.Rand, process string) []Item {
	if c.seen.Replicas < 2 || c.limits.Level < fault.Degraded {
		return nil
	}
	from, ok := c.moment(r)
	to, _ := c.moment(r)
	if !ok {
		return nil
	}
	if cmp.Or(cmp.Compare(from.at, to.at), cmp.Compare(from.after.Nth, to.after.Nth)) > 0 {
		from, to = to, from
	}
	resource := ""
	if r.IntN(2) == 0 {
		resource = from.resource
	}
	when := to.after
	if r.IntN(2) == 0 { // the process has handled the change
		when = When{At: to.at.Truncate(time.Second) + seconds(r, 120)}
	}
	n := 2 + r.IntN(c.seen.Replicas-1)
	return []Item{
		{Step: Step{from.around(r), Replica{trouble.Lag, n, max(c.seen.Took, time.Minute), resource}}},
		{Step: Step{when, Crash{process, seconds(r, 5), n, seconds(r, 60)}}},
	}
}

// gap draws a plan under which the clients do not see a change for a while: their API server stops applying the commits of one resource
// before the change. In half of the plans the history is then discarded and the server restarts, so that the clients list again and never
// receive the events in between.
func (c *Campaign) gap(r *rand.Rand) []Item {
	m, ok := c.moment(r)
	if !ok {
		return nil
	}
	resource := m.resource
	if r.IntN(2) == 0 && len(c.seen.Resources) > 0 {
		resource = c.seen.Resources[r.IntN(len(c.seen.Resources))]
	}
	list := []Item{{Step: Step{m.before, Replica{trouble.Lag, 1, seconds(r, 60), resource}}}}
	if r.IntN(2) == 0 {
		list = append(list, Item{Step: Step{m.after, Expire}}, Item{Step: Step{m.after, Replica{Kind: trouble.Restart, N: 1}}})
	}
	return list
}

// longDown is the maximum number of seconds for which a process stays down in a plan of an interruption.
const longDown = 300

// interruption draws a plan under which a process crashes around one of its writes. It starts again soon, or when others have changed
// more, but before faults end.
func (c *Campaign) interruption(r *rand.Rand, process string) []Item {
	own := of(process, c.classes)
	if len(own) == 0 {
		return nil
	}
	k := &own[r.IntN(len(own))]
	w := &k.writes[k.draw(r)]
	down := seconds(r, 10)
	if left := int((c.seen.Took - w.at) / time.Second); left > 0 && r.IntN(3) == 0 { // it must start before the test expects results
		down = seconds(r, min(left, longDown))
	}
	return []Item{{Step: Step{When{Client: process, Nth: w.nth, Before: r.IntN(2) == 0}, Crash{Process: process, Down: down}}}}
}
