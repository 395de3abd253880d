package controller

import (
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// RenewHeartbeats performs all renewals that are due. It is called before a client reads and before a reconcile.
func (m *Manager) RenewHeartbeats() {
	if now := m.schedule.Now(); m.renewing || now.Before(m.nextRenewal) {
		return
	}
	m.renewing = true
	defer func() { m.renewing = false }()
	m.nextRenewal = never
	for _, l := range m.heartbeats {
		if l.stopped {
			continue
		}
		h := l.Reconciler.(Heartbeat)
		next, failed := h.Renew(&l.client)
		if next.Before(m.nextRenewal) {
			m.nextRenewal = next
		}
		was := l.expired
		if l.expired = failed != nil; l.expired && !was {
			m.notifyExpired(h)
		}
	}
}

// notifyExpired notifies all other controllers that watch h's object that h no longer renews it.
func (m *Manager) notifyExpired(h Heartbeat) {
	ref := h.Of()
	view := m.log.Newest()
	kv := view.Get(m.server.Definition(ref.Resource).Key(ref.Namespace, ref.Name))
	if kv == nil {
		return
	}
	x := commit.Of(&mvcc.Event{Rev: kv.ModRev, Key: kv.Key, KV: kv}, view, m.schedule.Now(), m.server)
	m.eachWatcher(x, func(w watcher) {
		if !w.crashed && w.Reconciler != Reconciler(h) {
			m.notify(w, x)
		}
	})
}

// HasHeartbeat reports whether a running Heartbeat renews an object. If so, a controller need not poll for missed renewals: the
// controllers that watch the object are notified when the Heartbeat stops.
func (c *Client) HasHeartbeat(of, namespace, name string) bool {
	l := c.manager.heartbeatOf[Ref{of, Key{namespace, name}}]
	return l != nil && !l.stopped && !l.expired
}

// never is later than any time in a Cluster.
var never = time.Unix(1<<40, 0)
