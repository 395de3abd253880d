package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/buntdb"

	"github.com/kubesim/kubesim/sim"
	"github.com/kubesim/kubesim/sim/controller/server"
	"github.com/kubesim/kubesim/sim/history"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/observe"
	"github.com/kubesim/kubesim/sim/pack"
	"github.com/kubesim/kubesim/sim/random"
	"github.com/kubesim/kubesim/sim/replica"
	"github.com/kubesim/kubesim/sim/trace"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// replicasMax is the maximum number of replicas in a file.
const replicasMax = 1000

// reader reads a State from a database.
type reader struct {
	tx     *buntdb.Tx
	doc    document
	store  *mvcc.Store
	kvs    map[uint64]*mvcc.KV // by revision
	events map[uint64]*mvcc.Event
	views  map[uint64]*mvcc.View
}

// read reads the State of the archive. It returns an error if the file is not an archive, has a newer format, or is incomplete.
func (a *Archive) read(tx *buntdb.Tx) error {
	r := &reader{tx: tx, kvs: map[uint64]*mvcc.KV{}, events: map[uint64]*mvcc.Event{}, views: map[uint64]*mvcc.View{}}
	text, err := tx.Get("cluster")
	if err != nil {
		return errors.New("the file is not an archive of a cluster: it contains no cluster")
	}
	if err := json.Unmarshal([]byte(text), &r.doc); err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	d := &r.doc
	if d.Format < 1 || d.Format > format {
		return fmt.Errorf("the file has format %d, written by version %q; this version reads up to format %d",
			d.Format, d.Module, format)
	}
	for _, step := range []func() error{r.readKVs, r.readEvents, r.readViews, r.readStore} {
		if err := step(); err != nil {
			return err
		}
	}
	if a.state, err = r.state(); err != nil {
		return err
	}
	if trace := a.state.Observed.Records; trace != nil {
		a.records = trace.Records
	}
	a.info = Info{Module: d.Module, Options: a.state.Options, Time: d.Now, Oldest: d.Oldest, Newest: d.Newest, Size: a.info.Size,
		Records: len(a.records)}
	return nil
}

// each calls f with the revision and the value of each entry of a kind, sorted by revision. If f fails, the error contains the
// entry's key.
func each(tx *buntdb.Tx, kind string, f func(rev uint64, value string) error) error {
	return under(tx, kind, func(text, value string) error {
		rev, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return err
		}
		return f(rev, value)
	})
}

// under calls f with the value of each entry of a kind, and with the rest of its key. If f fails, the error contains the key.
func under(tx *buntdb.Tx, kind string, f func(rest, value string) error) error {
	var bad error
	err := tx.AscendGreaterOrEqual("", kind+":", func(key, value string) bool {
		rest, ok := strings.CutPrefix(key, kind+":")
		if !ok {
			return false
		}
		if err := f(rest, value); err != nil {
			bad = fmt.Errorf("%s: %w", key, err)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

func (r *reader) readKVs() error {
	return each(r.tx, "kv", func(rev uint64, value string) error {
		key, rest, err := cutKey(value)
		if err != nil {
			return err
		}
		text, data, ok := strings.Cut(rest, " ")
		created, err := strconv.ParseUint(text, 10, 64)
		if !ok || err != nil || created > rev || created == 0 {
			return errors.New("want: key, revision of creation, value")
		}
		if _, err := object.Parse([]byte(data)); err != nil {
			return fmt.Errorf("the value of %s is not an object: %w", key, err)
		}
		r.kvs[rev] = &mvcc.KV{Key: key, Text: pack.New([]byte(data)), CreateRev: created, ModRev: rev}
		return nil
	})
}

// cutKey splits a value into the object key at its beginning, which is a quoted Go string, and the rest.
func cutKey(value string) (key, rest string, err error) {
	quoted, err := strconv.QuotedPrefix(value)
	if err == nil {
		key, err = strconv.Unquote(quoted)
	}
	rest, ok := strings.CutPrefix(value[len(quoted):], " ")
	if err != nil || !ok || !strings.HasPrefix(key, "/registry/") {
		return "", "", errors.New("want: the key of an object")
	}
	return key, rest, nil
}

func (r *reader) readEvents() error {
	return each(r.tx, "event", func(rev uint64, value string) error {
		key, rest, err := cutKey(value)
		if err != nil {
			return err
		}
		verb, text, _ := strings.Cut(rest, " ")
		prev, err := strconv.ParseUint(text, 10, 64)
		if err != nil || verb != "put" && verb != "delete" {
			return errors.New("want: key, put or delete, revision of the previous value")
		}
		e := &mvcc.Event{Rev: rev, Key: key}
		if verb == "put" {
			e.KV = r.kvs[rev]
		}
		if prev != 0 {
			e.Prev = r.kvs[prev]
		}
		switch {
		case verb == "put" && (e.KV == nil || e.KV.Key != e.Key):
			return errors.New("the new value is missing")
		case prev != 0 && (e.Prev == nil || e.Prev.Key != e.Key) || e.KV == nil && e.Prev == nil || prev >= rev:
			return errors.New("the previous value is missing")
		}
		r.events[rev] = e
		return nil
	})
}

func (r *reader) readViews() error {
	return each(r.tx, "view", func(rev uint64, value string) error {
		var kvs []*mvcc.KV
		for _, word := range strings.Fields(value) {
			n, err := strconv.ParseUint(word, 10, 64)
			if err != nil || r.kvs[n] == nil || n > rev {
				return fmt.Errorf("kv:%s is not in the file", word)
			}
			kvs = append(kvs, r.kvs[n])
		}
		r.views[rev] = mvcc.NewView(rev, kvs)
		return nil
	})
}

// readStore creates the store from its oldest view and all later commits. It returns an error if one of them is missing.
func (r *reader) readStore() (err error) {
	d := &r.doc
	oldest := r.views[d.Oldest]
	if oldest == nil || d.Newest < d.Oldest {
		return fmt.Errorf("the oldest view of the store, %d, is missing", d.Oldest)
	}
	var made *mvcc.Event
	if d.Made {
		if made = r.events[d.Oldest]; made == nil {
			return fmt.Errorf("the commit of revision %d is missing", d.Oldest)
		}
	}
	var events []*mvcc.Event
	for rev := d.Oldest + 1; rev <= d.Newest; rev++ {
		e := r.events[rev]
		if e == nil {
			return fmt.Errorf("the commit of revision %d is missing", rev)
		}
		events = append(events, e)
	}
	r.store, err = mvcc.Load(oldest, made, events)
	return err
}

// state builds the State from the data that was read. It returns an error if replicas or routes are invalid.
func (r *reader) state() (*sim.State, error) {
	d, o := &r.doc, &r.doc.Options
	s := &sim.State{History: history.State{Now: d.Now, Store: r.store, Compaction: d.Compact, Leases: d.Leases},
		Servers: replica.State{Held: d.Held, Routes: d.Routes}, Observed: observe.State{Faults: d.Faults, LastCommit: d.Last}, Unread: true}
	s.Options = o.Cluster
	for _, x := range d.Streams {
		p, err := readState(x.State)
		if err != nil {
			return nil, fmt.Errorf("the random numbers of %q: %w", x.Purpose, err)
		}
		s.History.Streams = append(s.History.Streams, random.Stream{Purpose: x.Purpose, State: p})
	}
	for client, n := range d.Routes { // order does not matter: any invalid route is an error
		if n < 1 || n > max(len(o.Replicas), 1) {
			return nil, fmt.Errorf("the client %q is routed to replica %d, which does not exist", client, n)
		}
	}
	if len(d.Servers) == 0 || len(d.Servers) > replicasMax {
		return nil, fmt.Errorf("there are %d replicas, not 1 to %d", len(d.Servers), replicasMax)
	}
	for i, x := range d.Servers {
		one, err := r.server(x)
		if err != nil {
			return nil, fmt.Errorf("replica %d: %w", i+1, err)
		}
		s.Servers.Servers = append(s.Servers.Servers, one)
	}
	if err := errors.Join(r.marks(s), r.controllers(s)); err != nil {
		return nil, err
	}
	return s, r.trace(s)
}

func (r *reader) marks(s *sim.State) error {
	last := time.Time{}
	return each(r.tx, "mark", func(rev uint64, value string) error {
		text, data, ok := strings.Cut(value, " ")
		nanos, err := strconv.ParseInt(text, 10, 64)
		if !ok || err != nil || len(data)%16 != 0 || len(data)/16 > len(s.History.Streams) || rev > r.doc.Newest {
			return errors.New("want: nanoseconds since 1970, and the random numbers")
		}
		m := history.Mark{Rev: rev, At: time.Unix(0, nanos).In(s.History.Now.Location())}
		if m.At.Before(last) || m.At.After(s.History.Now) {
			return errors.New("the time goes back")
		}
		last = m.At
		for ; data != ""; data = data[16:] {
			p, err := readState([]byte(data[:16]))
			if err != nil {
				return err
			}
			m.Streams = append(m.Streams, p)
		}
		s.History.Marks.Add(m.Rev, m.At, m.Streams)
		return nil
	})
}

// controllers reads the state of the controllers. Format 1 stored only the cleanup of CRDs and namespaces.
func (r *reader) controllers(s *sim.State) (err error) {
	d := &r.doc
	if d.Format == 1 {
		cleaning := map[string]server.Cleanup{}
		for _, x := range d.Cleanups {
			cleaning[x.Name] = x.Cleanup
		}
		s.Controllers = server.Recorded(cleaning, d.Ensure)
		return nil
	}
	if s.Controllers = d.Controllers; s.Controllers == nil {
		return nil
	}
	for i := range s.Controllers.Loops {
		x := &s.Controllers.Loops[i]
		for _, name := range object.SortedKeys(d.Lagging[x.Name]) {
			if x.Lagging == nil {
				x.Lagging = map[string]*mvcc.View{}
			}
			if x.Lagging[name], err = r.at(d.Lagging[x.Name][name]); err != nil {
				return fmt.Errorf("the controller %s: %w", x.Name, err)
			}
		}
	}
	return nil
}

// server reads the state of a replica: its position, its lagging views and its caches.
func (r *reader) server(x apiServer) (replica.ServerState, error) {
	s := replica.ServerState{Lags: x.Lags, Cut: x.Cut, Filled: x.Filled, LaggingViews: map[string]*mvcc.View{},
		Caches:  map[string]watchcache.State{},
		Unready: x.Unready}
	var err error
	if s.Position, err = r.at(x.Position); err != nil {
		return s, err
	}
	for _, name := range object.SortedKeys(x.Alone) {
		if s.LaggingViews[name], err = r.at(x.Alone[name]); err != nil {
			return s, err
		}
	}
	for _, name := range object.SortedKeys(x.Caches) {
		view := s.Position
		if own := s.LaggingViews[name]; own != nil {
			view = own
		}
		if s.Caches[name], err = r.cache(name, x.Caches[name], view); err != nil {
			return s, fmt.Errorf("the cache of %s: %w", name, err)
		}
	}
	return s, nil
}

// at returns the view at a revision, from the store or from the complete views in the archive. It returns an error if neither has
// it.
func (r *reader) at(rev uint64) (*mvcc.View, error) {
	if v, err := r.store.At(rev); err == nil && rev != 0 {
		return v, nil
	}
	if v := r.views[rev]; v != nil && rev < r.doc.Oldest {
		return v, nil
	}
	return nil, fmt.Errorf("the view of revision %d is missing", rev)
}

// cache reads the watch cache of a resource. view is its current state. The states after events that the store has compacted are
// computed by undoing later events, newest first. cache returns an error for an event of another resource.
func (r *reader) cache(name string, x cache, view *mvcc.View) (watchcache.State, error) {
	s := watchcache.State{Prefix: "/registry/" + name + "/", Capacity: x.Capacity, ListRev: x.ListRev,
		Evicted: x.Evicted, Floor: x.Floor,
		Ring: make([]watchcache.RingEntry, len(x.Ring))}
	past := view
	if oldest := r.views[r.doc.Oldest]; past.Rev() > oldest.Rev() {
		past = oldest
	}
	last := view.Rev() + 1
	for i := len(x.Ring) - 1; i >= 0; i-- {
		rev := x.Ring[i].Rev
		e := r.events[rev]
		if e == nil || rev >= last || !strings.HasPrefix(e.Key, s.Prefix) {
			return s, fmt.Errorf("the event of revision %d is missing, or at the wrong place", rev)
		}
		last = rev
		v, err := r.store.At(rev)
		if err != nil {
			v = past.As(rev)
		}
		if rev <= past.Rev() {
			past = past.Before(e, rev-1)
		}
		s.Ring[i] = watchcache.RingEntry{Event: e, View: v, At: x.Ring[i].At}
	}
	return s, nil
}

func (r *reader) trace(s *sim.State) error {
	t := r.doc.Trace
	if s.Observed.Records = t; t == nil {
		return nil
	}
	return under(r.tx, "trace", func(_, line string) error {
		record, err := trace.ParseRecord([]byte(line))
		t.Records = append(t.Records, record)
		return err
	})
}
