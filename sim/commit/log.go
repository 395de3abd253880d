package commit

import (
	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Log is the store of a cluster and its listeners. After each write to the store, Committed must be called with the event, before
// the next write.
type Log struct {
	Store     *mvcc.Store
	Clock     clock.Clock
	Known     Definitions
	Listeners []Listener
}

// Committed notifies all listeners of an event. The first argument is the author of the commit.
func (l *Log) Committed(by resource.Author, e *mvcc.Event) {
	c := Of(e, l.Newest(), l.Clock.Now(), l.Known)
	c.By = by
	for _, x := range l.Listeners {
		x.Committed(c)
	}
}

// Begin sets the cluster's store. Listeners are only notified of its later commits.
func (l *Log) Begin(store *mvcc.Store) { l.Store = store }

// Newest returns the newest state of the store.
func (l *Log) Newest() *mvcc.View {
	view, err := l.Store.At(0)
	if err != nil {
		panic("commit: the store has no newest revision: " + err.Error())
	}
	return view
}
