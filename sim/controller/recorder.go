package controller

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// recorder aggregates, counts and limits the events of one controller, as client-go's EventCorrelator does:
//
//	an event ─▶ similar: the tenth message of one reason in ten minutes, and those after it, are one event
//	         ─▶ said:    a repeated event is counted, not written again
//	         ─▶ budgets: 25 events about one object are written at once, then one more each five minutes
type recorder struct {
	Said    map[string]*recordedEvent `json:",omitempty"`
	Similar map[string]*similar       `json:",omitempty"`
	Budgets map[string]*budget        `json:",omitempty"`
}

// The limits of client-go's recorder (tools/record/events_cache.go).
const (
	similarMax      = 10
	similarInterval = 10 * time.Minute
	budgetMax       = 25.0
	budgetRefill    = 5 * time.Minute
	recorderMax     = 4096 // entries of each kind
	combined        = "(combined from similar events): "
)

// recordedEvent is one event that was written, or would have been.
type recordedEvent struct {
	Name  string
	Count int64
	First time.Time
	Last  time.Time

	message string
}

// similar are events that differ in their message only.
type similar struct {
	Messages []string
	Last     time.Time
}

// budget is how many events of an object can be written.
type budget struct {
	Left float64
	Last time.Time
}

// eventContent is the content of an event.
type eventContent struct{ Type, Reason, Message string }

// record takes an event about an object. It returns the event to write, and whether it may be written.
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

// combine returns under which key an event is counted, and its message.
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

// spend takes one event of the budget of an object, if there is one left.
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

// clone returns a recorder that shares nothing that changes.
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

// trim drops the entry that was used longest ago if there are too many.
func trim[T any](all map[string]T, last func(T) time.Time) {
	if len(all) <= recorderMax+recorderMax/8 {
		return
	}
	keys := slices.SortedFunc(maps.Keys(all), func(a, b string) int { return cmp.Or(last(all[a]).Compare(last(all[b])), cmp.Compare(a, b)) })
	for _, key := range keys[:len(keys)-recorderMax] {
		delete(all, key)
	}
}
