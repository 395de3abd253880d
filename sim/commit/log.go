package commit

import (
	"github.com/kubesim/kubesim/clock"
	"github.com/kubesim/kubesim/sim/mvcc"
	"github.com/kubesim/kubesim/sim/resource"
)

// Log is the store of a cluster with its listeners. Code that writes to the store calls Committed with the event before anything
// else is written.
type Log struct {
	Store     *mvcc.Store
	Clock     clock.Clock
	Known     Definitions
	Listeners []Listener
}

// Committed notifies all listeners of an event, and of its author.
func (l *Log) Committed(by resource.Author, e *mvcc.Event) {
	c := Of(e, l.Newest(), l.Clock.Now(), l.Known)
	c.By = by
	for _, x := range l.Listeners {
		x.Committed(c)
	}
}

// Begin makes store the cluster's store. Listeners are notified of its later commits only.
func (l *Log) Begin(store *mvcc.Store) { l.Store = store }

// Newest is the newest state of the store.
func (l *Log) Newest() *mvcc.View {
	view, err := l.Store.At(0)
	if err != nil {
		panic("commit: the store has no newest revision: " + err.Error())
	}
	return view
}
