// Package resource has the kinds of resource.k8s.io, dynamic resource allocation: claims, their templates, device classes and slices.
package resource

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/resource"
)

// docDevices is the definition name in front of the types of resource.k8s.io/v1.
const docDevices = "io.k8s.api.resource.v1."

// Kinds returns the kinds of resource.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{resourceClaimKind(), resourceClaimTemplateKind(), resourceSliceKind(), deviceClassKind(), taintRuleKind()}
}

// declared applies a rule that stands as a tag on the type since 1.37 (MarkCoveredByDeclarative in
// resource/validation).
func declared(ctx *resource.Context, at field.Cursor, rule func(field.Cursor) field.Cursor) field.Cursor {
	return at.Declared(ctx.Since(37), rule)
}

// atMost checks how many items a list has.
func atMost(ctx *resource.Context, at field.Cursor, limit int) field.Cursor {
	return declared(ctx, at, func(c field.Cursor) field.Cursor { return c.MaxItems(limit) })
}

// uniqueBy checks that no two items of a list are the same: strings, or objects with the same value of a field.
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
