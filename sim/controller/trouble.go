package controller

import (
	"fmt"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Controllers can be disturbed in these ways:
//
//	           its queue         its cache         its memory
//	Stop       grows             is updated        is kept
//	Delay      each item waits   is updated        is kept
//	Lag        is unchanged      is not updated    is kept
//	Crash      is lost           is lost           is lost
//	Start      continues; after a crash all existing objects are queued again
//	Resume     all missed commits are delivered, in order

// Stop stops a controller. Its items stay in the queue. It returns an error if no controller has that name.
func (m *Manager) Stop(name string) error {
	l, err := m.findNamed(name)
	if err == nil {
		m.halt(l, true)
		m.falter(l)
	}
	return err
}

// halt sets whether a controller is stopped, and updates the number of stopped controllers.
func (m *Manager) halt(l *loop, stopped bool) {
	switch {
	case stopped && !l.stopped:
		m.halted++
	case !stopped && l.stopped:
		m.halted--
	}
	l.stopped = stopped
}

// falter notifies other controllers that a stopped controller no longer renews its Heartbeat's object.
func (m *Manager) falter(l *loop) {
	if h, ok := l.Reconciler.(Heartbeat); ok {
		m.notifyExpired(h)
	}
}

// Crash stops a controller and clears its state, as when its process ends. A crash in the middle of a reconcile prevents further
// writes.
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

// Standby crashes all controllers except those of API servers, because another process has the leader.
func (m *Manager) Standby() {
	for _, name := range m.Names() {
		_ = m.Crash(name) // the name exists
	}
}

// Lead starts all controllers that Standby has crashed, like a process that becomes the leader.
func (m *Manager) Lead() {
	for _, name := range m.Names() {
		_ = m.Start(name) // the name exists
	}
}

// Delay delays the reconciles of a controller's new items. 0 ends the delay.
func (m *Manager) Delay(name string, d time.Duration) error {
	l, err := m.findNamed(name)
	if err == nil {
		l.delay = d
	}
	return err
}

// Lag makes a controller's informers lag for the given resources, such as pods or deployments.apps, or for all resources if none
// are given. Until Resume, the controller's cache shows those resources as they are now.
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

// storage returns the storage name of a resource with a name such as deployments.apps or deployments. It returns an error if the
// name is unknown.
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

// Resume ends Lag and delivers all commits that the controller has missed. If the store has compacted some of them, the
// controller is notified of all existing objects, as after a list.
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

// replay notifies a controller of the commits to a resource that followed an earlier view.
func (m *Manager) replay(l *loop, resource string, from *mvcc.View) error {
	return m.log.Store.Events(from.Rev(), func(e *mvcc.Event) bool {
		if commit.Storage(e.Key) == resource {
			view, _ := m.log.Store.At(e.Rev) // cannot fail: the store has just returned the event of the revision
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
