package resource

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// Reservation identifies an object that reserves a value for another object, such as the IPAddress of a Service.
type Reservation struct {
	Storage         string // Definition.Storage
	Namespace, Name string
}

// Reservations allocates and releases the reservations of one write (the transaction that BeginCreate and BeginUpdate of the real
// server's generic Store return). The server sends each as a separate request to itself, with admission and its own commit.
type Reservations interface {
	// Reserve creates obj, which is in the hub version, immediately. If the write fails later, the object is deleted again.
	Reserve(storage string, obj object.Object) *status.Status
	// Release schedules the deletion of an object. It is deleted after the write has been validated and before the result is stored.
	Release(Reservation)
}
