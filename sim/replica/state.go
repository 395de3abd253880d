package replica

import (
	"fmt"
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// State is the state of all servers while no request is being processed.
type State struct {
	Held    []string       // held clients
	Routes  map[string]int // server numbers, counted from 1, by client
	Servers []ServerState  // if nil, each server is newly started
}

// ServerState is the state of one server.
type ServerState struct {
	Position     *mvcc.View            // state of the store up to which commits were applied
	LaggingViews map[string]*mvcc.View // positions of resources that lag individually, by storage name
	Lags         bool                  // no commits are applied
	Cut          bool                  // the store is unreachable
	Filled       uint64                // revision at which the caches were filled
	Caches       map[string]watchcache.State
	Unready      map[string]Window // caches that are being filled, by storage name; "*" stands for all of them
}

// State returns the current state of the servers. It does not share mutable data with them.
func (s *Set) State() State {
	state := State{Held: object.SortedKeys(s.held), Routes: maps.Clone(s.routes)}
	for _, r := range s.list {
		state.Servers = append(state.Servers, r.state())
	}
	return state
}

func (r *Server) state() ServerState {
	s := ServerState{Position: r.position.View, LaggingViews: map[string]*mvcc.View{}, Lags: r.lagsAll, Cut: r.unreachable, Filled: r.filled,
		Caches: map[string]watchcache.State{}, Unready: maps.Clone(r.unready)}
	for _, name := range object.SortedKeys(r.lagging) {
		s.LaggingViews[name] = r.caches[name].View()
	}
	for _, name := range r.cacheNames() {
		s.Caches[name] = r.caches[name].State()
	}
	return s
}

// Load makes the servers continue from a State. unread reports whether the values in the store have not been parsed yet. Load
// returns an error if the State is inconsistent.
func (s *Set) Load(state State, unread bool) error {
	for _, client := range state.Held {
		s.held[client] = true
	}
	for client, n := range state.Routes { // order does not matter: the result is a map
		s.routes[client] = n
	}
	if unread {
		first := s.list[0].profile.hubs
		s.read(func(storage string) *resource.Definition { return first[storage] })
	}
	for i, r := range s.list {
		if state.Servers == nil {
			r.Restart()
		} else if err := r.load(state.Servers[i]); err != nil {
			return fmt.Errorf("replica %d: %w", i+1, err)
		}
	}
	if unread { // the definitions have been loaded
		s.read(s.list[0].custom.Hub)
	}
	return nil
}

// load restores the state of a server.
func (r *Server) load(s ServerState) error {
	if s.Position == nil || s.Position.Rev() > r.set.Log().Store.Rev() {
		return fmt.Errorf("it has applied more than was written")
	}
	r.flow = nil
	r.position, r.filled, r.lagsAll, r.unreachable = &watchcache.Position{View: s.Position}, s.Filled, s.Lags, s.Cut
	r.lagging, r.caches = map[string]bool{}, map[string]*watchcache.Cache{}
	for _, name := range object.SortedKeys(s.Caches) {
		r.caches[name] = watchcache.Load(s.Caches[name], r.position)
	}
	for _, name := range object.SortedKeys(s.LaggingViews) {
		r.lagging[name] = true
		r.cache(name).Follow(&watchcache.Position{View: s.LaggingViews[name]})
	}
	r.unready = map[string]Window{}
	for _, name := range object.SortedKeys(s.Unready) {
		r.unready[name] = s.Unready[name]
		r.readyAfter(name, max(s.Unready[name].Until.Sub(r.set.Schedule.Now()), 0))
	}
	r.redefine()
	return nil
}

// read parses those values of objects loaded from a file that have not been parsed yet. It skips resources without a hub
// definition.
func (s *Set) read(hub func(storage string) *resource.Definition) {
	store := s.Log().Store
	oldest, err := store.At(store.Compacted())
	if err != nil {
		panic("replica: the store has no oldest revision: " + err.Error())
	}
	take := func(kv *mvcc.KV) bool {
		if kv != nil && kv.Aux == nil {
			if d := hub(commit.Storage(kv.Key)); d != nil {
				kv.Aux = resource.ItemOf(d, kv)
			}
		}
		return true
	}
	oldest.Range("", "", take)
	_ = store.Events(oldest.Rev(), func(e *mvcc.Event) bool { return take(e.KV) }) // no error: the oldest revision is not compacted
}

// Matches returns an error if the servers differ from those of another Set in number or configuration.
func (s *Set) Matches(other *Set) error {
	for i, r := range other.list {
		if len(other.list) != len(s.list) || r.profile.name != s.list[i].profile.name {
			return fmt.Errorf("the state belongs to %s, which differ from the existing replicas", other)
		}
	}
	return nil
}

// String describes the servers by their number and their releases.
func (s *Set) String() string {
	var names []string
	for _, r := range s.list {
		names = append(names, strings.TrimSpace(r.profile.release))
	}
	return fmt.Sprintf("%d replicas (%s)", len(names), strings.Join(names, ", "))
}
