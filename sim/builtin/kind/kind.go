// Package kind is what the packages of the API groups are made of: Kind, all that one resource adds to its definition, and Define,
// which makes definitions of kinds and the schema data; feature gates, comparison of specs, and values that every group
// checks.
//
//	[]Kind ──┐
//	Server ──┼─▶ Define ─▶ []resource.Definition
//	schema ──┘
package kind

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Kind is what one resource adds to its definition.
type Kind struct {
	Storage  string // Definition.Storage: "deployments.apps", "pods"
	Strategy resource.Strategy
	Changed  Changes // Strategy.SpecChanged, where it needs the type of the objects

	// Validate validates an object except for its metadata. ValidateStatus does so for writes of the status subresource; its default is
	// Validate. They become Strategy.Validate and Strategy.ValidateUpdate. ValidateFirst becomes Strategy.ValidateFirst.
	Validate, ValidateStatus, ValidateFirst Rule

	// Defaults by version; "" is every version without an entry.
	Defaults map[string]func(object.Object)

	// Select are the strings that field selectors can ask for: dotted paths, which are also the labels. They become
	// Strategy.Fields.
	Select []string

	// Labels are the field selector labels by group/version ("v1", "events.k8s.io/v1"), each mapped to a key of
	// Strategy.Fields; the key "" is every version. If nil, labels are the names of the fields. Unknown returns the error for other
	// labels; its default is UnsupportedLabel.
	Labels  map[string]map[string]string
	Unknown func(label string) string

	// Convert turns an object of a version that is not stored into the stored one and back, by version.
	Convert map[string]Conversion

	Deprecated string // Definition.Deprecated

	// KeyPrefix is where the real server stores the objects, below /registry, "" for the plural. Errors show it.
	KeyPrefix string

	// Gates are what feature gates decide about its fields and values.
	Gates []Gate

	// Since changes the kind for servers of a minor and later ones, 37 is 1.37, where no rule can ask Context.Since.
	Since map[int]func(k *Kind)

	// PlainStatus: the status subresource never answers with a Table, unlike that of all others.
	PlainStatus bool

	// Connect are the subresources with a body of their own, by name; ConnectSelf is Definition.Connect.
	Connect     map[string]resource.Connector
	ConnectSelf resource.Connector
	// Bodies are the defaults of the bodies of such subresources, by name.
	Bodies map[string]func(object.Object)
	// Streams are the subresources that stream or proxy, by name.
	Streams map[string]*resource.Stream

	NullRows bool // Definition.NullRows
	Columns  []table.Column
	Row      func(now time.Time, obj object.Object) resource.Row // the default has the cells of the columns
	Order    func(a, b object.Object) int                        // of rows
}

// Rule validates a new or a changed object. at is the object, and at.Old the stored one.
type Rule func(ctx *resource.Context, at field.Cursor)

// complete makes the strategy and the row of what the kind says more shortly.
func (k *Kind) complete() {
	s := &k.Strategy
	if k.Row == nil {
		k.Row = table.RowOf(k.Columns)
	}
	for _, path := range k.Select {
		s.Fields = append(s.Fields, resource.FieldAt(path, strings.Split(path, ".")...))
	}
	if k.Labels == nil && len(s.Fields) > 0 {
		k.Labels = SameLabels(names(s.Fields)...)
	}
	if k.Labels != nil && k.Unknown == nil {
		k.Unknown = UnsupportedLabel
	}
	if k.ValidateFirst != nil {
		s.ValidateFirst = k.ValidateFirst.errors
	}
	if k.Validate != nil {
		s.Validate = func(ctx *resource.Context, obj object.Object) field.ErrorList {
			return k.Validate.errors(ctx, obj, nil)
		}
		s.ValidateUpdate = func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
			return k.rule(ctx.Subresource).errors(ctx, obj, old)
		}
	}
}

// rule returns the rule for a write of a subresource, or of the object itself.
func (k *Kind) rule(subresource string) Rule {
	if subresource == "status" && k.ValidateStatus != nil {
		return k.ValidateStatus
	}
	return k.Validate
}

func (r Rule) errors(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	return field.Collect(obj, old, func(at field.Cursor) { r(ctx, at) })
}

func names(fields resource.Fields) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// Conversion is the way of one version to the hub and back.
type Conversion struct {
	ToHub, FromHub func(object.Object) (object.Object, error)
}

// ScaleWorkload is the scale subresource of Deployments, ReplicaSets and StatefulSets, ScaleReplication that of
// ReplicationControllers, which select by plain labels.
var (
	ScaleWorkload = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSelectorQuery,
	})
	ScaleReplication = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSetQuery,
	})
)
