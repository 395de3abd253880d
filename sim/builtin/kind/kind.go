// Package kind is what the packages of the API groups are made of: Kind, all that one resource adds to its definition, and Define,
// which makes definitions of kinds and the schema data; feature gates, comparison of specs, and values that every group
// checks.
//
//	[]Kind ──┐
//	Server ──┼─▶ Define ─▶ []resource.Definition
//	schema ──┘
package kind

import (
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

	// Validate finds what is wrong with a new or a changed object, metadata aside; at is the object and knows what is
	// stored. ValidateStatus does so for a write of the status subresource; nil: Validate. They become
	// Strategy.Validate and Strategy.ValidateUpdate.
	Validate, ValidateStatus func(ctx *resource.Context, at field.Cursor)

	// Defaults by version; "" is every version without an entry.
	Defaults map[string]func(object.Object)

	// Labels are the field selector labels by group/version ("v1", "events.k8s.io/v1"), each mapped to a key of
	// Strategy.Fields; "" is every version. Unknown is the text for other labels: nil for kinds without labels.
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
	Row      func(now time.Time, obj object.Object) resource.Row // nil: the cells of the columns
	Order    func(a, b object.Object) int                        // of rows
}

// complete makes the strategy and the row of what the kind says more shortly.
func (k *Kind) complete() {
	if k.Row == nil {
		k.Row = table.RowOf(k.Columns)
	}
	if k.Validate == nil {
		return
	}
	k.Strategy.Validate = func(ctx *resource.Context, obj object.Object) field.ErrorList {
		at := field.CursorAt(obj, nil)
		k.Validate(ctx, at)
		return at.Errors()
	}
	k.Strategy.ValidateUpdate = func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
		at := field.CursorAt(obj, old)
		if ctx.Subresource == "status" && k.ValidateStatus != nil {
			k.ValidateStatus(ctx, at)
		} else {
			k.Validate(ctx, at)
		}
		return at.Errors()
	}
}

// Conversion is the way of one version to the hub and back.
type Conversion struct {
	ToHub, FromHub func(object.Object) (object.Object, error)
}
