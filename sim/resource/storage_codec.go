package resource

import (
	"context"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// StorageCodec decodes and encodes the stored objects of one version of a custom resource. All versions share the storage key, and
// each is its own hub: objects are read from the store, defaulted, validated and shown in the version of the request. An Item
// belongs to the StorageCodec that it was read with, so that stored objects are decoded again when their definition changes.
type StorageCodec struct {
	Stored schema.GVK // the stored version

	// Read converts a stored object, in any version, to this version, with defaults and without fields that are not in the schema.
	// Write is the opposite. Both may change and return the object.
	Read, Write func(Asker, object.Object) (object.Object, error)

	// Ask is Read, but calls a conversion webhook again, whatever it answered when the object was written. It is nil if there is no
	// webhook.
	Ask func(Asker, object.Object) (object.Object, error)

	// Fill sets the defaults as an apply does: nulls that the schema refuses stay, for validation to find.
	Fill func(object.Object)

	// Tidy normalizes the metadata of an object, its own and that of embedded resources, to the form in which it is read back:
	// without empty fields.
	Tidy func(object.Object)

	// Whole reports whether an object that is stored as it is will be read as it is. Other objects lack a default, such as that of
	// the status, which a create drops, or have fields that the schema does not have, which only an apply or a webhook can have
	// added. Readers do not see these fields, but they are stored.
	Whole func(object.Object) bool

	// Prepare makes sure that an object that is about to be stored can be read without calling a webhook: a conversion webhook is
	// called now.
	Prepare func(by Asker, stored object.Object)

	// Convert converts an object to another version, served or not, with all its fields, including those that are not in the schema
	// of the other version. It may change and return the object.
	Convert func(by Asker, obj object.Object, apiVersion string) (object.Object, error)
}

// Asker is the request on whose behalf a conversion webhook is called. If it is nil, the caller cannot wait: it reads without a
// request, or within the commit of another one. The webhook is then called with the Cluster's lock held, and must not send requests
// to the same Cluster.
type Asker interface {
	// Context returns a context that ends when the request has to.
	Context() context.Context
	// Unlocked calls f without the Cluster's lock. Other requests may write meanwhile: the caller has to check again what it has
	// read before.
	Unlocked(f func())
}

// Places returns the places of raw values in objects, or nil if there are none, as in most kinds.
func (d *Definition) Places() *object.Places {
	if d.Raw == nil {
		return nil
	}
	return d.Raw()
}

// Layout returns the structure in whose order objects are printed; nil for custom resources, whose fields are sorted.
func (d *Definition) Layout() *schema.Type {
	if d.Custom {
		return nil
	}
	return d.Type()
}
