package scheduler

import (
	"time"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
)

// series is an event that is recorded repeatedly.
type series struct {
	Name     string // name of the Event object
	Revision string // resourceVersion of the pod that the event is about
	Count    int64
	Last     time.Time // time of the last occurrence
	Written  time.Time // time of the last write of the count
}

// The constants of client-go's tools/events: a series ends if the event does not recur within seriesEnds, and its count is
// written every seriesWritten.
const (
	seriesEnds    = 6 * time.Minute
	seriesWritten = 30 * time.Minute
)

// recordEvent records an event about a pod, as client-go's newer recorder does. If the event recurs while the queued pod is
// unchanged, it becomes a series: only its first occurrence and then, from time to time, the count are written.
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

// microTime is the format of metav1.MicroTime.
const microTime = "2006-01-02T15:04:05.000000Z07:00"
