package controller

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// The troubles of a controller:
//
//	           its queue        its cache        its memory
//	Stop       grows            is kept up       stays
//	Delay      each item waits  is kept up       stays
//	Lag        as it is         stands still     stays
//	Crash      is lost          is lost          is lost
//	Start      goes on; after a crash all existing objects are queued again
//	Resume     all missed commits are delivered, in order

// Stop stops a controller: its items wait.
func (m *Manager) Stop(name string) error {
	l, err := m.findNamed(name)
	if err == nil {
		m.halt(l, true)
		m.falter(l)
	}
	return err
}

// halt sets whether a controller is stopped.
func (m *Manager) halt(l *loop, stopped bool) {
	switch {
	case stopped && !l.stopped:
		m.halted++
	case !stopped && l.stopped:
		m.halted--
	}
	l.stopped = stopped
}

// falter is called when a controller has stopped: others cannot rely on its Heartbeat any more.
func (m *Manager) falter(l *loop) {
	if h, ok := l.Reconciler.(Heartbeat); ok {
		m.notifyExpired(h)
	}
}

// Crash stops a controller and makes it forget everything, as a process does that ends. In the middle of a reconcile, it
// writes nothing more.
func (m *Manager) Crash(name string) error {
	l, err := m.findNamed(name)
	if err != nil {
		return err
	}
	m.halt(l, true)
	l.crashed, l.cache, l.recorder, l.written = true, cache{}, recorder{}, nil
	m.queue.Drop(name)
	m.setAlarm()
	m.falter(l)
	return l.remember(nil)
}

// Start starts a controller that was stopped or has crashed.
func (m *Manager) Start(name string) error {
	l, err := m.findNamed(name)
	if err != nil {
		return err
	}
	if l.crashed {
		m.list(l, m.lists())
	}
	m.halt(l, false)
	l.crashed, l.expired, m.nextRenewal = false, false, time.Time{}
	return nil
}

// Delay makes a controller wait for a time before it reconciles new items. 0 ends the delay.
func (m *Manager) Delay(name string, d time.Duration) error {
	l, err := m.findNamed(name)
	if err == nil {
		l.delay = d
	}
	return err
}

// Lag makes the informers of a controller lag: those of some resources, such as pods or deployments.apps, or all. It knows the
// store as it is now until Resume.
func (m *Manager) Lag(name string, resources ...string) error {
	l, err := m.findNamed(name)
	if err != nil {
		return err
	}
	var stored []string
	for _, of := range resources {
		storage, err := m.storage(of)
		if err != nil {
			return err
		}
		stored = append(stored, storage)
	}
	if len(resources) == 0 {
		stored = m.watched(l)
	}
	l.cache.lag(stored, m.log.Newest())
	return nil
}

// watched returns the resources that a controller watches.
func (m *Manager) watched(l *loop) (stored []string) {
	for _, w := range l.Watches {
		if w.Resource == "" {
			return m.storages()
		}
		stored = append(stored, w.Resource)
	}
	return stored
}

// storage returns where a resource is stored that a user names: deployments.apps, or deployments.
func (m *Manager) storage(name string) (string, error) {
	if m.server.Definition(name) != nil {
		return name, nil
	}
	for _, d := range m.server.Resources() {
		if d.Resource == name {
			return d.Storage, nil
		}
	}
	return "", fmt.Errorf("there is no resource %q", name)
}

// Resume ends Lag: the controller gets all commits that it has missed. If the store has compacted some of them, the controller gets
// all existing objects, as after a list.
func (m *Manager) Resume(name string) error {
	l, err := m.findNamed(name)
	if err != nil {
		return err
	}
	for _, resource := range l.cache.missed() {
		from := l.cache.resume(resource)
		if from.Rev() > m.log.Store.Rev() || m.replay(l, resource, from) != nil {
			m.list(l, m.lists())
		}
	}
	return nil
}

// replay passes a controller the commits of a resource since a view.
func (m *Manager) replay(l *loop, resource string, from *mvcc.View) error {
	return m.log.Store.Events(from.Rev(), func(e *mvcc.Event) bool {
		if commit.Storage(e.Key) == resource {
			view, _ := m.log.Store.At(e.Rev) // it is there: the store yields its commit
			x := commit.Of(e, view, m.schedule.Now(), m.server)
			m.eachWatcher(x, func(w watcher) {
				if w.loop == l && !w.watch.Listed {
					m.notify(w, x)
				}
			})
		}
		return true
	})
}
