package registry

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/metadata"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// metaErrors are the errors in the metadata of an object, independent of its kind's NameRule. They are computed once, but reported
// at each place where the real server validates metadata.
type metaErrors struct{ rest, update field.ErrorList }

// metaErrorsOf returns the metadata errors of a new (old is nil) or changed object.
func metaErrorsOf(ctx *resource.Context, obj, old object.Object) metaErrors {
	rules, meta, p := metadata.Rules(ctx.Server.Minor), obj.Metadata(), field.Root("metadata")
	if old == nil {
		return metaErrors{rest: rules.ValidateRest(meta, ctx.Definition.Hub.Namespaced, p)}
	}
	rest, update := rules.ValidateUpdate(meta, old.Metadata(), ctx.Definition.Hub.Namespaced, p)
	return metaErrors{rest, update}
}

// check returns the errors that a kind's own validation finds in a new (old is nil) or changed object, in the order of its
// resource.Checks.
func check(ctx *resource.Context, obj, old object.Object, found metaErrors) field.ErrorList {
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
			errs = append(append(errs, metadata.Names(obj.Metadata(), nameRule(ctx, obj), p)...), found.rest...)
			finalizers()
		case step == resource.CheckMetaUpdate:
			errs = append(errs, found.update...)
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

// declarative appends the errors of declarative validation, which come from tags on the types, to the other errors, in the order of
// the type's fields (registry/rest.ValidateDeclaratively). It removes duplicates among the other errors. Servers do so since 1.37, but
// not for kinds with Strategy.NotDeclarative.
func declarative(ctx *resource.Context, errs field.ErrorList) field.ErrorList {
	if ctx.Definition.Hub.Strategy.NotDeclarative || !ctx.Since(37) {
		return errs
	}
	said := map[string]bool{}
	var own, declared field.ErrorList
	for _, err := range errs {
		if text := err.Error(); err.Declared {
			declared = append(declared, asSent(ctx, err))
		} else if !said[text] {
			said[text] = true
			own = append(own, err)
		}
	}
	typ := ctx.Definition.Type()
	slices.SortStableFunc(declared, func(a, b *field.Error) int {
		return slices.Compare(typ.Order(foundAt(a)), typ.Order(foundAt(b)))
	})
	return append(own, declared...)
}

// asSent converts the object in a duplicate error from the server's internal version to the version of the request. It returns any
// other error unchanged.
func asSent(ctx *resource.Context, err *field.Error) *field.Error {
	obj, ok := err.Value.(map[string]any)
	if !ok || err.Type != field.TypeDuplicate {
		return err
	}
	shown := *err
	shown.Value = field.Raw(codec.Append(nil, obj, ctx.Definition.Type().At(err.Field.String())))
	return &shown
}

// foundAt returns the path of the field whose rule found the error. A duplicate or added element is found by the rule of its list, and
// an error that depends on another field by the rule of the struct that contains both.
func foundAt(err *field.Error) string {
	path := err.Field.String()
	switch {
	case err.Around:
		path = path[:max(0, strings.LastIndex(path, "."))]
	case (err.Type == field.TypeDuplicate || err.Type == field.TypeForbidden) && strings.HasSuffix(path, "]"):
		path = path[:strings.LastIndex(path, "[")]
	}
	return path
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
