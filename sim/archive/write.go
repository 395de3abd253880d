package archive

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/buntdb"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/trace"
)

// writer writes a State to a database.
type writer struct {
	tx    *buntdb.Tx
	state *sim.State
	err   error
}

// revisionKey returns the database key of an entry, such as kv:00000000000000000042. Keys with the same prefix sort by revision.
func revisionKey(kind string, rev uint64) string { return fmt.Sprintf("%s:%020d", kind, rev) }

func (w *writer) set(key, value string) {
	if w.err == nil {
		_, _, w.err = w.tx.Set(key, value, nil)
	}
}

func (w *writer) write() error {
	s := w.state
	oldest, err := s.History.Store.At(s.History.Store.Compacted())
	if err != nil {
		return err
	}
	w.view(oldest)
	if made := oldest.Event(); made != nil {
		w.event(made)
	}
	if err := s.History.Store.Events(oldest.Rev(), func(e *mvcc.Event) bool { w.event(e); return true }); err != nil {
		return err
	}
	for m := range s.History.Marks.All() {
		b := strconv.FormatInt(m.At.UnixNano(), 10) + " "
		for _, p := range m.Streams {
			b += string(stateOf(p))
		}
		w.set(revisionKey("mark", m.Rev), b)
	}
	d := &document{Format: format, Module: trace.Module(), Options: options{s.Options}, Now: s.History.Now, Oldest: oldest.Rev(), Made: oldest.Event() != nil,
		Newest: s.History.Store.Rev(), Compact: s.History.Compaction, Leases: s.History.Leases, Held: s.Servers.Held, Routes: s.Servers.Routes, Faults: s.Observed.Faults,
		Last: s.Observed.LastCommit}
	for _, x := range s.History.Streams {
		d.Streams = append(d.Streams, stream{x.Purpose, stateOf(x.State)})
	}
	for _, r := range s.Servers.Servers {
		d.Servers = append(d.Servers, w.server(r))
	}
	w.controllers(d)
	w.trace(d)
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	w.set("cluster", string(text))
	return w.err
}

// view writes a complete view of the store.
func (w *writer) view(v *mvcc.View) {
	var b strings.Builder
	v.Range("", "", func(kv *mvcc.KV) bool {
		w.kv(kv)
		fmt.Fprintf(&b, "%d ", kv.ModRev)
		return true
	})
	w.set(revisionKey("view", v.Rev()), b.String())
}

func (w *writer) kv(kv *mvcc.KV) {
	w.set(revisionKey("kv", kv.ModRev), fmt.Sprintf("%q %d %s", kv.Key, kv.CreateRev, kv.Value()))
}

func (w *writer) event(e *mvcc.Event) {
	verb, prev := "put", uint64(0)
	if e.KV == nil {
		verb = "delete"
	} else {
		w.kv(e.KV)
	}
	if e.Prev != nil {
		prev = e.Prev.ModRev
		w.kv(e.Prev)
	}
	w.set(revisionKey("event", e.Rev), fmt.Sprintf("%q %s %d", e.Key, verb, prev))
}

// server writes the state of a replica, including data that is no longer in the store.
func (w *writer) server(r replica.ServerState) apiServer {
	x := apiServer{Position: w.at(r.Position), Alone: map[string]uint64{}, Lags: r.Lags, Cut: r.Cut, Filled: r.Filled,
		Caches:  map[string]cache{},
		Unready: r.Unready}
	for _, name := range object.SortedKeys(r.LaggingViews) {
		x.Alone[name] = w.at(r.LaggingViews[name])
	}
	for _, name := range object.SortedKeys(r.Caches) {
		c := r.Caches[name]
		to := cache{Prefix: c.Prefix, Capacity: c.Capacity, ListRev: c.ListRev, Evicted: c.Evicted, Floor: c.Floor}
		for _, e := range c.Ring {
			w.event(e.Event)
			to.Ring = append(to.Ring, at{e.Event.Rev, e.At})
		}
		x.Caches[name] = to
	}
	return x
}

// controllers writes the state of controllers, including cached objects that are no longer in the store.
func (w *writer) controllers(d *document) {
	d.Controllers = w.state.Controllers
	if d.Controllers == nil {
		return
	}
	for _, x := range d.Controllers.Loops {
		if len(x.Lagging) == 0 {
			continue
		}
		known := map[string]uint64{}
		for _, name := range object.SortedKeys(x.Lagging) {
			known[name] = w.at(x.Lagging[name])
		}
		if d.Lagging == nil {
			d.Lagging = map[string]map[string]uint64{}
		}
		d.Lagging[x.Name] = known
	}
}

// at returns the revision that identifies a view. If the view is no longer in the store, at writes it.
func (w *writer) at(v *mvcc.View) uint64 {
	if v.Rev() < w.state.History.Store.Compacted() {
		w.view(v)
	}
	return v.Rev()
}

func (w *writer) trace(d *document) {
	s := w.state.Observed.Records
	if s == nil {
		return
	}
	d.Trace = s // its JSON does not include Records
	for i := range s.Records {
		r := &s.Records[i]
		w.set(recordKey(r.At.UnixNano(), r.N), string(r.AppendJSON(nil)))
	}
}

// recordKey returns the key of a trace record. Keys sort by time and then by number.
func recordKey(nanos int64, n uint64) string {
	return fmt.Sprintf("trace:%020d:%020d", uint64(nanos)^1<<63, n) // flip the sign bit, so that times before 1970 sort first
}
