package apiserver

import (
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// Hook sees requests on their way and may change what becomes of them. The Cluster's lock is held in every call. The
// Server calls, for one request and in this order, Arrived, Decided if it is let through to a resource, Validated for each
// object that it is about to write, Watching if it is a watch that begins, and Answered.
type Hook interface {
	// Arrived is told who asks for what and calls e.Serve, now or later.
	Arrived(e *Exchange)
	// Decided is told that the request is about to be served. A Status is its answer instead.
	Decided(e *Exchange) *status.Status
	// Validated is told that obj is about to be stored in place of old, or old to be removed with obj as its last state. A
	// Status is the answer instead. obj is not to be changed; old is nil for a create.
	Validated(e *Exchange, obj object.Object, old *resource.Item) *status.Status
	// Watching is told of a watch before its first event.
	Watching(e *Exchange, w *watchcache.Watch)
	// Answered gets the answer and calls e.Send with it, or with another one, now or later.
	Answered(e *Exchange, a *Answer)
}

// Exchange is a request as a Hook sees it.
type Exchange struct {
	Verb        string
	Path        string
	Group       string
	Version     string
	Resource    string // "": not about a resource
	Subresource string
	Namespace   string
	Name        string
	UserAgent   string
	User        string
	Spared      bool // no fault is to happen to it

	// Failure is the error that the request was answered with. nil: none, or one without a Status.
	Failure *status.Status
	// Shown is the revision of the object, or of the list, in the answer. 0: there is none.
	Shown uint64

	// Data is the Hook's own.
	Data any

	call *call
}

func (c *call) newExchange() *Exchange {
	in := &c.info
	e := &Exchange{Verb: in.verb, Path: c.q.Path, Group: in.group, Version: in.version, Resource: in.resource,
		Subresource: in.subresource, Namespace: in.namespace, Name: in.name, UserAgent: c.q.Header.Get("User-Agent"),
		User: c.user.Name, Spared: c.q.Spared, call: c}
	if in.resource == "namespaces" && in.group == "" {
		e.Namespace = "" // the path's namespace is the name
	}
	return e
}

// observed takes the request through the Server's Hook.
func (c *call) observed(refused *status.Status) {
	c.hook, c.exchange, c.refused = c.s.Hook, c.newExchange(), refused
	c.hook.Arrived(c.exchange)
	c.late = true // unless it was served by then
}

// Serve serves the request, or answers it with a Status instead. One that was refused already is not served in any case.
func (e *Exchange) Serve(instead *status.Status) {
	c := e.call
	if c.refused == nil && instead != nil {
		c.refuse(instead)
		return
	}
	c.proceed(c.refused)
}

// Send gives the client an answer.
func (e *Exchange) Send(a *Answer) { e.call.done(a) }

// Object returns the object that the request is about: the one in the body of a create or update, else the stored one.
// nil: there is none, or it cannot be read.
func (e *Exchange) Object() object.Object {
	if e.Verb != "create" && e.Verb != "update" {
		return e.Stored()
	}
	c := e.call
	d := c.s.Table.Find(e.Group, e.Version, e.Resource)
	if d == nil {
		return nil
	}
	kind := d.GVK
	if sub := d.Sub(e.Subresource); e.Subresource != "" && sub != nil {
		kind = sub.GVK
	}
	media, s := codec.ContentType(c.q.Header.Get("Content-Type"))
	if s != nil {
		return nil
	}
	obj, _, _, s := c.s.Decoder.Object(c.q.Body, media.String(), kind, codec.Ignore)
	if s != nil {
		return nil
	}
	return obj
}

// Warnings returns what the answer warns of.
func (e *Exchange) Warnings() []string { return e.call.warnings }

// Unserved names what nobody serves of what the request is about: a resource, or what a path of discovery stands for. "": all
// is served.
func (e *Exchange) Unserved() string {
	t := e.call.s.Table
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

// Conditional reports whether the body of an update or a patch names the resourceVersion that it is about: then it is
// refused when somebody else has written since that was read.
func (e *Exchange) Conditional() bool {
	if e.Verb == "update" {
		return e.Object().ResourceVersion() != ""
	}
	text, err := codec.YAMLToJSON(e.call.q.Body)
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
	return e.Verb == "patch" && strings.HasPrefix(e.call.q.Header.Get("Content-Type"), "application/apply-patch")
}

// Stored returns the object that the request names as it is now. nil: there is none.
func (e *Exchange) Stored() object.Object {
	d := e.call.s.Table.Find(e.Group, e.Version, e.Resource)
	if d == nil || e.Name == "" {
		return nil
	}
	return e.call.s.Registry.Reader().Get(d.Storage, e.Namespace, e.Name)
}

// Fail returns the answer that the request would get to an error.
func (e *Exchange) Fail(s *status.Status) (answer *Answer) {
	c := *e.call
	c.header = wire.Header{"Cache-Control": c.header["Cache-Control"], "Audit-Id": c.header["Audit-Id"]}
	c.warnings, c.hook, c.answered, c.deadline = nil, nil, false, deadline.Deadline{}
	c.done = func(a *Answer) { answer = a }
	c.refuse(s)
	return answer
}

// Reply answers with an object, given as JSON, instead of serving the request. A client that would have protobuf gets JSON, too.
func (e *Exchange) Reply(obj string) {
	c := e.call
	code := wire.StatusOK
	if e.Verb == "create" {
		code = wire.StatusCreated
	}
	c.format, _ = codec.Negotiate(codec.JSON.String(), c.negotiation()) // everybody has JSON
	c.write(code, codec.Text{[]byte(obj + "\n")})
}

// refuse answers with an error as the real server does at the place where it says this: too many requests in plain text,
// an expired revision to a watch inside of the stream.
func (c *call) refuse(s *status.Status) {
	c.failed(s)
	switch {
	case s.Reason == status.ReasonTooManyRequests && s.Message == status.Overloaded:
		c.retryAfter(s)
		c.text(s.Code, s.Message+"\n")
	case s.Reason == status.ReasonExpired && c.info.verb == "watch" && c.route != nil:
		c.endWatch(s)
	default:
		c.fail(s)
	}
}

// failed notes for the Hook why the call fails.
func (c *call) failed(s *status.Status) {
	if c.exchange != nil {
		c.exchange.Failure = s
	}
}

// shows notes for the Hook of which revision the answer is.
func (c *call) shows(rev uint64) {
	if c.exchange != nil {
		c.exchange.Shown = rev
	}
}

// endWatch answers with a watch that has an error as its only event.
func (c *call) endWatch(s *status.Status) {
	if refused := c.negotiateStream(); refused != nil {
		c.fail(refused)
		return
	}
	w := watchcache.NewWatch(watchcache.Options{Definition: c.route.def.Hub, Encoder: c.encoder()})
	w.Fail(s)
	c.header.Set("Content-Type", c.format.ContentType)
	c.reply(&Answer{Code: wire.StatusOK, Header: c.header, Watch: w})
}

// watching says whom to tell of a watch that begins.
func (c *call) watching(q *registry.Request) {
	e := c.exchange
	if e == nil {
		e = c.newExchange()
	}
	q.Watching = func(w *watchcache.Watch) {
		w.Owner = e
		if c.s.Watching != nil {
			c.s.Watching(e, w)
		}
		if c.hook != nil {
			c.hook.Watching(e, w)
		}
	}
}
