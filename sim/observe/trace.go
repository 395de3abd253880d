package observe

import (
	"encoding/json"
	"runtime"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/fault"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/trace"
)

// Trace returns a copy of the trace. If nothing was recorded, it is empty.
func (o *Observer) Trace() *trace.Log {
	if !o.Begun() {
		return &trace.Log{}
	}
	l := o.trace.Log()
	l.Semantic = o.trace.Semantic(o.objects)
	o.head(l)
	return l
}

// Header returns the header of the trace so far.
func (o *Observer) Header() trace.Header {
	if !o.Begun() {
		return trace.Header{}
	}
	l := &trace.Log{}
	o.head(l)
	return l.Header
}

// head fills in the header of a trace.
func (o *Observer) head(l *trace.Log) {
	l.Seed, l.Go, l.Module = o.options.Seed, runtime.Version(), trace.Module()
	for n := 1; n <= o.Servers.Len(); n++ {
		l.Versions = append(l.Versions, o.Servers.At(n).Release())
	}
	in := o.faults
	decisions, _ := in.Decisions()
	if in.Empty() && len(decisions) == 0 {
		return
	}
	l.Level = in.Level().String()
	for _, d := range decisions {
		line, err := json.Marshal(d)
		if err != nil {
			panic("observe: a decision cannot be printed: " + err.Error())
		}
		l.Decisions = append(l.Decisions, line)
	}
}

// Since returns the retained records after number n, and the number of the newest record. Reset restarts the numbering.
func (o *Observer) Since(n uint64) (records []trace.Record, newest uint64) {
	if !o.Begun() {
		return nil, 0
	}
	if n > o.trace.Len() {
		n = 0
	}
	return o.trace.Since(n), o.trace.Len()
}

// Follow returns a channel that receives a signal when there are new records, until stop is called. If the Observer has not
// begun, the channel is nil.
func (o *Observer) Follow() (more <-chan struct{}, stop func()) {
	if !o.Begun() {
		return nil, func() {}
	}
	return o.trace.Follow()
}

// objects yields the stored objects sorted by key.
func (o *Observer) objects(yield func(key string, obj object.Object) bool) {
	o.Log.Newest().Range("", "", func(kv *mvcc.KV) bool {
		d := o.Servers.Definition(commit.Storage(kv.Key))
		if d == nil {
			return true
		}
		return yield(kv.Key, resource.ItemOf(d, kv).Object())
	})
}

// State is the state of an Observer while no request is being processed.
type State struct {
	Faults     *fault.State // nil if there were none
	Records    *trace.State // if nil, the trace starts empty
	LastCommit [2]uint64    // revision, and number of its trace record
}

// State returns the current state.
func (o *Observer) State() State {
	if !o.Begun() {
		return State{}
	}
	faults, records := o.faults.State(), o.trace.State()
	return State{&faults, &records, [2]uint64{o.commit.rev, o.commit.record}}
}

// Load restores the faults and the trace in a State. If the Observer has already recorded a trace and the cluster goes back in
// time, the trace restarts empty. Load returns an error if the State is inconsistent.
func (o *Observer) Load(s State) (err error) {
	begun := o.Begun()
	if !begun && o.options.Trace <= 0 && s.Faults == nil {
		return nil
	}
	o.Begin()
	if s.Faults != nil {
		if o.faults, err = fault.Load(*s.Faults); err != nil {
			return err
		}
	}
	if begun {
		return nil
	}
	if s.Records != nil {
		if o.trace, err = trace.Load(o.options.Records(), *s.Records); err != nil {
			return err
		}
	}
	o.commit = commitMark{s.LastCommit[0], s.LastCommit[1]}
	return nil
}
