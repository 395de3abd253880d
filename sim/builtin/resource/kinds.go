// Package resource defines the kinds of resource.k8s.io (dynamic resource allocation): claims, claim templates, device
// classes, slices, taint rules and requests for the status of pools.
package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// docDevices is the prefix of the definition names of resource.k8s.io/v1 types.
const docDevices = "io.k8s.api.resource.v1."

// Kinds returns the kinds of resource.k8s.io.
func Kinds() []kind.Kind {
	kinds := []kind.Kind{resourceClaimKind(), resourceClaimTemplateKind(), resourceSliceKind(), deviceClassKind(), taintRuleKind()}
	if schema.HasAll {
		kinds = append(kinds, poolStatusKind())
	}
	return kinds
}

// declared applies a rule that a tag on the type declares since 1.37 (MarkCoveredByDeclarative in resource/validation).
func declared(ctx *resource.Context, at field.Cursor, rule func(field.Cursor) field.Cursor) field.Cursor {
	return at.Declared(ctx.Since(37), rule)
}

// atMost checks that a list has at most limit items.
func atMost(ctx *resource.Context, at field.Cursor, limit int) field.Cursor {
	return declared(ctx, at, func(c field.Cursor) field.Cursor { return c.MaxItems(limit) })
}

// uniqueBy checks that the items of a list are distinct. Items that are objects are compared by the value of a field.
func uniqueBy(ctx *resource.Context, at field.Cursor, names ...string) {
	declared(ctx, at, func(c field.Cursor) field.Cursor {
		if len(names) == 0 || !ctx.Since(37) {
			return c.UniqueItems(names...)
		}
		seen := field.Seen{}
		for item := range c.Each() {
			item.UniqueBy(seen, item.String(names...))
		}
		return c
	})
}

// driverName checks the name of a driver.
func driverName(ctx *resource.Context, at field.Cursor) {
	if ctx.Since(37) {
		podspec.DeclaredDriverName(at)
	} else {
		podspec.DriverName(at)
	}
}
