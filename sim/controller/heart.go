package controller

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/mvcc"
)

// Beat carries out all beats that are due. It is called before a client reads, and before a reconcile.
func (m *Manager) Beat() {
	if now := m.schedule.Now(); m.beating || now.Before(m.beat) {
		return
	}
	m.beating = true
	defer func() { m.beating = false }()
	m.beat = never
	for _, l := range m.loops {
		if h, ok := l.Reconciler.(Heart); ok && !l.stopped {
			next, failed := h.Beat(&l.client)
			if next.Before(m.beat) {
				m.beat = next
			}
			was := l.faint
			if l.faint = failed != nil; l.faint && !was {
				m.missed(h)
			}
		}
	}
}

// missed queues the object of a Heart for all other controllers that watch it: they cannot rely on its beats any more.
func (m *Manager) missed(h Heart) {
	ref := h.Of()
	view := m.log.Newest()
	kv := view.Get(m.server.Definition(ref.Resource).Key(ref.Namespace, ref.Name))
	if kv == nil {
		return
	}
	x := commit.Of(&mvcc.Event{Rev: kv.ModRev, Key: kv.Key, KV: kv}, view, m.schedule.Now(), m.server)
	for _, w := range m.told(ref.Resource) {
		if !w.crashed && w.Reconciler != Reconciler(h) {
			m.tell(w, x)
		}
	}
}

// Beats reports whether a running Heart renews an object. If so, a controller need not poll for missed beats: when the Heart stops,
// the controllers that watch the object are notified.
func (c *Client) Beats(of, namespace, name string) bool {
	return slices.ContainsFunc(c.manager.loops, func(l *loop) bool {
		h, ok := l.Reconciler.(Heart)
		return ok && !l.stopped && !l.faint && h.Of() == Ref{of, Key{namespace, name}}
	})
}

// never is later than any time of a Cluster.
var never = time.Unix(1<<40, 0)
