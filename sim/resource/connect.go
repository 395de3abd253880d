package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Connector answers a subresource whose body is not the object itself: scale, binding, eviction, token. It returns the
// object to answer with, in the kind of the subresource, or a Status: one with Success set is an answer, too.
type Connector func(*Connection) (object.Object, *status.Status)

// Connection is one request for such a subresource.
type Connection struct {
	*Context

	// Verb is get, create, update, patch or apply. A patch or an apply consists of two calls: the one without a Body reads the
	// object to change, the one with a Body writes the result.
	Verb string
	Body object.Object // nil for reads

	// Manage records the changes from live to obj in obj's managedFields; both are of the kind of the body. For the body of a
	// create it has been called already.
	Manage func(live, obj object.Object)
	// ToScale returns the managedFields of the Scale of an object; FromScale returns the object's managedFields after a write of
	// its Scale. replicas holds the path of the number of replicas by apiVersion: "spec.replicas".
	ToScale   func(parent []any, replicas map[string]string) []any
	FromScale func(parent, scale []any, apiVersion string, replicas map[string]string) []any
	// Admit runs the validating admission plugins for the body of a create. A Connector calls it once the body is valid.
	Admit func() *status.Status
	// ShowAs makes admission see updates of the object converted by show, to the kind of the body. AdmitUpdate then runs the
	// mutating admission plugins for a body that replaces live; Update runs the validating ones.
	ShowAs      func(show func(object.Object) object.Object)
	AdmitUpdate func(live, body object.Object) *status.Status

	Objects
}

// CheckUID refuses a body that wants the object with another uid than obj has, as the storage of the real server does.
func (c *Connection) CheckUID(obj object.Object, uid string) *status.Status {
	if uid == "" || uid == obj.UID() {
		return nil
	}
	d := c.Definition
	return status.Conflict(d.GroupResource(), obj.Name(), status.InvalidObject(d.ServerKey(c.Namespace, obj.Name(), c.DryRun), status.UIDDiffers(uid, obj.UID())))
}

// Objects reads and writes stored objects. It returns them in the hub version.
type Objects interface {
	Reader

	// Update changes an object in place as a request for the subresource ("" for the main resource) would: strategy, validation,
	// events. change gets a copy; if it returns an error, or the result is invalid, the object is not changed. Update returns the
	// stored object.
	//
	// An update of the request's own resource and subresource is the client's: objects are in the version of the request, and
	// managedFields are those that change returns. An update of another subresource of the resource is the server's own: its fields
	// get no owner, and admission does not run. An update of another resource is a request of the server itself, whose field
	// manager is kube-apiserver.
	Update(storage, namespace, name, subresource string, change func(object.Object) *status.Status) (object.Object, *status.Status)

	// Write stores the result of change for an object as it is, without strategy, validation and admission.
	Write(storage, namespace, name string, change func(object.Object) *status.Status) *status.Status

	// Delete deletes an object, or begins to, without admission. options is a DeleteOptions object, or nil for none.
	Delete(storage, namespace, name string, options object.Object) *status.Status
}
