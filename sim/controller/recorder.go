package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// recorder aggregates, counts and limits the events of one controller, as client-go's EventCorrelator does:
//
//	an event ─▶ Similar: from the tenth message with the same reason in ten minutes on, messages are combined into one event
//	         ─▶ Said:    a repeated event is counted instead of created again
//	         ─▶ Budgets: up to 25 events about an object are written, then one more every five minutes
type recorder struct {
	Said    map[string]*recordedEvent `json:",omitempty"`
	Similar map[string]*similar       `json:",omitempty"`
	Budgets map[string]*budget        `json:",omitempty"`
}

// These are the limits of client-go's recorder (tools/record/events_cache.go).
const (
	similarMax      = 10
	similarInterval = 10 * time.Minute
	budgetMax       = 25.0
	budgetRefill    = 5 * time.Minute
	recorderMax     = 4096 // the maximum number of entries in each map
	combined        = "(combined from similar events): "
)

// recordedEvent is an event that was written, or would have been written without a budget.
type recordedEvent struct {
	Name  string
	Count int64
	First time.Time
	Last  time.Time

	message string
}

// similar holds the messages of events that differ only in their messages.
type similar struct {
	Messages []string
	Last     time.Time
}

// budget is the number of events about an object that may still be written.
type budget struct {
	Left float64
	Last time.Time
}

// eventContent is the content of an event, without the object that it is about.
type eventContent struct{ Type, Reason, Message string }

// record records an event about an object. It returns the record of the event to write, and reports whether the object's budget
// allows writing it.
func (r *recorder) record(about string, say eventContent, now time.Time) (e *recordedEvent, allowed bool) {
	if r.Said == nil {
		r.Said, r.Similar, r.Budgets = map[string]*recordedEvent{}, map[string]*similar{}, map[string]*budget{}
	}
	key, message := r.combine(about, say, now)
	e = r.Said[key]
	if e == nil {
		e = &recordedEvent{First: now}
		r.Said[key] = e
		trim(r.Said, func(e *recordedEvent) time.Time { return e.Last })
	}
	e.Count++
	e.Last, e.message = now, message
	return e, r.spend(about, now)
}

// combine returns the key under which an event is counted, and its message. If similar events are too frequent, both are those of a
// combined event.
func (r *recorder) combine(about string, say eventContent, now time.Time) (key, message string) {
	group := about + "|" + say.Type + "|" + say.Reason
	s := r.Similar[group]
	if s == nil || now.Sub(s.Last) > similarInterval {
		s = &similar{}
		r.Similar[group] = s
		trim(r.Similar, func(s *similar) time.Time { return s.Last })
	}
	s.Last = now
	if !slices.Contains(s.Messages, say.Message) {
		s.Messages = append(slices.Clip(s.Messages), say.Message)
	}
	if len(s.Messages) < similarMax {
		return group + "|" + say.Message, say.Message
	}
	s.Messages = slices.Clone(s.Messages[1:])
	return group, combined + say.Message
}

// spend deducts one event from the budget of an object. It returns false if the budget is exhausted.
func (r *recorder) spend(about string, now time.Time) bool {
	b := r.Budgets[about]
	if b == nil {
		b = &budget{Left: budgetMax, Last: now}
		r.Budgets[about] = b
		trim(r.Budgets, func(b *budget) time.Time { return b.Last })
	}
	b.Left = min(budgetMax, b.Left+now.Sub(b.Last).Seconds()/budgetRefill.Seconds())
	b.Last = now
	if b.Left < 1 {
		return false
	}
	b.Left--
	return true
}

// clone returns a deep copy of the recorder.
func (r *recorder) clone() *recorder {
	return &recorder{copied(r.Said), copied(r.Similar), copied(r.Budgets)}
}

func copied[T any](all map[string]*T) map[string]*T {
	out := make(map[string]*T, len(all))
	for key, v := range all { // order does not matter
		x := *v
		out[key] = &x
	}
	return out
}

// trim drops the entries for which last is oldest if the map has too many. To do so rarely, it drops several at a time.
func trim[T any](all map[string]T, last func(T) time.Time) {
	if len(all) <= recorderMax+recorderMax/8 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(last(all[a]).Compare(last(all[b])), cmp.Compare(a, b)) })
	for _, key := range keys[:len(keys)-recorderMax] {
		delete(all, key)
	}
}
