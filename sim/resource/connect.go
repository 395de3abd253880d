package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Connector handles a subresource whose body is not the object itself: scale, binding, eviction, token. It returns the response
// object, in the kind of the subresource, or a Status. A Status with Success set is a successful response, too.
type Connector func(*Connection) (object.Object, *status.Status)

// Connection is one request for a subresource that a Connector handles.
type Connection struct {
	*Context

	// Verb is get, create, update, patch or apply. A patch or an apply consists of two calls: the first has no Body and reads the
	// object to change; the second has a Body and writes the result.
	Verb string
	Body object.Object // nil for reads

	// Manage records the changes from live to obj in obj's managedFields. Both are of the body's kind. For a create, it has already
	// been called for the body.
	Manage func(live, obj object.Object)
	// ToScale returns the managedFields of the Scale of an object. FromScale returns the object's managedFields after a write of
	// its Scale. In both, replicas maps an apiVersion to the path of the number of replicas, such as "spec.replicas".
	ToScale   func(parent []any, replicas map[string]string) []any
	FromScale func(parent, scale []any, apiVersion string, replicas map[string]string) []any
	// Admit runs the validating admission plugins for the body of a create. The Connector must call it after validating the body.
	Admit func() *status.Status
	// ShowAs sets the function that converts the object to the kind of the body for admission of updates. AdmitUpdate runs the
	// mutating admission plugins for a body that replaces live. Update runs the validating ones.
	ShowAs      func(show func(object.Object) object.Object)
	AdmitUpdate func(live, body object.Object) *status.Status

	Objects
}

// CheckUID returns a conflict if uid, which is that in the body, is not empty and differs from obj's, like the storage of the real
// server. Otherwise it returns nil.
func (c *Connection) CheckUID(obj object.Object, uid string) *status.Status {
	if uid == "" || uid == obj.UID() {
		return nil
	}
	d := c.Definition
	return status.Conflict(d.GroupResource(), obj.Name(), status.InvalidObject(d.ServerKey(c.Namespace, obj.Name(), c.DryRun), status.UIDDiffers(uid, obj.UID())))
}

// Objects reads and writes stored objects, in the hub version.
type Objects interface {
	Reader

	// Update changes an object in place like a request for the subresource ("" for the main resource): strategy, validation, events.
	// change gets a copy. If it returns an error, or the result is invalid, the object is not changed. Update returns the stored
	// object.
	//
	// An update of the request's own resource and subresource belongs to the client: objects are in the version of the request, and
	// managedFields are those that change returns. An update of another subresource of the same resource belongs to the server: its
	// fields get no owner, and admission does not run. An update of another resource is a request that the server sends to itself,
	// with the field manager kube-apiserver.
	Update(storage, namespace, name, subresource string, change func(object.Object) *status.Status) (object.Object, *status.Status)

	// Write passes a copy of an object to change and stores the result without strategy, validation and admission. If change
	// returns an error, nothing is stored.
	Write(storage, namespace, name string, change func(object.Object) *status.Status) *status.Status

	// Delete deletes an object without admission, or marks it as deleted if it has finalizers or a grace period. options is a
	// DeleteOptions object, or nil.
	Delete(storage, namespace, name string, options object.Object) *status.Status
}
