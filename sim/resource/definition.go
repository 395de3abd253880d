// Package resource is the definition of one served resource, built-in or custom: its names, its structure and its specific
// behaviour. All code that handles requests is generic and consults the Definition.
//
//	GET /apis/autoscaling/v1/namespaces/x/horizontalpodautoscalers/y
//	         └────┬────┘ └┬┘              └──────────┬──────────┘
//	Table ── Definition autoscaling/v1 HorizontalPodAutoscaler ──ToHub──▶ Hub: Definition autoscaling/v2
//	          Type, Default, FieldLabels: of this version               Strategy, Columns, Fields: of the hub
//
// The hub is the version objects are stored in; most resources have one version and are their own hub. Strategies,
// validation, Tables and field values see objects in the hub version; Type and Default belong to each version.
package resource

import (
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// Definition is one served resource in one version. It is not changed after it was put into a Table.
type Definition struct {
	schema.GVK
	Resource   string // plural: "deployments"
	Singular   string
	List       string // kind of a list; the default is Kind and List
	ShortNames []string
	Categories []string
	Namespaced bool
	Verbs      []string // as discovery prints them

	Subresources []Subresource // sorted by name

	// Type returns the structure of the kind in this version.
	Type func() *schema.Type

	// Read parses an item of the hub for Item.Shared (codec.Read). If it is nil, the printed form is parsed as it is.
	Read func(it, before *Item) *Parsed
	// Print returns the printed form of an object of a built-in kind.
	Print func(obj object.Object) []byte

	// Raw returns where objects of this version have values that are kept as they were written (object.Raw), nil if
	// nowhere. See Places.
	Raw func() *object.Places

	// Custom is true for resources that come from a CustomResourceDefinition: paths that do not fit are 404 in plain
	// text, items of lists carry kind and apiVersion, strategic merge patch is refused.
	Custom bool

	// Terminating is true while the objects of a CustomResourceDefinition that is being deleted go away: none can be
	// created.
	Terminating bool

	// Unestablished is true for a custom resource whose definition is not Established. Its names may be accepted, and then it is
	// served; discovery and OpenAPI leave it out.
	Unestablished bool

	// Unresolved is true for a custom resource that the server cannot serve, because its conversion webhook has a bundle of
	// certificates that cannot be loaded.
	Unresolved bool

	// StorageCodec decodes and encodes the stored objects of a custom resource. It is nil for built-in resources.
	StorageCodec *StorageCodec

	// SkewCodec reads objects that servers of other versions have stored. It is nil if all servers write alike. The hub's is used.
	SkewCodec *SkewCodec

	// StoredAs is the version that the server is configured to store. The default is the one that its release stores.
	StoredAs schema.GVK

	// Deprecated is the text of a warning that every request for the resource gets, if it is not empty.
	Deprecated string

	// Hub is the definition of the stored version; the Definition itself when it is the stored one. Never nil.
	Hub *Definition

	// ToHub and FromHub convert between this version and the hub's; they may change and return their argument. They are nil if only
	// apiVersion differs.
	ToHub, FromHub func(object.Object) (object.Object, error)

	// Default sets the defaults of this version, on every write and read. It is nil if there are none.
	Default func(object.Object)

	// FieldLabels maps the field selector labels of this version, beside metadata.name and metadata.namespace, to the keys of
	// Strategy.Fields. It is nil if there are none.
	FieldLabels map[string]string

	// UnknownField returns the text of the 400 for any other label. If it is nil, the text of types without labels of their own is
	// used.
	UnknownField func(label string) string

	// Storage is the resource part of the storage key, "deployments.apps" or "pods": versions of one resource share
	// it, and so do events of both groups.
	Storage string

	// KeyPrefix is the prefix below /registry at which the real server stores the objects: "services/specs". The default is the
	// plural, below the group for a custom resource.
	KeyPrefix string

	// Connect answers a create of a resource that is not stored and names another object (bindings). nil for all others.
	Connect Connector

	// Strategy is the specific behaviour of the resource. The hub's is used. It is never nil.
	Strategy *Strategy

	// Columns of a Table and the function that prints a row; the hub's count. nil Columns: Name and Created At.
	Columns []Column
	Row     func(now time.Time, obj object.Object) Row

	// NullRows makes an empty Table print its rows as null, as for resources without Columns.
	NullRows bool
	// RowOrder compares two objects of a list by the order of their rows in a Table. If it is nil, rows are in the order of the
	// list. The hub's is used.
	RowOrder func(a, b object.Object) int
}

// Subresource is one subresource of a Definition.
type Subresource struct {
	Name       string // "scale"
	schema.GVK        // of the body
	Verbs      []string

	// Stream describes the subresource if it is a stream or a proxy, and is nil otherwise.
	Stream *Stream

	// Connect answers a subresource whose body is not the object itself. nil for the others (status).
	Connect Connector

	// NoTable disables Tables. Columns and Row create Tables of a body that is not the object itself.
	NoTable bool
	Columns []Column
	Row     func(now time.Time, obj object.Object) Row

	// Body defines the kind of the body, its defaults and its structure, where Connect is set and the kind is not that of
	// the resource: it is no resource itself. nil for the others.
	Body *Definition
}

// Body defines the kind of the body of a subresource, for Subresource.Body. defaults is nil for a kind without any.
func Body(kind schema.GVK, structure func() *schema.Type, defaults func(object.Object)) *Definition {
	d := &Definition{GVK: kind, Namespaced: true, Type: structure, Default: defaults, Strategy: &Strategy{}}
	d.Hub = d
	return d
}

// Column describes one column of a Table, as metav1.TableColumnDefinition.
type Column struct {
	Name, Type, Format, Description string
	Priority                        int

	// Describe returns the description; the first call takes some time. If it is nil, Description is used.
	Describe func() string
}

// Row is one row of a Table: a JSON value per column, and conditions of the row (a completed pod).
type Row struct {
	Cells      []any
	Conditions []any
}

// Key returns the path of the storage key of an object, and of a whole collection when name is "".
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

// FromStored returns an object of the hub version in the version d, with its defaults; an object without a name, that
// of a bookmark, gets none. It may change obj.
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

// Allows reports whether the resource has the verb.
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

// Allows reports whether the subresource has the verb.
func (s *Subresource) Allows(verb string) bool { return slices.Contains(s.Verbs, verb) }
