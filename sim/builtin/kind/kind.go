// Package kind provides the building blocks for the packages of the API groups: Kind contains everything that one resource
// adds to its definition, and Define creates definitions from kinds and the schema data. It also implements feature gates, the
// comparison of specs, and checks that all groups share.
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
	"github.com/kubesim/kubesim/sim/schema"
)

// Kind is the part of a resource's definition that the schema data does not contain.
type Kind struct {
	Storage  string // Definition.Storage: "deployments.apps", "pods"
	Gate     string // the feature gate without which the resource is not served, or ""
	Strategy resource.Strategy
	Changed  Changes // Strategy.SpecChanged, if it needs the type of the objects

	// Validate validates an object except for its metadata. ValidateStatus does so for writes to the status subresource; its
	// default is Validate. They become Strategy.Validate and Strategy.ValidateUpdate. ValidateFirst becomes
	// Strategy.ValidateFirst.
	Validate, ValidateStatus, ValidateFirst Rule

	// Defaults are the defaulting functions by version. The key "" stands for all versions without an entry.
	Defaults map[string]func(object.Object)

	// Select are the string fields that field selectors support: dotted paths, which are also the labels. They become
	// Strategy.Fields.
	Select []string

	// Labels are the field selector labels by group/version ("v1", "events.k8s.io/v1"), each mapped to a key of
	// Strategy.Fields. The key "" stands for all versions. If Labels is nil, the labels are the names of the fields. Unknown
	// returns the error for other labels; its default is UnsupportedLabel.
	Labels  map[string]map[string]string
	Unknown func(of schema.GVK, label string) string

	// Convert converts objects between a version that is not stored and the stored one, by version.
	Convert map[string]Conversion

	Deprecated string // Definition.Deprecated

	// KeyPrefix is the storage path of the real server below /registry, which errors contain. If "", it is the plural.
	KeyPrefix string

	// Gates are the effects of feature gates on fields and values.
	Gates []Gate

	// Since modifies the kind for servers of a minor version (37 is 1.37) or later. It is for properties that are not rules, which
	// would call Context.Since.
	Since map[int]func(k *Kind)

	// PlainStatus disables Tables in responses of the status subresource. All other kinds support them.
	PlainStatus bool

	// Connect are the subresources with their own body, by name. ConnectSelf becomes Definition.Connect.
	Connect     map[string]resource.Connector
	ConnectSelf resource.Connector
	// Bodies are the defaulting functions for the bodies of such subresources, by name.
	Bodies map[string]func(object.Object)
	// Streams are the subresources that stream or proxy, by name.
	Streams map[string]*resource.Stream

	NullRows bool // Definition.NullRows
	Columns  []table.Column
	Row      func(now time.Time, obj object.Object) resource.Row // by default the row has the cells of the columns
	Order    func(a, b object.Object) int                        // order of the rows
}

// Rule validates a new or changed object. at is a cursor at the object, and at.Old is the stored object.
type Rule func(ctx *resource.Context, at field.Cursor)

// complete sets the fields of the strategy and the row function that the kind declares in a shorter form.
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

// rule returns the rule for a write to a subresource, or to the object itself if subresource is "".
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

// Conversion converts objects of one version to the hub version and back.
type Conversion struct {
	ToHub, FromHub func(object.Object) (object.Object, error)
}

// ScaleWorkload is the scale subresource of Deployments, ReplicaSets and StatefulSets. ScaleReplication is that of
// ReplicationControllers, whose selector is a plain label map.
var (
	ScaleWorkload = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSelectorQuery,
	})
	ScaleReplication = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSetQuery,
	})
)
