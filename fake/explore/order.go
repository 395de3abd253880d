package explore

import (
	"sync"

	"github.com/kubesim/kubesim/fake"
	"github.com/kubesim/kubesim/fake/explore/campaign"
)

// order contains the steps of a plan that run one after the other, each after a change of an object, or after a time.
type order struct {
	mu    sync.Mutex      // is locked under the cluster's lock, unlike trial.mu
	steps []campaign.Step // the next one first
	seen  []int           // for each change for which the next step waits, the number of matching writes
}

// prepareNext prepares for the next of the steps that run one after the other. It starts the step if it does not wait for a change.
func (t *trial) prepareNext() {
	t.order.mu.Lock()
	defer t.order.mu.Unlock()
	if len(t.order.steps) == 0 {
		return
	}
	if t.order.seen = make([]int, len(t.order.steps[0].When.Changes)); len(t.order.seen) == 0 {
		t.startNextLocked()
	}
}

// startNextLocked starts the next of these steps. The caller holds the lock.
func (t *trial) startNextLocked() {
	step := t.order.steps[0]
	t.order.steps, t.order.seen = t.order.steps[1:], nil
	go func() {
		t.later(step)
		t.prepareNext()
	}()
}

// changed counts a write for the next of these steps. The cluster's lock is held, so it starts the step in another goroutine.
func (t *trial) changed(w *fake.Write) {
	t.order.mu.Lock()
	defer t.order.mu.Unlock()
	if w == nil {
		return
	}
	for i := range t.order.seen {
		c := &t.order.steps[0].When.Changes[i]
		if !c.Matches(w.Before(), w.After()) {
			continue
		}
		if t.order.seen[i]++; t.order.seen[i] == c.Nth {
			t.startNextLocked()
			return
		}
	}
}
