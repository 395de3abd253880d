// Package apiserver answers HTTP requests as kube-apiserver does.
//
//	Request, its body read ─▶ Do ─▶ who? ─▶ may they? ─▶ discovery, or route ─▶ a file per verb ─▶ done(Answer)
//	                          └─ under the Cluster's lock; never blocks ──────────────────────────┘
//
// done is called at once, or later: a read may wait for a cache. An Answer is complete, and the events of a watch are in its
// queue, before anything is sent: no lock is held while a client reads, and a client that does not read can hold up nobody.
// Package fake turns requests and answers into those of net/http and waits; the engine of the page needs neither.
package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/kubelet"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// bodyMax is the greatest size of a request body.
const bodyMax = 3 << 20

// Server is one API server. Its parts are set before the first request.
type Server struct {
	Lock      sync.Locker // the Cluster's: guards everything below
	Registry  *registry.Registry
	Table     *resource.Table
	Schema    *schema.Set
	Discovery *discovery.Documents
	Auth      *auth.Auth
	Decoder   *codec.Decoder

	// Flow returns how requests are classified now. nil: answers do not say it.
	Flow func() *flowcontrol.Config

	// Watching is told of each watch before its first event. nil: nobody is.
	Watching func(*Exchange, *watchcache.Watch)
	Hook     Hook // nil: nobody looks

	// Nodes are the kubelets that streams of pods are passed on to. nil: there are none.
	Nodes *kubelet.Nodes

	// Peer returns another server that serves a resource which this one does not serve, or nil. nil: none is asked.
	Peer func(group, version, resource string) *Server

	// Aggregated returns what passes requests for a path on to the aggregated API server that it belongs to. nil, or a nil
	// result: it belongs to none.
	Aggregated func(path string) Forward

	// Serving is called around the handler of a request for a custom resource. cached says that a get may be served from
	// the watch cache; the request has to end with its deadline. If nil, the server calls serve itself.
	Serving func(d *resource.Definition, verb, namespace, name string, cached bool, ends *deadline.Deadline, serve func())

	scratch []byte // where messages are printed before they get memory of their own
}

// Request is one HTTP request whose body has been read.
type Request struct {
	Method string
	Path   string // decoded
	Target string // path and query as sent; "": Path
	Query  url.Values
	Header wire.Header

	Client *auth.Client // what is known of it beside the header; nil: nothing
	From   string       // its address, HOST:PORT; "": it has none

	// Spared says that no fault is to happen to the request, nor to the events of its watch.
	Spared bool
	// Context ends when the client goes away. nil: nobody knows when it does.
	Context context.Context
	// Limit is how long another server may take to begin with an answer. 0: as long as it wants.
	Limit time.Duration

	Body         []byte // at most one byte more than a server accepts
	BodyError    error  // what went wrong while the body was read
	BodyExpected bool   // the request came with a body, or with a length of one

	Rest io.Reader // of a Body that is longer than a server accepts; nil: it is not
}

// ReadBody reads the body of a request; length is the Content-Length, -1 when it is not known.
func (q *Request) ReadBody(body io.Reader, length int64) {
	q.BodyExpected = length != 0
	if length > 0 && length <= bodyMax {
		q.Body = make([]byte, 0, length+1)
	}
	for limit := bodyMax + 1; ; {
		if len(q.Body) == cap(q.Body) {
			q.Body = append(q.Body, 0)[:len(q.Body)]
		}
		n, err := body.Read(q.Body[len(q.Body):min(cap(q.Body), limit)])
		q.Body = q.Body[:len(q.Body)+n]
		if err != nil || len(q.Body) == limit {
			if err == nil {
				q.Rest = body
			}
			if err != io.EOF {
				q.BodyError = err
			}
			return
		}
	}
}

// unmarked takes the meaning of markup from text that is sent back.
var unmarked = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Do answers q. It calls done exactly once: at once, or later under the Cluster's lock when the answer has to wait for
// a commit or a timer. The caller holds the lock.
func (s *Server) Do(q *Request, done func(*Answer)) {
	c := &call{s: s, q: q, done: done}
	c.header = wire.Header{"Cache-Control": {"no-cache, private"}, "Audit-Id": {c.auditID()}}
	var ok bool
	if c.info, ok = parseInfo(q.Method, q.Path, q.Query); !ok {
		target := unmarked.Replace(cmp.Or(q.Target, q.Path))
		delete(c.header, "Cache-Control") // which a later filter sets
		c.text(wire.StatusInternalServerError, fmt.Sprintf("Internal Server Error: \"%s\": "+
			"failed to create RequestInfo: unable to determine kind and namespace from url, %[1]s\n", target))
		return
	}
	refused := c.checkTimeout()
	if refused == nil {
		refused = c.authenticate()
	}
	if s.Hook != nil {
		c.observed(refused)
		return
	}
	c.proceed(refused)
}

// proceed serves the call unless it was refused or its user may not do this.
func (c *call) proceed(refused *status.Status) {
	if refused != nil {
		c.fail(refused)
		return
	}
	if c.begin(); c.hopeless() {
		c.timedOut()
		return
	}
	c.classify()
	if s := c.authorize(); s != nil {
		c.header.Set("X-Content-Type-Options", "nosniff")
		c.fail(s)
		return
	}
	c.direct()
}

// call is one request on its way to an Answer.
type call struct {
	s        *Server
	q        *Request
	done     func(*Answer)
	header   wire.Header
	info     info
	route    *route
	user     resource.User
	format   codec.Format
	warnings []string
	hook     Hook           // nil: nobody looks
	exchange *Exchange      // what it sees
	refused  *status.Status // why the request was not served when the hook was told of it; nil: it may be
	deadline deadline.Deadline
	late     bool // the request is served some time after it arrived, because the Hook has delayed it
	answered bool // the answer was given: a later one is dropped
}

func (c *call) auditID() string {
	if id := c.q.Header.Get("Audit-Id"); id != "" {
		return id
	}
	return c.s.Registry.NewAuditID()
}

func (c *call) authenticate() *status.Status {
	user, warning, s := c.s.Auth.Authenticate(c.q.Header, c.q.Client)
	if s != nil {
		return s
	}
	if warning != "" {
		c.warn(warning)
	}
	if auth.SpacedToken(c.q.Header) {
		c.warn("the provided Authorization header contains extra space before the bearer token, and is ignored")
	}
	c.user = user
	if c.user, s = c.s.Auth.Impersonate(c.attributes(), c.q.Header, c.s.Registry.Reader()); s != nil {
		c.header.Set("X-Content-Type-Options", "nosniff")
	}
	return s
}

// classify says in the header which flow schema and priority level the request belongs to.
func (c *call) classify() {
	if c.s.Flow == nil {
		return
	}
	if d := c.digest(); !d.LongRunning() {
		c.header[flowcontrol.SchemaHeader], c.header[flowcontrol.LevelHeader] = c.s.Flow().Classify(&d)
	}
}

// digest is the request as priority and fairness sees it.
func (c *call) digest() flowcontrol.Digest {
	in := &c.info
	return flowcontrol.Digest{User: &c.user, Verb: in.verb, IsResource: in.isResource, Path: c.q.Path,
		Group: in.group, Resource: in.resource, Subresource: in.subresource, Namespace: in.namespace}
}

func (c *call) authorize() *status.Status { return c.may(c.attributes()) }

// may refuses what the user has no right to.
func (c *call) may(at auth.Attributes) *status.Status {
	if allowed, reason := c.s.Auth.Authorize(at, c.s.Registry.Reader()); !allowed {
		return auth.Forbidden(at, reason)
	}
	return nil
}

// attributes is what the request asks for, as authorization sees it.
func (c *call) attributes() auth.Attributes {
	in := &c.info
	return auth.Attributes{User: c.user, Verb: in.verb, IsResource: in.isResource, Path: c.q.Path,
		Group: in.group, Version: in.version, Resource: in.resource, Subresource: in.subresource,
		Namespace: in.namespace, Name: in.name}
}

// direct sends the call to discovery or to a resource.
func (c *call) direct() {
	q := c.q
	if c.s.Aggregated != nil {
		if forward := c.s.Aggregated(q.Path); forward != nil {
			c.pass(forward)
			return
		}
	}
	if a, ok := c.s.Discovery.Serve(discovery.Request{Method: q.Method, Path: q.Path, Query: q.Query, Header: q.Header}); ok {
		c.document(a)
		return
	}
	if !c.info.isResource || q.Path == "" || q.Path[0] != '/' || len(q.Path) > 1 && q.Path[1] == '/' ||
		c.info.prefix == "apis" && c.info.group == "" {
		c.notFound()
		return
	}
	if c.reroute() {
		return
	}
	switch d := c.s.Table.Find(c.info.group, c.info.version, c.info.resource); {
	case d != nil && d.Custom:
		c.custom(d)
		return
	case d == nil && c.s.Table.Custom(c.info.group):
		c.notFound()
		return
	}
	if in := &c.info; !c.s.Table.Serves(in.group, in.version) {
		if in.prefix == "apis" && !c.s.Table.Serves(in.group, "") || in.prefix == "api" && in.group != "" {
			c.notFound()
			return
		}
		c.fail(status.NoResource())
		return
	}
	r, s := find(c.s.Table, &c.info, q.Method)
	if s != nil {
		c.fail(s)
		return
	}
	c.route = r
	if r.def.Deprecated != "" && c.routed() {
		c.warn(r.def.Deprecated)
	}
	c.serve()
}

// routed reports whether go-restful has a route for what is sent and wanted. What it refuses never comes to where warnings are
// given.
func (c *call) routed() bool {
	if c.route.verb == "patch" {
		if _, s := patch.Type(c.q.Header.Get("Content-Type"), false); s != nil {
			return false
		}
	}
	return codec.Routed(c.accept(), c.negotiation()) == nil
}

// serve calls the verb.
func (c *call) serve() {
	if c.route.sub != nil && c.route.sub.Stream != nil {
		c.stream(c.route.sub.Stream)
		return
	}
	if c.hook != nil {
		if s := c.hook.Decided(c.exchange); s != nil {
			c.refuse(s)
			return
		}
	}
	if c.s.Serving != nil && c.route.def.StorageCodec != nil {
		c.s.Serving(c.route.def, c.info.verb, c.route.namespace, c.route.name, c.q.Query.Get("resourceVersion") != "",
			&c.deadline, c.handle)
		return
	}
	c.handle()
}

// handle carries out the verb.
func (c *call) handle() {
	var s *status.Status
	if c.route.verb != "patch" { // which looks at what it is sent first
		s = c.negotiate()
	}
	switch handler := handlers[c.route.verb]; {
	case s != nil:
	case handler == nil:
		s = status.NoMethod()
	default:
		c.shorten()
		s = handler(c)
	}
	if s != nil {
		c.fail(s)
	}
	c.await()
}

// handlers are those of the verbs. Each returns why it refuses the request; nil: it has answered, or will.
var handlers = map[string]func(*call) *status.Status{
	"get": (*call).get, "list": (*call).list, "watch": (*call).list, "create": (*call).create, "update": (*call).update,
	"patch": (*call).patch, "delete": (*call).delete, "deletecollection": (*call).deleteCollection,
}

// request returns the registry's view of the call.
func (c *call) request(options writeOptions) *registry.Request {
	r := c.route
	q := &registry.Request{Definition: r.def, Namespace: r.namespace, Name: r.name, User: c.user,
		Verb: c.info.verb, Manager: options.manager, DryRun: options.dryRun, Options: options.sent, Warn: c.warn,
		Deadline: &c.deadline}
	if r.sub != nil {
		q.Subresource = r.sub.Name
	}
	if c.hook != nil {
		q.Ready = func(obj object.Object, old *resource.Item) *status.Status {
			return c.hook.Validated(c.exchange, obj, old)
		}
	}
	q.MayCreate = func() *status.Status {
		at := c.attributes()
		at.Verb = "create"
		return c.may(at)
	}
	return q
}

func (c *call) warn(text string) { c.warnings = append(c.warnings, text) }
