package sim

import (
	"encoding/json"
	"runtime"
	"runtime/debug"

	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Trace returns a copy of the trace. It is empty when Options.Trace asked for none.
func (c *Cluster) Trace() *trace.Log {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return &trace.Log{}
	}
	l := c.observer.trace.Log()
	l.Semantic = c.observer.trace.Semantic(c.observer.objects)
	c.head(l)
	return l
}

// head fills in what a trace says of the run.
func (c *Cluster) head(l *trace.Log) {
	l.Seed, l.Go, l.Module = c.seed, runtime.Version(), Module()
	for _, r := range c.replicas {
		l.Versions = append(l.Versions, r.profile.release)
	}
	in := c.observer.faults
	decisions, _ := in.Decisions()
	if in.Empty() && len(decisions) == 0 {
		return
	}
	l.Level = in.Level().String()
	for _, d := range decisions {
		line, err := json.Marshal(d)
		if err != nil {
			panic("sim: a decision cannot be printed: " + err.Error())
		}
		l.Decisions = append(l.Decisions, line)
	}
}

// TraceHeader returns what a trace that is not complete yet says of the run.
func (c *Cluster) TraceHeader() trace.Header {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return trace.Header{}
	}
	l := &trace.Log{}
	c.head(l)
	return l.Header
}

// Module returns the version of this module that the program was built with.
func Module() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == modulePath {
			return m.Version
		}
	}
	return ""
}

const modulePath = "github.com/kubesim/kubesim"

// TraceSince returns the records after number n that are still there, and the number of the newest. After a Reset the
// numbers begin anew.
func (c *Cluster) TraceSince(n uint64) (records []trace.Record, newest uint64) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return nil, 0
	}
	t := c.observer.trace
	if n > t.Len() {
		n = 0
	}
	return t.Since(n), t.Len()
}

// FollowTrace returns a channel that is signalled when there are new records, until stop is called. Of a Cluster that
// nobody looks at there are none.
func (c *Cluster) FollowTrace() (more <-chan struct{}, stop func()) {
	c.door.Lock()
	defer c.door.Unlock()
	if c.observer == nil {
		return nil, func() {}
	}
	more, unfollow := c.observer.trace.Follow()
	return more, func() {
		c.do(unfollow)
	}
}

// objects yields what is stored, in the order of the keys.
func (o *observer) objects(yield func(key string, obj object.Object) bool) {
	view, err := o.c.log.Store.At(0)
	if err != nil {
		return
	}
	view.Range("", "", func(kv *mvcc.KV) bool {
		d := o.definition(kv.Key)
		if d == nil {
			return true
		}
		return yield(kv.Key, resource.ItemOf(d, kv).Object())
	})
}
