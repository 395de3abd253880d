package batch

import (
	"slices"
	"time"
)

// The pause before a pod takes the place of one that failed.
const (
	podBackoffMin = 10 * time.Second
	podBackoffMax = 10 * time.Minute
)

// failures are how often pods of a Job have failed since one succeeded, and when the last one did.
type failures struct {
	Count int       `json:",omitempty"`
	Last  time.Time `json:",omitzero"`
}

// after returns what becomes of failures with pods that have ended since (backoffStore.newBackoffRecord).
func (f failures) after(succeeded, failed []*pod) failures {
	byEnd := func(a, b *pod) int { return a.finishedAt.Compare(b.finishedAt) }
	if len(succeeded) > 0 {
		last := slices.MaxFunc(succeeded, byEnd).finishedAt
		failed = slices.DeleteFunc(slices.Clone(failed), func(p *pod) bool { return !p.finishedAt.After(last) })
		f = failures{}
	}
	if len(failed) > 0 {
		f = failures{f.Count + len(failed), slices.MaxFunc(failed, byEnd).finishedAt}
	}
	return f
}

// pause is how long it is until the next pod may be made. If 0, it may be now.
func (f failures) pause(now time.Time) time.Duration {
	if f.Count == 0 {
		return 0
	}
	pause := podBackoffMax
	if f.Count < 8 {
		pause = min(podBackoffMin<<(f.Count-1), podBackoffMax)
	}
	return max(pause-now.Sub(f.Last), 0)
}
