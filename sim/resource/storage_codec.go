package resource

import (
	"context"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
)

// StorageCodec decodes and encodes the stored objects of one version of a custom resource. All versions share the storage key, and
// each is its own hub: objects are decoded, defaulted, validated and returned in the version of the request. An Item belongs to the
// StorageCodec that decoded it, so that stored objects are decoded again when their definition changes.
type StorageCodec struct {
	Stored schema.GVK // the stored version

	// Read converts a stored object, in any version, to this version. It sets defaults and drops fields that are not in the schema.
	// Write converts an object to the stored version. Both may change and return the object.
	Read, Write func(Asker, object.Object) (object.Object, error)

	// Ask is like Read, but always calls the conversion webhook, even if its response from the time of the write is cached. It is
	// nil if there is no webhook.
	Ask func(Asker, object.Object) (object.Object, error)

	// Fill sets the defaults as for an apply: nulls that the schema does not allow are kept, so that validation reports them.
	Fill func(object.Object)

	// Tidy normalizes the metadata of an object and of its embedded resources to the form in which readers see it, without empty
	// fields.
	Tidy func(object.Object)

	// Whole reports whether decoding the stored form of an object yields the same object. It does not if a default is missing, such
	// as that of the status, which a create drops, or if the object has fields that are not in the schema, which only an apply or a
	// webhook can have added. Such fields are stored, but readers do not see them.
	Whole func(object.Object) bool

	// Prepare is called before an object is stored. If there is a conversion webhook, it calls the webhook and caches the response,
	// so that reads do not have to call it.
	Prepare func(by Asker, stored object.Object)

	// Convert converts an object to another version, served or not. It also keeps fields that the schema of the other version does
	// not have. It may change and return the object.
	Convert func(by Asker, obj object.Object, apiVersion string) (object.Object, error)
}

// Asker is the request on whose behalf a conversion webhook is called. It is nil if the caller cannot wait because it reads without
// a request, or within the commit of another request. The webhook is then called with the Cluster's lock held, and must not send
// requests to the same Cluster.
type Asker interface {
	// Context returns a context that is done at the request's deadline.
	Context() context.Context
	// Unlocked calls f without the Cluster's lock. Other requests may write meanwhile, so the caller has to check again what it read
	// before.
	Unlocked(f func())
}

// Places returns the places of values in objects that are kept as they were written (object.Raw). It returns nil if there are none,
// as for most kinds.
func (d *Definition) Places() *object.Places {
	if d.Raw == nil {
		return nil
	}
	return d.Raw()
}

// Layout returns the Go type that determines the order of fields in the JSON of objects, or nil for custom resources, whose fields
// are sorted.
func (d *Definition) Layout() *schema.Type {
	if d.Custom {
		return nil
	}
	return d.Type()
}
