package resource

import "github.com/kubesim/kubesim/sim/object"

// Quota describes the usage of ResourceQuotas by objects of a kind, in addition to their number, which is limited as count/RESOURCE
// (Kubernetes documentation, "Resource Quotas"; pkg/quota/v1/evaluator). With the zero value, only the number counts.
type Quota struct {
	Each []string // further limits that count objects

	// Limits reports whether another limit applies to the objects. Uses returns an object's usage of these limits. They are nil if
	// there are no such limits.
	Limits func(ctx *Context, name string) bool
	Uses   func(ctx *Context, obj object.Object) Amounts
	// Demands returns an error message if an object lacks fields that the limits require, and "" otherwise. If Demands is nil, no
	// fields are required.
	Demands func(limits []string, obj object.Object) string
	// Scopes are the scopes that quotas for these objects may have.
	Scopes map[string]QuotaScope
	// Updates reports whether an update is charged. If it is nil, only creates are charged.
	Updates func(ctx *Context, obj, old object.Object) bool
}

// QuotaScope reports whether an object is in a scope of a quota. requirement is an element of the result of Scopes for the quota.
type QuotaScope func(obj, requirement object.Object) bool

// WholeUpdates implements Quota.Updates for kinds of which only updates of the main resource are charged.
func WholeUpdates(ctx *Context, _, _ object.Object) bool { return ctx.Subresource == "" }
