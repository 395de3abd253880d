package apiserver

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/flowcontrol"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/registry"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// Exchange is the state of a request while it is handled: the request, its user, its deadline, and the known parts of its response.
// The Server, its Observation and the registry share it.
type Exchange struct {
	*Request
	info                    // parsed from the path
	Namespace string        // of the object; "" for a cluster-scoped one, such as a Namespace
	UserAgent string        // header User-Agent
	User      resource.User // set by authentication

	// Failure is the error in the response. It is nil if there is no error, or if the error is not a Status.
	Failure *status.Status
	// AnswerRev is the revision of the object or list in the response, or 0 if there is none.
	AnswerRev uint64
	// Observation observes the request. It may be nil.
	Observation Observation

	audit    *Audit // nil if the request is not audited
	s        *Server
	route    *route
	format   codec.Format
	deadline deadline.Deadline
	late     bool // the Observation has delayed the request

	head     wire.Header // header of the response
	warnings []string
	done     func(*Answer)
	answered bool // a response has been sent: a later one is dropped
}

// Actor implements resource.Author.
func (e *Exchange) Actor() resource.Actor {
	return resource.Actor{Client: e.UserAgent, User: e.User.Name}
}

// exchange returns the Exchange of a request. ok is false if the path of the request is invalid.
func (s *Server) exchange(q *Request, done func(*Answer)) (e *Exchange, ok bool) {
	e = &Exchange{Request: q, s: s, done: done, UserAgent: q.Header.Get("User-Agent"),
		head: wire.Header{"Cache-Control": {"no-cache, private"}}}
	if e.info, ok = parseInfo(q.Method, q.Path, q.Query); e.Resource != "namespaces" || e.Group != "" {
		e.Namespace = e.within
	}
	return e, ok
}

// proceedObserved is proceed for a request that hook observes: its Observation may reject, replace or delay the request.
func (e *Exchange) proceedObserved(hook Hook, refused *status.Status) {
	e.Observation = hook.Observe(e)
	v := e.Observation.Arrived()
	e.late = v.Wait > 0
	e.delay(v.Wait, func() {
		switch {
		case v.Object != "":
			e.replyObject(v.Object)
		case refused == nil && v.Instead != nil:
			e.refuse(v.Instead)
		default:
			e.proceed(refused)
		}
	})
}

// proceed serves the request, unless refused is not nil, the client's timeout is too short, or the user is not authorized.
func (e *Exchange) proceed(refused *status.Status) {
	if refused != nil {
		e.fail(refused)
		return
	}
	if e.begin(); e.timeoutTooShort() {
		e.timedOut()
		return
	}
	e.classify()
	if e.authorize() {
		e.direct()
	}
}

func (e *Exchange) auditID() string {
	if id := e.Header.Get("Audit-Id"); id != "" {
		return id
	}
	return e.s.Registry.NewAuditID()
}

func (e *Exchange) authenticate() *status.Status {
	user, warning, s := e.s.Auth.Authenticate(e.Path, e.Header, e.Client)
	if s != nil {
		e.beginAudit(true)
		return s
	}
	if warning != "" {
		e.Warn(warning)
	}
	if auth.SpacedToken(e.Header) {
		e.Warn("the provided Authorization header contains extra space before the bearer token, and is ignored")
	}
	e.User = user
	e.beginAudit(false)
	return e.impersonate()
}

// impersonate replaces the user of the request by the impersonated one, if there is one. It returns an error if the user may not
// impersonate that user.
func (e *Exchange) impersonate() *status.Status {
	user, verb, s := e.s.Auth.Impersonate(e.attributes(), e.Header, e.s.Registry.Reader())
	e.User = user
	if s != nil {
		e.head.Set("X-Content-Type-Options", "nosniff")
	} else if verb != "" && e.audit != nil {
		e.audit.Impersonated, e.audit.Constraint = &e.User, strings.TrimSuffix(verb, auth.LegacyVerb)
	}
	return s
}

// classify sets the headers that contain the request's flow schema and priority level.
func (e *Exchange) classify() {
	flow := e.s.Host.Flow()
	if flow == nil {
		return
	}
	if d := e.digest(); !d.LongRunning() {
		e.head[flowcontrol.SchemaHeader], e.head[flowcontrol.LevelHeader] = flow.Classify(&d)
	}
}

// digest returns the properties of the request for priority and fairness.
func (e *Exchange) digest() flowcontrol.Digest {
	in := &e.info
	return flowcontrol.Digest{User: &e.User, Verb: in.Verb, IsResource: in.isResource, Path: e.Path,
		Group: in.Group, Resource: in.Resource, Subresource: in.Subresource, Namespace: in.within}
}

// authorize reports whether the user may send the request. If not, it has responded with the error. The decision is an annotation of the
// audit event (k8s.io/apiserver/pkg/endpoints/filters.WithAuthorization).
func (e *Exchange) authorize() bool {
	d, s := e.decide(e.attributes())
	switch {
	case d.Allowed:
		e.Annotate("authorization.k8s.io/decision", "allow")
	case d.Err != nil:
		e.Annotate("authorization.k8s.io/reason", "internal error")
		e.internalError(d.Err)
		return false
	default:
		e.Annotate("authorization.k8s.io/decision", "forbid")
	}
	e.Annotate("authorization.k8s.io/reason", d.Reason)
	if s != nil {
		e.head.Set("X-Content-Type-Options", "nosniff")
		e.fail(s)
	}
	return s == nil
}

// internalError responds with an error that is not a Status.
func (e *Exchange) internalError(err error) {
	e.text(wire.StatusInternalServerError, unmarked.Replace(fmt.Sprintf("Internal Server Error: %q: %v\n", cmp.Or(e.Target, e.Path), err)))
}

// decide asks the authorizers whether they allow the request. If they do not, s is the error.
func (e *Exchange) decide(at auth.Attributes) (d auth.Decision, s *status.Status) {
	at.By = e
	if d = e.s.Auth.Authorize(at, e.s.Registry.Reader()); !d.Allowed {
		s = auth.Forbidden(at, d.Reason)
	}
	return d, s
}

// attributes returns the request's attributes for authorization.
func (e *Exchange) attributes() auth.Attributes {
	in := &e.info
	at := auth.Attributes{User: e.User, Verb: in.Verb, IsResource: in.isResource, Path: e.Path,
		Group: in.Group, Version: in.Version, Resource: in.Resource, Subresource: in.Subresource,
		Namespace: in.within, Name: in.Name}
	switch in.Verb {
	case "list", "watch", "deletecollection":
		at.FieldSelector, at.LabelSelector = e.Query.Get("fieldSelector"), e.Query.Get("labelSelector")
	}
	return at
}

// direct dispatches the request to discovery or to a resource.
func (e *Exchange) direct() {
	q := e.Request
	if forward := e.s.Host.Aggregated(q.Path); forward != nil {
		e.pass(forward)
		return
	}
	document := discovery.Request{Method: q.Method, Path: q.Path, Query: q.Query, Header: q.Header}
	if a, ok := e.s.Discovery.Serve(document); ok {
		e.auditDocument(document, a)
		e.document(a)
		return
	}
	if !e.isResource || q.Path == "" || q.Path[0] != '/' || len(q.Path) > 1 && q.Path[1] == '/' ||
		e.prefix == "apis" && e.Group == "" {
		e.notFound()
		return
	}
	if e.reroute() {
		return
	}
	switch d := e.s.Table.Find(e.Group, e.Version, e.Resource); {
	case d != nil && d.Custom:
		e.custom(d)
		return
	case d == nil && e.s.Table.Custom(e.Group):
		e.notFound()
		return
	}
	if in := &e.info; !e.s.Table.Serves(in.Group, in.Version) {
		if in.prefix == "apis" && !e.s.Table.Serves(in.Group, "") || in.prefix == "api" && in.Group != "" {
			e.notFound()
			return
		}
		e.fail(status.NoResource())
		return
	}
	r, s := find(e.s.Table, &e.info, q.Method)
	if s != nil {
		e.fail(s)
		return
	}
	e.route = r
	if r.def.Deprecated != "" && e.hasRoute() {
		e.deprecate(r.def.Deprecated)
	}
	e.serve()
}

// hasRoute reports whether go-restful has a route for the media types that are sent and accepted. A request without a route is
// rejected before warnings are added.
func (e *Exchange) hasRoute() bool {
	if e.route.verb == "patch" {
		if _, s := patch.Type(e.Header.Get("Content-Type"), false, e.s.Decoder.CBOR != nil); s != nil {
			return false
		}
	}
	return codec.CheckAccept(e.accept(), e.negotiation()) == nil
}

// serve prepares the request and calls the handler of its verb.
func (e *Exchange) serve() {
	if e.route.sub != nil && e.route.sub.Stream != nil {
		e.stream(e.route.sub.Stream)
		return
	}
	if e.Observation != nil {
		if s := e.Observation.Decided(); s != nil {
			e.refuse(s)
			return
		}
	}
	if e.readsCache() {
		e.s.Registry.ConvertAhead(e, e.route.def, e.route.namespace, e.route.name)
	}
	e.handle()
}

// readsCache reports whether the verb may read from the watch cache.
func (e *Exchange) readsCache() bool {
	switch e.Verb {
	case "get":
		return e.Query.Get("resourceVersion") != ""
	case "list", "watch", "deletecollection":
		return true
	}
	return false
}

// handle calls the handler of the verb.
func (e *Exchange) handle() {
	var s *status.Status
	if e.route.verb != "patch" { // patch checks its content type first
		s = e.negotiate()
	}
	switch handler := handlers[e.route.verb]; {
	case s != nil:
	case handler == nil:
		s = status.NoMethod()
	default:
		e.limitWrite()
		s = handler(e)
	}
	if s != nil {
		e.fail(s)
	}
	e.await()
}

// handlers are the handlers of the verbs. A handler returns an error if it rejects the request. Otherwise it has responded, or
// will.
var handlers = map[string]func(*Exchange) *status.Status{
	"get": (*Exchange).get, "list": (*Exchange).list, "watch": (*Exchange).list, "create": (*Exchange).create, "update": (*Exchange).update,
	"patch": (*Exchange).patch, "delete": (*Exchange).delete, "deletecollection": (*Exchange).deleteCollection,
}

// request returns the registry.Request of the exchange.
func (e *Exchange) request(options writeOptions) *registry.Request {
	r := e.route
	q := &registry.Request{By: e, Asker: e, Caller: e, Definition: r.def, Namespace: r.namespace, Name: r.name, User: e.User,
		Verb: e.Verb, Manager: options.manager, DryRun: options.dryRun, Options: options.sent, Deadline: &e.deadline}
	if r.sub != nil {
		q.Subresource = r.sub.Name
	}
	return q
}

// Context implements resource.Asker.
func (e *Exchange) Context() context.Context { return e.deadline.Context() }

// Unlocked implements resource.Asker.
func (e *Exchange) Unlocked(f func()) { e.s.Host.Unlocked(f) }

// Warn implements registry.Caller.
func (e *Exchange) Warn(text string) { e.warnings = append(e.warnings, text) }

// MayCreate implements registry.Caller.
func (e *Exchange) MayCreate() *status.Status {
	at := e.attributes()
	at.Verb = "create"
	_, s := e.decide(at)
	return s
}
