package registry

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// look returns what a kind's own validation finds wrong with a new (old is nil) or changed object, in the order of its
// resource.Looks.
func look(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	hub, p := ctx.Definition.Hub, field.Root("metadata")
	strategy := hub.Strategy
	var errs field.ErrorList
	finalizers := func() {
		if !hub.Custom && !strategy.AnyFinalizers {
			errs = append(errs, metadata.CoreFinalizers(obj.Metadata(), p)...)
		}
	}
	for _, letter := range strategy.LooksOf(ctx, old != nil) {
		ctx.Found = errs
		switch {
		case letter == 'n':
			errs = append(errs, metadata.Validate(obj.Metadata(), hub.Namespaced, nameRule(hub, obj), p)...)
			finalizers()
		case letter == 'u':
			errs = append(errs, metadata.ValidateUpdate(obj.Metadata(), old.Metadata(), p)...)
			finalizers()
		case letter == 'v':
			errs = append(errs, strategy.ValidateFirst(ctx, obj, old)...)
		case old == nil && strategy.Validate != nil:
			errs = append(errs, strategy.Validate(ctx, obj)...)
		case old != nil && strategy.ValidateUpdate != nil:
			errs = append(errs, strategy.ValidateUpdate(ctx, obj, old)...)
		}
	}
	return errs
}

func nameRule(hub *resource.Definition, obj object.Object) func(name string, prefix bool) []string {
	switch strategy := hub.Strategy; {
	case strategy.NameRuleOf != nil:
		return strategy.NameRuleOf(obj)
	case strategy.NameRule != nil:
		return strategy.NameRule
	}
	return field.NameDNSSubdomain
}
