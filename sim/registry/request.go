package registry

import (
	"github.com/kubesim/kubesim/sim/deadline"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/watchcache"
)

// Caller is the party that a Request serves, such as an HTTP request.
type Caller interface {
	// Warn adds a warning to the response.
	Warn(text string)
	// Annotate adds an annotation to the audit event of the request.
	Annotate(key, value string)
	// Watching is called with a watch before the watch sends its first event.
	Watching(*watchcache.Watch)
	// Gate decides which events of the watch are sent.
	watchcache.Gate
	// Ready is called before an object is stored or removed, with the new object and the old item. A Status rejects the write.
	Ready(obj object.Object, old *resource.Item) *status.Status
	// MayCreate returns an error if the user may not create the object. It is called if an update creates a missing object.
	MayCreate() *status.Status
}

// Request is one request to a registry.
type Request struct {
	Definition  *resource.Definition
	Subresource string
	Namespace   string
	Name        string
	User        resource.User
	Verb        string // the verb for authorization
	Manager     string // field manager
	DryRun      bool
	Options     object.Object // CreateOptions, UpdateOptions or DeleteOptions as sent, without kind and apiVersion
	// Deadline ends the request: nothing is committed after it has passed. If it is nil, the request has no deadline.
	Deadline *deadline.Deadline
	// By is the author to whom the request and its effects are attributed.
	By resource.Author
	// Asker waits for conversion webhooks. It may be nil.
	Asker resource.Asker
	// Caller is notified of the request's progress and asked for additional rights. It is nil if the server itself sends the
	// request.
	Caller Caller

	// Unversioned reports that the body of an update has no apiVersion and is not of the Definition's kind.
	Unversioned bool

	applies   bool // the request is an apply
	creates   bool // the request is an update that creates an object: Caller.MayCreate decides
	collected bool // the request deletes one object of a collection

	// show converts an object to the one that admission sees. It is set for a subresource that has its own kind and whose mutating
	// admission has already run. If it is nil, admission sees the object itself.
	show func(object.Object) object.Object
}

// Result is the result of a write.
type Result struct {
	Item    *resource.Item // the object as stored, or as it would be stored
	Status  *status.Status // set instead of Item if the response is a Status
	Created bool
	Pending bool // the deletion is not complete yet
}

// ready returns an error if the object of the request may not be stored.
func (q *Request) ready(obj object.Object, old *resource.Item) *status.Status {
	if s := q.ended(); s != nil {
		return s
	}
	if q.Caller == nil {
		return nil
	}
	return q.Caller.Ready(obj, old)
}

// warn adds a warning to the response.
func (q *Request) warn(text string) {
	if q.Caller != nil {
		q.Caller.Warn(text)
	}
}

// annotate adds an annotation to the audit event of the request.
func (q *Request) annotate(key, value string) {
	if q.Caller != nil {
		q.Caller.Annotate(key, value)
	}
}

// ended returns an error if the request may no longer commit anything because its client has disconnected or its deadline has
// passed.
func (q *Request) ended() *status.Status {
	if err := q.Deadline.Err(); err != nil {
		return status.Timeout("request did not complete within requested timeout - "+err.Error(), 0)
	}
	return nil
}

// context returns the resource.Context of the request, which strategies receive.
func (r *Registry) context(q *Request) *resource.Context {
	ctx := &resource.Context{
		Now: r.Backend.Now(), Definition: q.Definition, Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name,
		DryRun: q.DryRun, Options: q.Options, Deadline: q.Deadline, User: q.User, Verb: q.Verb, By: q.By, Asker: q.Asker, Server: r.Server, NoPrivileged: r.NoPrivileged, ServiceCIDRs: r.Config.ServicePrefixes(), Warn: q.warn, Audit: q.annotate, Objects: Reader{r, q.Asker},
		Random: func(n int) int { return r.Backend.Random("allocation", n) },
		UID:    r.newUID,
		Tokens: r.Tokens,
	}
	if r.Authorizer != nil {
		ctx.May = func(what resource.Access) *status.Status { return r.Authorizer.May(q, what, r.Reader()) }
	}
	return ctx
}
