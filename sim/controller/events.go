package controller

import (
	"cmp"
	"fmt"

	"github.com/kubesim/kubesim/sim/boot"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// events is where events are stored.
const events = "events"

// microTime is the form of metav1.MicroTime.
const microTime = "2006-01-02T15:04:05.000000Z07:00"

// Event records that something happened to an object, as client-go's recorder does: kind is Normal or Warning. What has
// been said of the object before is counted, and not said again.
func (c *Client) Event(obj object.Object, kind, reason, message string) *status.Status {
	namespace := obj.Namespace()
	if namespace == "" {
		namespace = "default"
	}
	now := object.Time(c.Now())
	if before := c.said(namespace, obj, kind, reason, message); before != "" {
		_, s := c.Patch(events, "", Key{namespace, before}, func(live object.Object) {
			count, _ := live.Int("count")
			live.Set(count+1, "count")
			live.Set(now, "lastTimestamp")
		})
		return s
	}
	about := map[string]any{"kind": obj.Kind(), "name": obj.Name(), "uid": obj.UID(), "apiVersion": obj.APIVersion(),
		"resourceVersion": obj.ResourceVersion()}
	if obj.Namespace() != "" {
		about["namespace"] = obj.Namespace()
	}
	_, s := c.Create(events, object.Object{"kind": "Event", "apiVersion": "v1",
		"metadata":       map[string]any{"name": c.eventName(namespace, obj.Name()), "namespace": namespace},
		"involvedObject": about, "reason": reason, "message": message, "type": kind, "count": int64(1),
		"source": map[string]any{"component": c.component()}, "reportingComponent": c.component(),
		"firstTimestamp": now, "lastTimestamp": now})
	return s
}

func (c *Client) component() string { return cmp.Or(c.loop.Component, c.loop.Name) }

// said returns the name of the event that says the same of an object, or "".
func (c *Client) said(namespace string, obj object.Object, kind, reason, message string) (name string) {
	c.manager.server.Registry().Reader().Items(events, namespace, func(it *resource.Item) bool {
		e := it.Object()
		if e.String("involvedObject", "uid") == obj.UID() && e.String("type") == kind && e.String("reason") == reason &&
			e.String("message") == message && e.String("source", "component") == c.component() {
			name = it.Name
		}
		return name == ""
	})
	return name
}

// eventName returns the name of a new event: that of the object and the time, as client-go's recorder has it. Two of one
// instant, which no real clock knows, get names of instants that follow.
func (c *Client) eventName(namespace, about string) string {
	for at := c.Now().UnixNano(); ; at++ {
		if name := fmt.Sprintf("%s.%x", about, at); c.Live(events, namespace, name) == nil {
			return name
		}
	}
}

// Tell stores an Event of events.k8s.io, as client-go's newer recorder does, with its time and its name, which it returns. A
// server that does not serve the group is told nothing.
func (c *Client) Tell(event object.Object) (name string) {
	d := c.manager.server.Served("events.k8s.io", events)
	if d == nil || c.loop.crashed {
		return ""
	}
	name = c.eventName(event.Namespace(), event.String("regarding", "name"))
	event.Set(name, "metadata", "name")
	event["eventTime"] = c.Now().UTC().Format(microTime)
	event["reportingInstance"] = event.String("reportingController") + "-" + boot.Host
	q := c.requestOf(d, event.Namespace(), event.Name())
	q.Verb = "create"
	defer c.writes()()
	_, _ = c.manager.server.Registry().Create(q, event) // nobody hears it twice
	return name
}
