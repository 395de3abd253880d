package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// check returns what a kind's own validation finds wrong with a new (old is nil) or changed object, in the order of its
// resource.Checks.
func check(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	hub, p := ctx.Definition.Hub, field.Root("metadata")
	strategy := hub.Strategy
	var errs field.ErrorList
	finalizers := func() {
		if !hub.Custom && !strategy.AnyFinalizers {
			errs = append(errs, metadata.CoreFinalizers(obj.Metadata(), p)...)
		}
	}
	for _, step := range strategy.Checks.Of(ctx, old != nil) {
		ctx.Found = errs
		switch {
		case step == resource.CheckMeta:
			errs = append(errs, metadata.Validate(obj.Metadata(), hub.Namespaced, nameRule(ctx, obj), p)...)
			finalizers()
		case step == resource.CheckMetaUpdate:
			errs = append(errs, metadata.ValidateUpdate(obj.Metadata(), old.Metadata(), p)...)
			finalizers()
		case step == resource.CheckFirst:
			errs = append(errs, strategy.ValidateFirst(ctx, obj, old)...)
		case old == nil && strategy.Validate != nil:
			errs = append(errs, strategy.Validate(ctx, obj)...)
		case old != nil && strategy.ValidateUpdate != nil:
			errs = append(errs, strategy.ValidateUpdate(ctx, obj, old)...)
		}
	}
	return errs
}

func nameRule(ctx *resource.Context, obj object.Object) func(name string, prefix bool) []string {
	switch strategy := ctx.Definition.Hub.Strategy; {
	case strategy.NameRuleOf != nil:
		return strategy.NameRuleOf(ctx, obj)
	case strategy.NameRule != nil:
		return strategy.NameRule
	}
	return field.NameDNSSubdomain
}
