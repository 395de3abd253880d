package resource

import "github.com/kubesim/kubesim/sim/object"

// Quota describes the usage of ResourceQuotas by objects of a kind, beside their number, which is limited as count/RESOURCE
// (Kubernetes documentation, "Resource Quotas"; pkg/quota/v1/evaluator). Its zero value is a kind of which only the number counts.
type Quota struct {
	Each []string // further limits of which every object uses one

	// Limits reports whether another limit concerns the objects, and Uses returns an object's usage of these limits. They are nil
	// if there are none.
	Limits func(ctx *Context, name string) bool
	Uses   func(ctx *Context, obj object.Object) Amounts
	// Demands returns an error text if an object lacks fields that must be set under the limits, and otherwise "". If Demands is
	// nil, no fields are required.
	Demands func(limits []string, obj object.Object) string
	// Scopes are the scopes that quotas for these objects may have.
	Scopes map[string]QuotaScope
	// Updates reports whether an update is charged. If it is nil, only creates are charged.
	Updates func(ctx *Context, obj, old object.Object) bool
}

// QuotaScope reports whether an object is in a scope of a quota. requirement is one of its scopeSelector.
type QuotaScope func(obj, requirement object.Object) bool

// WholeUpdates is Quota.Updates of kinds of which updates of the main resource are charged.
func WholeUpdates(ctx *Context, _, _ object.Object) bool { return ctx.Subresource == "" }
