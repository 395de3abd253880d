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

// Hook sees requests arrive.
type Hook interface {
	// Observe returns what observes a request from its arrival on.
	Observe(e *Exchange) Observation
}

// Observation sees one request on its way and may change its outcome. The Cluster's lock is held in every call. The Server calls,
// in this order, Arrived, Decided if the request is let through to a resource, Validated for each object that it is about to write,
// Watching if it is a watch that begins, Answered, and Sent.
type Observation interface {
	// Arrived returns the Verdict on the request.
	Arrived() Verdict
	// Decided is called when the request is about to be served. A Status is its answer instead.
	Decided() *status.Status
	// Validated is called when obj is about to be stored in place of old, or old to be removed with obj as its last state. A
	// Status is the answer instead. obj is not to be changed; old is nil for a create.
	Validated(obj object.Object, old *resource.Item) *status.Status
	// Watching is called with a watch before its first event.
	Watching(w *watchcache.Watch)
	// Gate decides which events of the watch are sent.
	watchcache.Gate
	// Answered returns the Verdict on the answer.
	Answered(a *Answer) Verdict
	// Sent is called when the client is given the answer.
	Sent(a *Answer)
	// Delay calls f after d, which is more than 0, and with the Cluster's lock held.
	Delay(d time.Duration, f func())
}

// Verdict decides how a request that has arrived, or an answer, proceeds. The zero value does not change anything.
type Verdict struct {
	Wait    time.Duration  // how long the request or answer is delayed
	Instead *status.Status // the answer in its place; a request that was refused already keeps its own
	Object  string         // the answer in place of a request's, an object as JSON
}

// Warnings returns what the answer warns of.
func (e *Exchange) Warnings() []string { return e.warnings }

// Object returns the object that the request is about: the one in the body of a create or update, otherwise the stored one. It
// returns nil if there is none, or it cannot be decoded.
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
	media, s := codec.ContentType(e.Header.Get("Content-Type"))
	if s != nil {
		return nil
	}
	obj, _, _, s := e.s.Decoder.Object(e.Body, media.String(), kind, codec.Ignore)
	if s != nil {
		return nil
	}
	return obj
}

// Unserved returns the resource, or the group and version of a discovery path, that the request is about and that is not served. It
// returns "" if it is served.
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

// Conditional reports whether the body of an update or a patch contains a resourceVersion, so that it is refused if the object has
// been written since.
func (e *Exchange) Conditional() bool {
	if e.Verb == "update" {
		return e.Object().ResourceVersion() != ""
	}
	text, err := codec.YAMLToJSON(e.Body)
	if err != nil {
		return false
	}
	obj, err := object.Parse(text)
	if err != nil { // a JSON patch is a list, which may test what it likes
		return strings.Contains(string(text), "/metadata/resourceVersion")
	}
	return obj.ResourceVersion() != ""
}

// Applies reports whether the request is a server-side apply, which is based on nothing that was read.
func (e *Exchange) Applies() bool {
	return e.Verb == "patch" && strings.HasPrefix(e.Header.Get("Content-Type"), "application/apply-patch")
}

// Stored returns the current object that the request names, or nil if there is none.
func (e *Exchange) Stored() object.Object {
	d := e.s.Table.Find(e.Group, e.Version, e.Resource)
	if d == nil || e.Name == "" {
		return nil
	}
	return e.s.Registry.Reader().Get(d.Storage, e.Namespace, e.Name)
}

// refusal returns the answer that the request would get to an error.
func (e *Exchange) refusal(s *status.Status) (answer *Answer) {
	x := *e
	x.head = wire.Header{"Cache-Control": e.head["Cache-Control"], "Audit-Id": e.head["Audit-Id"]}
	x.warnings, x.Observation, x.answered, x.deadline = nil, nil, false, deadline.Deadline{}
	x.done = func(a *Answer) { answer = a }
	x.refuse(s)
	e.Failure = x.Failure
	return answer
}

// replyObject answers with an object, given as JSON, instead of serving the request. A client that would have protobuf gets JSON, too.
func (e *Exchange) replyObject(obj string) {
	code := wire.StatusOK
	if e.Verb == "create" {
		code = wire.StatusCreated
	}
	e.format, _ = codec.Negotiate(codec.JSON.String(), e.negotiation()) // every client has JSON
	e.write(code, codec.Text{[]byte(obj + "\n")})
}

// refuse answers with an error as the real server does for this error: too many requests in plain text, an expired revision of a
// watch inside the stream.
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

// endWatch answers with a watch that has an error as its only event.
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
func (e *Exchange) Pass(w *watchcache.Watch, n watchcache.Notice, frame []byte) bool {
	return e.Observation == nil || e.Observation.Pass(w, n, frame)
}

// Ready implements registry.Caller.
func (e *Exchange) Ready(obj object.Object, old *resource.Item) *status.Status {
	if e.Observation == nil {
		return nil
	}
	return e.Observation.Validated(obj, old)
}
