package controller

import (
	"cmp"
	"strconv"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// events is the storage name of events.
const events = "events"

// microTime is the format of metav1.MicroTime.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// Event records an event about an object. kind is Normal or Warning. As in client-go's recorder, repeated events are counted, and
// too many events are combined or dropped (see recorder).
func (c *Client) Event(obj object.Object, kind, reason, message string) *status.Status {
	about := obj.Kind() + "/" + obj.Namespace() + "/" + obj.Name() + "/" + obj.UID() + "/" + obj.APIVersion()
	e, allowed := c.loop.recorder.record(about, eventContent{kind, reason, message}, c.Now())
	if !allowed {
		return nil
	}
	namespace := cmp.Or(obj.Namespace(), "default")
	now := object.Time(c.Now())
	if e.Name != "" {
		s := c.Patch(events, "", Key{namespace, e.Name}, func(live object.Object) {
			live["count"], live["lastTimestamp"], live["message"] = e.Count, now, e.message
		})
		if s == nil || s.Reason != status.ReasonNotFound {
			return s
		}
	} else {
		e.Name = c.EventName(namespace, obj.Name()) // there is no such event yet, or it was dropped before
	}
	_, s := c.Create(events, object.Object{"kind": "Event", "apiVersion": "v1",
		"metadata":       map[string]any{"name": e.Name, "namespace": namespace},
		"involvedObject": map[string]any(reference(obj)), "reason": reason, "message": e.message, "type": kind, "count": e.Count,
		"source": map[string]any{"component": c.component()}, "reportingComponent": c.component(),
		"firstTimestamp": object.Time(e.First), "lastTimestamp": now})
	return s
}

// reference returns an ObjectReference to an object.
func reference(obj object.Object) object.Object {
	ref := object.Object{"kind": obj.Kind(), "name": obj.Name(), "uid": obj.UID(), "apiVersion": obj.APIVersion(),
		"resourceVersion": obj.ResourceVersion()}
	if obj.Namespace() != "" {
		ref["namespace"] = obj.Namespace()
	}
	return ref
}

func (c *Client) component() string { return cmp.Or(c.loop.Component, c.loop.Name) }

// EventName returns a name for a new event, composed of the object's name and the time, as in client-go's recorder. If there is
// already an event with that name, which hardly happens with a real clock, it uses the next free nanosecond.
func (c *Client) EventName(namespace, about string) string {
	d := c.manager.server.Definition(events)
	for at := c.Now().UnixNano(); ; at++ {
		name := about + "." + strconv.FormatInt(at, 16)
		if d == nil || c.manager.log.Newest().Get(d.Key(namespace, name)) == nil {
			return name
		}
	}
}

// RecordEvent creates an Event of events.k8s.io with the current time and a generated name, as client-go's newer recorder does, and
// returns the name. If the server does not serve the group, RecordEvent does nothing and returns "".
func (c *Client) RecordEvent(event object.Object) (name string) {
	d := c.manager.server.Served("events.k8s.io", events)
	if d == nil || c.loop.crashed {
		return ""
	}
	name = c.EventName(event.Namespace(), event.String("regarding", "name"))
	event.Set(name, "metadata", "name")
	event["eventTime"] = c.Now().UTC().Format(microTime)
	event["reportingInstance"] = event.String("reportingController") + "-" + boot.Host
	q := c.requestOf(d, event.Namespace(), event.Name())
	q.Verb = "create"
	_, _ = c.registry().Create(q, event) // a failed event is not retried
	return name
}
