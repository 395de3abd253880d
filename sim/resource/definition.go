// Package resource defines a served resource, built-in or custom: its names, its structure and its specific behaviour. All code
// that handles requests is generic and consults the Definition.
//
//	GET /apis/autoscaling/v1/namespaces/x/horizontalpodautoscalers/y
//	         └────┬────┘ └┬┘              └──────────┬──────────┘
//	Table ── Definition autoscaling/v1 HorizontalPodAutoscaler ──ToHub──▶ Hub: Definition autoscaling/v2
//	          Type, Default, FieldLabels: of this version               Strategy, Columns, Fields: of the hub
//
// The hub is the version in which objects are stored. Most resources have one version and are their own hub. Strategies,
// validation, Tables and field values use the hub version; Type and Default belong to each version.
package resource

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Definition is one served resource in one version. It must not be changed once it is in a Table.
type Definition struct {
	schema.GVK
	Resource   string // plural: "deployments"
	Singular   string
	List       string // kind of a list; the default is Kind + "List"
	ShortNames []string
	Categories []string
	Namespaced bool
	Verbs      []string // in the order of discovery

	Subresources []Subresource // sorted by name

	// Type returns the structure of the kind in this version.
	Type func() *schema.Type

	// Read parses an item of the hub for Item.Shared (codec.Read). If it is nil, the JSON is parsed without conversion.
	Read func(it, before *Item) *Parsed
	// Print encodes an object of a built-in kind as JSON.
	Print func(obj object.Object) []byte

	// Raw returns the places of values in this version that are kept as they were written (object.Raw), or nil if there are none.
	// See Places.
	Raw func() *object.Places

	// Custom is true for a resource of a CustomResourceDefinition: unsupported paths get 404 in plain text, items of lists have kind
	// and apiVersion, and strategic merge patches are rejected.
	Custom bool

	// Terminating is true for a resource whose CustomResourceDefinition is being deleted: no objects can be created.
	Terminating bool

	// Unestablished is true for a custom resource whose definition is not Established. It is still served if its names are accepted,
	// but discovery and OpenAPI omit it.
	Unestablished bool

	// Unresolved is true for a custom resource that the server cannot serve because the CA bundle of its conversion webhook cannot
	// be loaded.
	Unresolved bool

	// StorageCodec decodes and encodes the stored objects of a custom resource. It is nil for built-in resources.
	StorageCodec *StorageCodec

	// SkewCodec reads objects that servers of other versions have stored. It is nil if all servers decode and encode objects in the
	// same way. Only the hub's SkewCodec is used.
	SkewCodec *SkewCodec

	// StoredAs is the version in which the server is configured to store objects. If it is the zero value, it is the storage
	// version of the server's release.
	StoredAs schema.GVK

	// Off is true for a resource that the server serves only if its options enable it.
	Off bool

	// Deprecated, if it is not empty, is a warning that every request for the resource gets.
	Deprecated string

	// Hub is the definition of the stored version, which may be the Definition itself. It is never nil.
	Hub *Definition

	// ToHub and FromHub convert between this version and the hub's. They may change and return their argument. They are nil if only
	// apiVersion differs.
	ToHub, FromHub func(object.Object) (object.Object, error)

	// Default sets the defaults of this version on every write and read. It is nil if there are none.
	Default func(object.Object)

	// FieldLabels maps the field selector labels of this version, except metadata.name and metadata.namespace, to the keys of
	// Strategy.Fields. It is nil if there are none.
	FieldLabels map[string]string

	// UnknownField returns the message of the 400 for any other label. If it is nil, the message of kinds without their own labels
	// is used.
	UnknownField func(label string) string

	// Storage is the resource part of the storage key: "deployments.apps" or "pods". All versions of a resource share it. Events of
	// both API groups share it, too.
	Storage string

	// KeyPrefix is the prefix below /registry under which the real server stores the objects, such as "services/specs". The default
	// is the plural, or the group and the plural for a custom resource.
	KeyPrefix string

	// Connect handles a create of a resource that is not stored and names another object (bindings). It is nil for all other
	// resources.
	Connect Connector

	// Strategy is the specific behaviour of the resource. Only the hub's is used. It is never nil.
	Strategy *Strategy

	// Columns and Row define the columns of a Table and compute a row. Only the hub's are used. If Columns is nil, the columns are
	// Name and Created At.
	Columns []Column
	Row     func(now time.Time, obj object.Object) Row

	// NullRows encodes the rows of an empty Table as null, as for resources without Columns.
	NullRows bool
	// RowOrder compares two objects by the order of their rows in a Table. If it is nil, rows are in the order of the list. Only the
	// hub's is used.
	RowOrder func(a, b object.Object) int
}

// Subresource is one subresource of a Definition.
type Subresource struct {
	Name       string // "scale"
	schema.GVK        // of the body
	Verbs      []string

	// Stream describes the subresource if it is a stream or a proxy, and is nil otherwise.
	Stream *Stream

	// Connect handles a subresource whose body is not the object itself. It is nil for other subresources (status).
	Connect Connector

	// NoTable disables Tables. Columns and Row define Tables for a body that is not the object itself.
	NoTable bool
	Columns []Column
	Row     func(now time.Time, obj object.Object) Row

	// Body defines the kind of the body, its defaults and its structure. It is set if Connect is set and the body's kind is not that
	// of the resource, and nil otherwise. It is not a resource itself.
	Body *Definition
}

// Body returns a definition for Subresource.Body. If the kind has no defaults, defaults is nil.
func Body(kind schema.GVK, structure func() *schema.Type, defaults func(object.Object)) *Definition {
	d := &Definition{GVK: kind, Namespaced: true, Type: structure, Default: defaults, Strategy: &Strategy{}}
	d.Hub = d
	return d
}

// Column describes one column of a Table, like metav1.TableColumnDefinition.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int

	// Describe returns the description; the first call takes some time. If it is nil, Description is used.
	Describe func() string
}

// Row is one row of a Table: a JSON value for each column, and the row's conditions (such as a completed pod).
type Row struct {
	Cells      []any
	Conditions []any
}

// Key returns the storage key of an object. If name is "", it returns the prefix of the keys of a collection.
//
//	/registry/deployments.apps/default/web      /registry/deployments.apps/default/      /registry/nodes/
func (d *Definition) Key(namespace, name string) string {
	var room [128]byte
	return string(d.AppendKey(room[:0], namespace, name))
}

// AppendKey appends Key to b.
func (d *Definition) AppendKey(b []byte, namespace, name string) []byte {
	b = append(b, "/registry/"...)
	b = append(b, d.Storage...)
	b = append(b, '/')
	if namespace != "" {
		b = append(b, namespace...)
		b = append(b, '/')
	}
	return append(b, name...)
}

// ReturnsDeleted reports whether a DELETE that removes an object at once returns it (ReturnDeletedObject).
func (d *Definition) ReturnsDeleted() bool {
	return d.Hub.Strategy.ReturnDeletedObject || d.lenient()
}

// DeniesUnconditionalUpdate reports whether an update needs a resourceVersion (DenyUnconditionalUpdate).
func (d *Definition) DeniesUnconditionalUpdate() bool {
	return d.Hub.Strategy.DenyUnconditionalUpdate && !d.lenient()
}

func (d *Definition) lenient() bool {
	return d.Hub.Strategy.LenientUnstable && schema.CompareVersions(d.Version, "v1") < 0
}

// FromStored converts an object of the hub version to the version of d and sets its defaults. An object without a name, as in a
// bookmark, gets no defaults. FromStored may change obj.
func (d *Definition) FromStored(obj object.Object) object.Object {
	if d.Hub == d {
		return obj
	}
	if d.FromHub == nil {
		obj["apiVersion"] = d.GV()
	} else if converted, err := d.FromHub(obj); err == nil {
		obj = converted
	}
	if d.Default != nil && obj.Name() != "" {
		d.Default(obj)
	}
	return obj
}

// GroupResource returns the name of the resource for messages: deployments.apps.
func (d *Definition) GroupResource() status.Resource {
	return status.Resource{Group: d.Group, Resource: d.Resource}
}

// GroupKind returns the name of the kind for messages: Deployment.apps.
func (d *Definition) GroupKind() status.Resource {
	return status.Resource{Group: d.Group, Resource: d.Kind}
}

// ListKind returns the kind of a list of the resource.
func (d *Definition) ListKind() string {
	if d.List != "" {
		return d.List
	}
	return d.Kind + "List"
}

// Allows reports whether the resource supports the verb.
func (d *Definition) Allows(verb string) bool { return slices.Contains(d.Verbs, verb) }

// Sub returns the subresource with the name, or nil.
func (d *Definition) Sub(name string) *Subresource {
	for i := range d.Subresources {
		if d.Subresources[i].Name == name {
			return &d.Subresources[i]
		}
	}
	return nil
}

// Allows reports whether the subresource supports the verb.
func (s *Subresource) Allows(verb string) bool { return slices.Contains(s.Verbs, verb) }
