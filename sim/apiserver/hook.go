package apiserver

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// Hook observes requests from their arrival.
type Hook interface {
	// Observe returns the Observation of a request that has arrived.
	Observe(e *Exchange) Observation
}

// Observation observes one request and may change its outcome. The Cluster's lock is held in every call. The Server calls, in this
// order, Arrived; Decided, if the request will be served by a resource; Validated, for each object that will be written; Watching,
// if it is a watch; Answered; and Sent.
type Observation interface {
	// Arrived returns the Verdict on the request.
	Arrived() Verdict
	// Decided is called before the request is served. If it returns a Status, that is the response.
	Decided() *status.Status
	// Validated is called before obj is stored in place of old, or before old, whose last state is obj, is removed. If it returns a
	// Status, that is the response. Validated must not change obj. For a create, old is nil.
	Validated(obj object.Object, old *resource.Item) *status.Status
	// Watching is called with a watch before the watch sends its first event.
	Watching(w *watchcache.Watch)
	// Pass decides which events of the watch are sent (watchcache.Gate).
	Pass(w *watchcache.Watch, n watchcache.Notice, frame codec.Text) bool
	// Answered returns the Verdict on the response.
	Answered(a *Answer) Verdict
	// Sent is called when the client gets the response.
	Sent(a *Answer)
	// Delay calls f after d, which is positive, with the Cluster's lock held.
	Delay(d time.Duration, f func())
}

// Verdict decides what happens to a request or to a response. The zero value changes nothing.
type Verdict struct {
	Wait    time.Duration  // delay of the request or response
	Instead *status.Status // error response to use instead; ignored for a request that has already been rejected
	Object  string         // response to a request instead of serving it: an object as JSON
}

// Warnings returns the warnings in the response.
func (e *Exchange) Warnings() []string { return e.warnings }

// Object returns the object that a request refers to: for a create or update, the object in the body, and otherwise the stored one.
// It returns nil if there is none or if the body cannot be decoded.
func (e *Exchange) Object() object.Object {
	if e.Verb != "create" && e.Verb != "update" {
		return e.Stored()
	}
	d := e.s.Table.Find(e.Group, e.Version, e.Resource)
	if d == nil {
		return nil
	}
	kind := d.GVK
	if sub := d.Sub(e.Subresource); e.Subresource != "" && sub != nil {
		kind = sub.GVK
	}
	media, s := e.contentType()
	if s != nil {
		return nil
	}
	obj, _, _, s := e.s.Decoder.Object(e.Body, media.String(), kind, codec.Ignore)
	if s != nil {
		return nil
	}
	return obj
}

// Unserved returns the requested resource, or the group and version of a discovery path, if this server does not serve it.
// Otherwise it returns "".
func (e *Exchange) Unserved() string {
	t := e.s.Table
	if e.Resource != "" {
		if t.Find(e.Group, e.Version, e.Resource) != nil {
			return ""
		}
		return strings.TrimSuffix(e.Resource+"."+e.Group, ".") + " in version " + e.Version
	}
	rest, ok := strings.CutPrefix(e.Path, "/apis/")
	if group, version, _ := strings.Cut(rest, "/"); ok && !strings.Contains(version, "/") && !t.Serves(group, version) {
		return rest
	}
	return ""
}

// Conditional reports whether the body of an update or a patch contains a resourceVersion, so that the request fails with a
// conflict if the object has been written since.
func (e *Exchange) Conditional() bool {
	if e.Verb == "update" {
		return e.Object().ResourceVersion() != ""
	}
	body, _ := e.patchText()
	text, err := codec.YAMLToJSON(body)
	if err != nil {
		return false
	}
	obj, err := object.Parse(text)
	if err != nil { // a JSON patch is a list and may contain a test operation
		return strings.Contains(string(text), "/metadata/resourceVersion")
	}
	return obj.ResourceVersion() != ""
}

// Applies reports whether the request is a server-side apply, which does not depend on a previous read.
func (e *Exchange) Applies() bool {
	return e.Verb == "patch" && strings.HasPrefix(e.Header.Get("Content-Type"), "application/apply-patch")
}

// Stored returns the stored object that the request names, or nil if it does not exist.
func (e *Exchange) Stored() object.Object {
	d := e.s.Table.Find(e.Group, e.Version, e.Resource)
	if d == nil || e.Name == "" {
		return nil
	}
	return e.s.Registry.Reader().Get(d.Storage, e.Namespace, e.Name)
}

// refusal returns the response with which the request would fail because of s. It does not send it.
func (e *Exchange) refusal(s *status.Status) (answer *Answer) {
	x := *e
	x.head = wire.Header{"Cache-Control": e.head["Cache-Control"], "Audit-Id": e.head["Audit-Id"]}
	x.warnings, x.Observation, x.answered, x.deadline = nil, nil, false, deadline.Deadline{}
	x.done = func(a *Answer) { answer = a }
	x.refuse(s)
	e.Failure = x.Failure
	return answer
}

// replyObject responds with an object, given as JSON, instead of serving the request. Even clients that prefer protobuf get JSON.
func (e *Exchange) replyObject(obj string) {
	code := wire.StatusOK
	if e.Verb == "create" {
		code = wire.StatusCreated
	}
	e.format, _ = codec.Negotiate(codec.JSON.String(), e.negotiation()) // every client accepts JSON
	e.write(code, codec.TextOf([]byte(obj)))
}

// refuse responds with an error in the form that the real server uses for it: plain text for too many requests, and a watch event
// for an expired revision of a watch.
func (e *Exchange) refuse(s *status.Status) {
	e.Failure = s
	switch {
	case s.Reason == status.ReasonTooManyRequests && s.Message == status.Overloaded:
		e.retryAfter(s)
		e.text(s.Code, s.Message+"\n")
	case s.Reason == status.ReasonExpired && e.Verb == "watch" && e.route != nil:
		e.endWatch(s)
	default:
		e.fail(s)
	}
}

// endWatch responds with a watch whose only event is an error.
func (e *Exchange) endWatch(s *status.Status) {
	if refused := e.negotiateStream(); refused != nil {
		e.fail(refused)
		return
	}
	w := watchcache.NewWatch(watchcache.Options{Definition: e.route.def.Hub, Encoder: e.encoder()})
	w.Fail(s)
	e.head.Set("Content-Type", e.format.ContentType)
	e.reply(&Answer{Code: wire.StatusOK, Header: e.head, Watch: w})
}

// Watching implements registry.Caller.
func (e *Exchange) Watching(w *watchcache.Watch) {
	e.s.Host.Watching(e, w)
	if e.Observation != nil {
		e.Observation.Watching(w)
	}
}

// Pass implements watchcache.Gate.
func (e *Exchange) Pass(w *watchcache.Watch, n watchcache.Notice, frame codec.Text) bool {
	return e.Observation == nil || e.Observation.Pass(w, n, frame)
}

// Ready implements registry.Caller.
func (e *Exchange) Ready(obj object.Object, old *resource.Item) *status.Status {
	if e.Observation == nil {
		return nil
	}
	return e.Observation.Validated(obj, old)
}
