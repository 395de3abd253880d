package builtin

import (
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// kind is what one resource adds to its definition.
type kind struct {
	storage  string // Definition.Storage: "deployments.apps", "pods"
	strategy resource.Strategy
	changed  changes // strategy.SpecChanged, where it needs the type of the objects

	// defaults by version; "" is every version without an entry.
	defaults map[string]func(object.Object)

	// labels are the field selector labels by group/version ("v1", "events.k8s.io/v1"), each mapped to a key of
	// strategy.Fields; "" is every version. unknown is the text for other labels: nil for kinds without labels.
	labels  map[string]map[string]string
	unknown func(label string) string

	// convert turns an object of a version that is not stored into the stored one and back, by version.
	convert map[string]conversion

	deprecated string // Definition.Deprecated

	// keyPrefix is where the real server stores the objects, below /registry, "" for the plural. Errors show it.
	keyPrefix string

	// gates are what feature gates decide about its fields and values.
	gates []gate

	// plainStatus: the status subresource never answers with a Table, unlike that of all others.
	plainStatus bool

	// connect are the subresources with a body of their own, by name; connectSelf is Definition.Connect.
	connect     map[string]resource.Connector
	connectSelf resource.Connector
	// bodies are the defaults of the bodies of such subresources, by name.
	bodies map[string]func(object.Object)

	columns []column
	row     func(now time.Time, obj object.Object) resource.Row
	order   func(a, b object.Object) int // of rows
}

// conversion is the way of one version to the hub and back.
type conversion struct {
	toHub, fromHub func(object.Object) (object.Object, error)
}
