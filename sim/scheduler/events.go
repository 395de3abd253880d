package scheduler

import (
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// series is an event that is recorded repeatedly.
type series struct {
	Name     string // of the event
	Revision string // of the pod that it is about
	Count    int64
	Last     time.Time // when it was last recorded
	Written  time.Time // when its count was
}

// client-go's tools/events: a series that has not gone on for so long is over; its count is written that often.
const (
	seriesEnds    = 6 * time.Minute
	seriesWritten = 30 * time.Minute
)

// recordEvent records an event of a pod, as client-go's newer recorder does. An event that is repeated for an unchanged queued pod is a series,
// of which only the first event and then the count is written.
func (s *Scheduler) recordEvent(api *controller.Client, p *pod, x *queued, kind, reason, action, note string) {
	now := api.Now()
	if x != nil && x.Told != nil && x.Told.Revision == p.revision && now.Sub(x.Told.Last) <= seriesEnds {
		t := x.Told
		t.Count++
		if t.Last = now; t.Count == 2 || now.Sub(t.Written) >= seriesWritten {
			t.Written = now
			_ = api.Patch("events", "", controller.Key{Namespace: p.Namespace, Name: t.Name}, func(live object.Object) {
				live.Set(map[string]any{"count": t.Count, "lastObservedTime": now.UTC().Format(microTime)}, "series")
			})
		}
		return
	}
	name := api.RecordEvent(object.Object{"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": map[string]any{"namespace": p.Namespace},
		"regarding": p.about(), "type": kind, "reason": reason, "action": action, "note": note, "reportingController": profile})
	if x != nil {
		x.Told = &series{Name: name, Revision: p.revision, Count: 1, Last: now, Written: now}
	}
}

// microTime is the form of metav1.MicroTime.
const microTime = "2006-01-02T15:04:05.000000Z07:00"
