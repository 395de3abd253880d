package apiserver

import (
	"iter"
	"maps"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/discovery"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
	"github.com/kubesim/kubesim/sim/wire"
)

// Auditor audits requests. The Cluster's lock is held in every call.
type Auditor interface {
	// Audit returns the Audit of a request, or nil if the request is not audited. at describes the request; its User is empty if the
	// request is not authenticated.
	Audit(e *Exchange, at auth.Attributes) *Audit
}

// Meter is an Auditor that also counts the requests.
type Meter interface {
	Auditor
	// Metrics returns metrics in the Prometheus text format. objects yields the number of stored objects of each resource.
	Metrics(objects iter.Seq2[*resource.Definition, int]) string
}

// Handled returns the verb for which a resource's handler was called: the verb of authorization, apply, or connect for a stream. It
// returns "" if no handler was called.
func (e *Exchange) Handled() string {
	switch {
	case e.route == nil:
		return ""
	case e.route.sub != nil && e.route.sub.Stream != nil:
		return "connect"
	case e.Applies():
		return "apply"
	case e.route.verb == "list":
		return e.Verb // the verb of a list may also be watch
	}
	return e.route.verb
}

// Recorder records the events of one request.
type Recorder interface {
	// Reached is called at each stage of the request.
	Reached(a *Audit, stage Stage)
}

// Audit collects the data of a request for its audit events. The Server fills it in while it serves the request.
type Audit struct {
	// Requests and Responses make the Server record the bodies of requests and of responses.
	Requests, Responses bool
	Recorder            Recorder

	ID           string
	Impersonated *resource.User
	Constraint   string            // the verb that allowed the impersonation, if it was a constrained one
	Metadata     object.Object     // of the object in the body of a create or an update
	Request      []byte            // body of the request as JSON
	Code         int               // HTTP status code of the response, or 0 before it begins
	Status       *status.Status    // in the response
	Response     []byte            // body of the response as JSON
	Annotations  map[string]string // nil if there are none
}

// Stage is a stage of a request, with which an audit event is labelled (Kubernetes documentation, "Auditing").
type Stage string

const (
	RequestReceived  Stage = "RequestReceived"
	ResponseStarted  Stage = "ResponseStarted"
	ResponseComplete Stage = "ResponseComplete"
)

// beginAudit begins the audit of a request that is not impersonated yet. failed reports whether it is already rejected: its only
// stage is then ResponseStarted.
func (e *Exchange) beginAudit(failed bool) {
	auditor := e.s.Host.Auditor()
	if auditor == nil {
		return
	}
	if e.audit = auditor.Audit(e, e.attributes()); e.audit == nil {
		return
	}
	e.audit.ID = e.head.Get("Audit-Id")
	d := e.digest()
	long := d.LongRunning() || d.Verb == "watch"
	if !failed {
		e.audit.reach(RequestReceived)
	}
	done := e.done
	e.done = func(a *Answer) {
		e.audit.Code = a.Code
		if failed || long {
			e.audit.reach(ResponseStarted)
		}
		complete := func() { e.audit.reach(ResponseComplete) }
		switch {
		case failed:
		case a.Session != nil:
			a.Session.Finally(complete)
		case a.Watch == nil || a.Watch.Ended(): // otherwise Ended is called
			complete()
		}
		done(a)
	}
}

func (a *Audit) reach(stage Stage) { a.Recorder.Reached(a, stage) }

// Ended implements watchcache.Gate.
func (e *Exchange) Ended(*watchcache.Watch) {
	if e.audit != nil && e.audit.Code != 0 { // otherwise the response has not begun
		e.audit.reach(ResponseComplete)
	}
}

// Annotate implements registry.Caller. If a key is annotated again, it keeps its first value.
func (e *Exchange) Annotate(key, value string) {
	if e.audit == nil {
		return
	}
	if _, ok := e.audit.Annotations[key]; ok {
		return
	}
	if e.audit.Annotations == nil {
		e.audit.Annotations = map[string]string{}
	}
	e.audit.Annotations[key] = value
}

// The audit annotations of requests for deprecated resources.
const (
	Deprecated     = "k8s.io/deprecated"
	RemovedRelease = "k8s.io/removed-release"
)

// deprecate adds the warning for a deprecated resource, and its audit annotations.
func (e *Exchange) deprecate(warning string) {
	e.Warn(warning)
	e.Annotate(Deprecated, "true")
	if _, rest, ok := strings.Cut(warning, ", unavailable in v"); ok {
		release, _, _ := strings.Cut(rest, "+")
		e.Annotate(RemovedRelease, release)
	}
}

// auditObject records the object in the body of a create or an update.
func (e *Exchange) auditObject(obj object.Object) {
	if e.audit != nil && e.audit.Requests {
		e.audit.Metadata, e.audit.Request = maps.Clone(obj.Metadata()), codec.Append(nil, obj, e.s.Schema.Kind(e.kindOf()))
	}
}

// auditPatch records a patch. Before 1.37, servers record the body as it is sent, so that the event of an applied configuration in
// YAML cannot be encoded and is lost.
func (e *Exchange) auditPatch() {
	if e.audit == nil || !e.audit.Requests {
		return
	}
	e.audit.Request = e.Body
	body, _ := e.patchText()
	if e.s.Registry.Server.Since(37) {
		e.audit.Request, _ = codec.YAMLToJSON(body) // cannot fail: the patch has already been parsed
	}
}

// auditDeleteOptions records the DeleteOptions in a body, in the version in which servers record them.
func (e *Exchange) auditDeleteOptions(options object.Object) {
	if e.audit == nil || !e.audit.Requests {
		return
	}
	o := maps.Clone(options)
	o["kind"], o["apiVersion"] = "DeleteOptions", "meta.k8s.io/__internal"
	e.audit.Request = codec.Append(nil, o, e.s.Schema.Kind(schema.GVK{Version: "v1", Kind: "DeleteOptions"}))
}

// auditStatus records the Status in a response. If the client accepts no format of the server, the real server does not record it.
func (e *Exchange) auditStatus(s *status.Status) {
	if e.audit == nil {
		return
	}
	if _, unacceptable := codec.Negotiate(e.accept(), e.negotiation()); unacceptable != nil && !s.Success {
		return
	}
	e.audit.Status = s
	if e.audit.Responses {
		e.audit.Response = s.JSON()
	}
}

// auditResponse records a response as JSON, whatever the client accepts. render responds through the Exchange that is passed to it.
func (e *Exchange) auditResponse(render func(*Exchange)) {
	if e.audit == nil || !e.audit.Responses {
		return
	}
	x, q := *e, *e.Request
	q.Method, q.Header = wire.MethodGet, wire.Header{}
	x.Request, x.head, x.warnings = &q, wire.Header{}, nil
	x.audit, x.Observation, x.answered, x.deadline = nil, nil, false, deadline.Deadline{}
	x.format = codec.Format{Media: codec.JSON, As: e.format.As, AsVersion: e.format.AsVersion}
	x.done = func(a *Answer) { e.audit.Response = a.Body.Bytes() }
	render(&x)
}

// auditDocument records a discovery document. It does not record other documents, such as /version, because they are not API
// objects.
func (e *Exchange) auditDocument(q discovery.Request, a *discovery.Answer) {
	if e.audit == nil || !e.audit.Responses || !a.Negotiated || a.Status != nil {
		return
	}
	q.Header = wire.Header{"Accept": {strings.ReplaceAll(e.accept(), codec.Protobuf.String(), codec.JSON.String())}}
	if a, ok := e.s.Discovery.Serve(q); ok {
		e.audit.Response = a.Body
	}
}
