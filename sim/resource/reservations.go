package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Reservation names an object that reserves a value for another object: the IPAddress of a Service.
type Reservation struct {
	Storage         string // Definition.Storage
	Namespace, Name string
}

// Reservations allocates and releases the reservations of one write (the transaction that BeginCreate and BeginUpdate of the real
// server's generic Store return). Each is a request of the server to itself, with admission, and a commit of its own.
type Reservations interface {
	// Reserve creates an object, in the hub version, at once, and returns why that cannot be. If the write comes to nothing, the object is
	// deleted again.
	Reserve(storage string, obj object.Object) *status.Status
	// Release has an object deleted once the write is found to be valid, before it is stored.
	Release(Reservation)
}
