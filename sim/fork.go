package sim

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/crd"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Fork returns a Cluster that is as this one now and goes its own way from here: neither sees what is written to the
// other. Their histories share memory. Open watches and requests that wait stay with this Cluster; what else there is, the
// fork has too: definitions, rights, lagging replicas, faults and how often they have happened, the trace so far.
//
// The fork of a Cluster with a clock.Manual has one of its own, which stands at the same instant; any other clock is
// shared. A fork that is asked the same as this Cluster at the same times answers with the same bytes.
func (c *Cluster) Fork() *Cluster {
	c.door.Lock()
	defer c.door.Unlock()
	c.controllers.Settle()
	f, err := c.fork(c.state())
	if err != nil {
		panic("sim: a fork of what there is: " + err.Error())
	}
	return f
}

// ForkAt is Fork at a revision that the store still has. At an older one than the newest the fork is the Cluster as it was
// when the revision had just been written: its objects, its time (of a clock.Manual) and its random numbers, so that what
// was asked then, asked again, gets the same bytes; but its replicas are newly started, its trace is empty, and there are
// no faults.
func (c *Cluster) ForkAt(rev uint64) (*Cluster, error) {
	c.door.Lock()
	defer c.door.Unlock()
	c.controllers.Settle()
	if rev == c.log.Store.Rev() {
		return c.fork(c.state())
	}
	s, err := c.stateAt(rev)
	if err != nil {
		return nil, fmt.Errorf("fork: %w", err)
	}
	return c.fork(s)
}

// fork loads a state of the Cluster with all that its program has registered.
func (c *Cluster) fork(s *State) (*Cluster, error) {
	k := c.clock
	if _, manual := k.(*clock.Manual); manual {
		k = clock.NewManual(s.Now)
	}
	f, err := Load(s, k)
	if err != nil {
		return nil, err
	}
	f.conversions.functions, f.conversions.transport = maps.Clone(c.conversions.functions), c.conversions.transport
	f.webhooks = webhooks{maps.Clone(c.webhooks.functions), c.webhooks.transport, c.webhooks.together}
	f.door.Lock()
	defer f.door.Unlock()
	if len(f.conversions.functions) > 0 || f.conversions.transport != nil {
		f.reread()
	}
	if s.Servers == nil {
		f.controllers.Resync(server.Definitions...)
		f.controllers.Settle()
	}
	return f, nil
}

// stateAt returns what the Cluster was when a revision had just been written. The lock is held.
func (c *Cluster) stateAt(rev uint64) (*State, error) {
	_, manual := c.clock.(*clock.Manual)
	past, err := c.history.StateAt(rev, manual)
	if err != nil {
		return nil, err
	}
	s := c.state()
	s.State, s.Servers, s.Faults, s.Records, s.Controllers, s.LastCommit = past, nil, nil, nil, nil, [2]uint64{}
	if !c.options.Bare {
		s.Controllers = server.StateOf(nil, s.Now.Add(server.EnsureInterval)) // in case that something is to be put back
	}
	return s, nil
}

// read finds out what is in the values of built-in objects that come from a file.
func (c *Cluster) read() {
	first := c.replicas[0].profile.hubs
	c.eachValue(func(storage string, kv *mvcc.KV) {
		if d := first[storage]; d != nil {
			kv.Aux = resource.ItemOf(d, kv)
		}
	})
}

// readCustom is read for custom resources, when their definitions are known.
func (c *Cluster) readCustom() {
	c.eachValue(func(storage string, kv *mvcc.KV) {
		if d := c.replicas[0].custom.Hub(storage); d != nil && storage != crd.Storage {
			kv.Aux = resource.ItemOf(d, kv)
		}
	})
}

// eachValue yields every value of the store that nobody has read yet.
func (c *Cluster) eachValue(yield func(storage string, kv *mvcc.KV)) {
	oldest, err := c.log.Store.At(c.log.Store.Compacted())
	if err != nil {
		panic("sim: the store has no oldest revision: " + err.Error())
	}
	take := func(kv *mvcc.KV) bool {
		if kv != nil && kv.Aux == nil {
			yield(commit.Storage(kv.Key), kv)
		}
		return true
	}
	oldest.Range("", "", take)
	_ = c.log.Store.Events(oldest.Rev(), func(e *mvcc.Event) bool { return take(e.KV) }) // cannot be compacted: the oldest
}

// Recall makes the Cluster what a State says, as far as it can: its clock goes on where it is, or, when it is a
// clock.Manual that is behind, at the time of the State. Open watches end. It refuses the State of a Cluster with other
// replicas or other rights, and one of the future.
func (c *Cluster) Recall(s *State) error {
	if m, ok := c.clock.(*clock.Manual); ok {
		m.AdvanceTo(s.Now) // without the lock: timers take it
	}
	if c.clock.Now().Before(s.Now) {
		return fmt.Errorf("recall: the state is of %v, and the clock only at %v", s.Now, c.clock.Now())
	}
	f, err := Load(s, clock.NewManual(s.Now)) // whether it can be loaded
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	c.door.Lock()
	defer c.door.Unlock()
	for i, r := range f.replicas {
		if len(f.replicas) != len(c.replicas) || r.profile.name != c.replicas[i].profile.name {
			return fmt.Errorf("recall: the state is of %s, not of the replicas there are", f.profileNames())
		}
	}
	if !reflect.DeepEqual(s.Options.who(), c.options.who()) {
		return fmt.Errorf("recall: the state is of a cluster with other rights or tokens")
	}
	if o := c.observer; o != nil {
		o.flush()
	}
	for _, r := range c.replicas {
		r.end()
	}
	c.schedule.Clear()
	return c.recall(s)
}

// recall loads a state that fits into the replicas there are.
func (c *Cluster) recall(s *State) (err error) {
	c.seed, c.options.Seed = s.Options.Seed, s.Options.Seed
	c.reset()
	if err := c.remember(s); err != nil {
		return err
	}
	for i, r := range c.replicas {
		if s.Servers == nil {
			r.restart()
		} else if err := r.load(s.Servers[i]); err != nil {
			return err
		}
	}
	if o := c.observer; o != nil {
		o.begin()
		o.delayed, o.held = nil, nil
		if s.Faults != nil {
			if o.faults, err = fault.Load(*s.Faults); err != nil {
				return err
			}
		}
	} else if err := c.lookOn(s); err != nil {
		return err
	}
	return c.takeUp(s)
}

// profileNames names the replicas' profiles.
func (c *Cluster) profileNames() string {
	var names []string
	for _, r := range c.replicas {
		names = append(names, strings.TrimSpace(r.profile.release))
	}
	return fmt.Sprintf("%d replicas (%s)", len(names), strings.Join(names, ", "))
}
