package controller

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/mvcc"
)

// State is the state of a Manager between reconciles. It determines the Manager's future behaviour.
type State struct {
	Ready    []Item      `json:",omitempty"` // the oldest first
	Waiting  []Waiting   `json:",omitempty"` // the earliest first
	Failures []Failure   `json:",omitempty"`
	Plan     []Item      `json:",omitempty"`
	Stepped  bool        `json:",omitempty"`
	Drawn    bool        `json:",omitempty"` // the Order is Drawn
	Loops    []LoopState `json:",omitempty"` // omits loops in their initial state

	// Resync names the controllers that list all objects when the State is loaded, as at their start.
	Resync []string `json:",omitempty"`
}

// LoopState is the state of a controller.
type LoopState struct {
	Name    string
	Stopped bool            `json:",omitempty"`
	Crashed bool            `json:",omitempty"`
	Delay   time.Duration   `json:",omitempty"`
	Memory  json.RawMessage `json:",omitempty"` // the JSON of its Rememberer's Memory

	Events  *recorder     `json:",omitempty"` // the events that it has recorded
	Written []newestWrite `json:",omitempty"` // the writes that its cache does not show yet

	// Lagging contains the cache's views of the resources whose informers lag.
	Lagging map[string]*mvcc.View `json:"-"`
}

// State returns the current state of a Manager. It shares no mutable data with the Manager.
func (m *Manager) State() *State {
	s := &State{Ready: slices.Clone(m.queue.ready), Waiting: slices.Clone(m.queue.waiting), Failures: m.queue.Failures(),
		Plan: slices.Clone(m.Plan), Stepped: m.Stepped}
	if w := m.queue.work; w.dirty {
		s.Ready = append(s.Ready, w.item)
	}
	_, s.Drawn = m.Order.(Drawn)
	for _, l := range m.loops {
		x := LoopState{Name: l.Name, Stopped: l.stopped, Crashed: l.crashed, Delay: l.delay, Memory: l.memory()}
		if len(l.recorder.Said) > 0 {
			x.Events = l.recorder.clone()
		}
		if len(l.cache.lagging) > 0 {
			x.Lagging = maps.Clone(l.cache.lagging)
		}
		x.Written = slices.Clone(l.written)
		if x.Stopped || x.Delay > 0 || x.Memory != nil || x.Lagging != nil || x.Events != nil || x.Written != nil {
			s.Loops = append(s.Loops, x)
		}
	}
	return s
}

// Load replaces the state of a Manager with s. If s is nil, the Manager starts with an empty queue. Waiting items use the Manager's
// clock. It returns an error if s contains an unknown controller or an invalid memory.
func (m *Manager) Load(s *State) error {
	m.queue, m.Plan, m.owned, m.nextRenewal = Queue{work: m.queue.work}, nil, ownerIndex{}, time.Time{}
	m.setAlarm()
	for _, l := range m.loops {
		m.halt(l, false)
		l.crashed, l.expired, l.delay, l.cache, l.recorder, l.written = false, false, 0, cache{}, recorder{}, nil
		if err := l.remember(nil); err != nil {
			return err
		}
	}
	if s == nil {
		return nil
	}
	for _, x := range s.Loops {
		l, err := m.findNamed(x.Name)
		if err != nil {
			return err
		}
		m.halt(l, x.Stopped)
		l.crashed, l.delay, l.cache.lagging, l.written = x.Crashed, x.Delay, maps.Clone(x.Lagging), slices.Clone(x.Written)
		if x.Events != nil {
			l.recorder = *x.Events.clone()
		}
		if err := l.remember(x.Memory); err != nil {
			return fmt.Errorf("the memory of the controller %s: %w", x.Name, err)
		}
	}
	for _, l := range m.loops {
		if x, ok := l.Reconciler.(Learner); ok && !l.crashed {
			x.Learn(&l.client)
		}
	}
	for _, f := range s.Failures {
		if m.queue.failures == nil {
			m.queue.failures = map[Item]int{}
		}
		m.queue.failures[f.Item] = f.Times
	}
	m.Plan, m.Stepped = slices.Clone(s.Plan), s.Stepped
	if s.Drawn {
		m.Order = Drawn{m.random}
	}
	return m.loadQueue(s)
}

func (m *Manager) loadQueue(s *State) error {
	for _, i := range s.Ready {
		if _, err := m.findNamed(i.Controller); err != nil {
			return err
		}
		m.queue.Add(i)
	}
	for _, w := range s.Waiting {
		if _, err := m.findNamed(w.Controller); err != nil {
			return err
		}
		m.addAt(w.Item, w.At)
	}
	from := m.lists()
	for _, name := range s.Resync {
		l, err := m.findNamed(name)
		if err != nil {
			return err
		}
		m.list(l, from)
	}
	return nil
}

// memory returns the JSON of a controller's memory, or nil if it has none.
func (l *loop) memory() json.RawMessage {
	r, ok := l.Reconciler.(Rememberer)
	if !ok {
		return nil
	}
	text, err := json.Marshal(r.Memory())
	if err != nil {
		panic("controller: the memory of " + l.Name + " cannot be printed: " + err.Error())
	}
	if string(text) == "{}" || string(text) == "null" {
		return nil
	}
	return text
}

// remember restores a controller's memory from its JSON. If text is nil, it clears the memory. It returns an error if text is
// invalid.
func (l *loop) remember(text json.RawMessage) error {
	r, ok := l.Reconciler.(Rememberer)
	if !ok {
		return nil
	}
	into := reflect.ValueOf(r.Memory()).Elem()
	into.SetZero()
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, r.Memory())
}
