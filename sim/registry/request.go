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
	// Warn adds a warning to the answer.
	Warn(text string)
	// Watching is called with a watch before its first event.
	Watching(*watchcache.Watch)
	// Gate decides which events of the watch are sent.
	watchcache.Gate
	// Ready is called with the object that is about to be stored, or removed, in place of old. A Status refuses the write.
	Ready(obj object.Object, old *resource.Item) *status.Status
	// MayCreate returns why the user may not create the object, which an update of a missing one does.
	MayCreate() *status.Status
}

// Request is one request to a registry.
type Request struct {
	Definition  *resource.Definition
	Subresource string
	Namespace   string
	Name        string
	User        resource.User
	Verb        string // as authorization calls what the request does
	Manager     string // field manager
	DryRun      bool
	Options     object.Object // CreateOptions, UpdateOptions or DeleteOptions as sent, without kind and apiVersion
	// Deadline ends the request: nothing is committed after it. A nil Deadline never ends.
	Deadline *deadline.Deadline
	// By is the author that the request and its effects are attributed to.
	By resource.Author
	// Asker waits for conversion webhooks. It may be nil.
	Asker resource.Asker
	// Caller is notified of the request's progress and consulted for rights. If it is nil, the server itself sends the request, and
	// nothing is notified or consulted.
	Caller Caller

	// Unversioned reports that the body of an update has no apiVersion, and is not of the kind of Definition.
	Unversioned bool

	applies   bool // the request is an apply
	creates   bool // the request is an update that creates: Caller.MayCreate decides
	collected bool // the request deletes a collection, of which this object is one

	// show converts an object to the one that admission sees, for a subresource with a kind of its own whose mutation was admitted
	// already. If it is nil, admission sees the object itself.
	show func(object.Object) object.Object
}

// Result is the result of a write.
type Result struct {
	Item    *resource.Item // the object as stored, or as it would be stored
	Status  *status.Status // instead of an object
	Created bool
	Pending bool // a deletion that is not done yet
}

// ready returns why the object of the request may not be stored, or nil if it may.
func (q *Request) ready(obj object.Object, old *resource.Item) *status.Status {
	if s := q.ended(); s != nil {
		return s
	}
	if q.Caller == nil {
		return nil
	}
	return q.Caller.Ready(obj, old)
}

// warn adds a warning to the answer.
func (q *Request) warn(text string) {
	if q.Caller != nil {
		q.Caller.Warn(text)
	}
}

// ended returns why the request may not commit anything any more, because its client is gone or its time is over. It returns nil if the
// request may still commit.
func (q *Request) ended() *status.Status {
	if err := q.Deadline.Err(); err != nil {
		return status.Timeout("request did not complete within requested timeout - "+err.Error(), 0)
	}
	return nil
}

// context returns the strategy's view of the request.
func (r *Registry) context(q *Request) *resource.Context {
	ctx := &resource.Context{
		Now: r.Backend.Now(), Definition: q.Definition, Subresource: q.Subresource, Namespace: q.Namespace, Name: q.Name,
		DryRun: q.DryRun, Options: q.Options, Deadline: q.Deadline, User: q.User, Verb: q.Verb, By: q.By, Asker: q.Asker, Server: r.Server, NoPrivileged: r.NoPrivileged, ServiceCIDR: r.Config.ServicePrefix(), Warn: q.warn, Objects: Reader{r, q.Asker},
		Random: func(n int) int { return r.Backend.Random("allocation", n) },
		UID:    r.newUID,
		Tokens: r.Tokens,
	}
	if r.Authorizer != nil {
		ctx.May = func(what resource.Access) *status.Status { return r.Authorizer.May(q, what, r.Reader()) }
	}
	return ctx
}
