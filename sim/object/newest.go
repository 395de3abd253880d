package object

import "time"

// Newest returns the newest time at which the object shows that its cluster was running: a time in its metadata, the renewal of a
// lease, a heartbeat of a node, or the time of an event. Other times may be in the future. It returns the zero time if there is none.
func (o Object) Newest() (newest time.Time) {
	saw := func(text string) {
		if t, err := time.Parse(time.RFC3339, text); err == nil && t.After(newest) {
			newest = t
		}
	}
	saw(o.String("metadata", "creationTimestamp"))
	for _, f := range o.Objects("metadata", "managedFields") {
		saw(f.String("time"))
	}
	saw(o.String("spec", "renewTime"))
	saw(o.String("lastTimestamp"))
	saw(o.String("eventTime"))
	for _, c := range o.Objects("status", "conditions") {
		saw(c.String("lastHeartbeatTime"))
	}
	return newest
}
