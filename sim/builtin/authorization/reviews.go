// Package authorization has the questions who may do what.
package authorization

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Kinds are questions to the API server, which it answers from its authorizer; here are the rules for questions.
func Kinds() []kind.Kind {
	review := func(storage string, validate func(*resource.Context, object.Object) field.ErrorList) kind.Kind {
		return kind.Kind{Storage: storage, Strategy: resource.Strategy{Virtual: true, Validate: validate}}
	}
	return []kind.Kind{
		review("subjectaccessreviews.authorization.k8s.io", validateAccessReview),
		review("selfsubjectaccessreviews.authorization.k8s.io", validateSelfReview),
		review("localsubjectaccessreviews.authorization.k8s.io", validateLocalReview),
		review("selfsubjectrulesreviews.authorization.k8s.io", nil), // without a namespace: 400, which the answer says
	}
}

func validateAccessReview(ctx *resource.Context, obj object.Object) field.ErrorList {
	errs := validateAttributes(ctx, obj, true)
	return append(errs, emptyMetadata(obj, "must be empty")...)
}

func validateSelfReview(ctx *resource.Context, obj object.Object) field.ErrorList {
	errs := validateAttributes(ctx, obj, false)
	return append(errs, emptyMetadata(obj, "must be empty")...)
}

func validateLocalReview(ctx *resource.Context, obj object.Object) field.ErrorList {
	errs := validateAttributes(ctx, obj, true)
	errs = append(errs, emptyMetadata(obj, "must be empty except for namespace", "namespace")...)
	if asked := obj.At("spec", "resourceAttributes"); asked != nil && asked.String("namespace") != obj.Namespace() {
		errs = append(errs, field.Invalid(field.Root("spec.resourceAttributes.namespace"), asked.String("namespace"), "must match metadata.namespace"))
	}
	if asked := obj.At("spec", "nonResourceAttributes"); asked != nil {
		errs = append(errs, field.Invalid(field.Root("spec.nonResourceAttributes"), gotext.Value("NonResourceAttributes", asked), "disallowed on this kind of request"))
	}
	return errs
}

// emptyMetadata checks that a review is nothing but a question. managedFields, and what the server itself sets on every
// object, do not count.
func emptyMetadata(obj object.Object, text string, allowed ...string) field.ErrorList {
	metadata := object.Object(obj.Metadata()).Copy()
	for _, name := range append(allowed, "managedFields", "uid", "creationTimestamp") {
		delete(metadata, name)
	}
	if object.SemanticEqual(map[string]any(metadata), nil) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.Root("metadata"), gotext.Meta(obj.Metadata()), text)}
}

// validateAttributes checks what is asked: for a resource or for a path, about somebody.
func validateAttributes(ctx *resource.Context, obj object.Object, somebody bool) field.ErrorList {
	var errs field.ErrorList
	p, spec := field.Root("spec"), obj.At("spec")
	asked, path := spec.At("resourceAttributes"), spec.At("nonResourceAttributes")
	const oneOf = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
	switch both, none := asked != nil && path != nil, asked == nil && path == nil; {
	case both && ctx.Since(37):
		errs = append(errs, field.Invalid(p, gotext.Value("NonResourceAttributes", path), oneOf))
	case both:
		errs = append(errs, field.Invalid(p.Child("nonResourceAttributes"), gotext.Value("NonResourceAttributes", path),
			"cannot be specified in combination with resourceAttributes"))
	case none && ctx.Since(37):
		errs = append(errs, field.Invalid(p, nil, oneOf))
	case none:
		errs = append(errs, field.Invalid(p.Child("resourceAttributes"), nil, oneOf))
	}
	if somebody && spec.String("user") == "" && len(spec.List("groups")) == 0 {
		errs = append(errs, field.Invalid(p.Child("user"), "", "at least one of user or group must be specified"))
	}
	at := p.Child("resourceAttributes")
	if s := asked.At("fieldSelector"); s != nil {
		errs = append(errs, validateAskedSelector(at.Child("fieldSelector"), s, validateFieldRequirement)...)
	}
	if s := asked.At("labelSelector"); s != nil {
		errs = append(errs, validateAskedSelector(at.Child("labelSelector"), s, validateLabelRequirement)...)
	}
	return errs
}

// validateAskedSelector checks a selector that limits the question: a text or requirements (KEP-4601).
func validateAskedSelector(p field.Path, s object.Object, rule func(field.Path, object.Object) field.ErrorList) field.ErrorList {
	var errs field.ErrorList
	raw, requirements := s.String("rawSelector"), s.Objects("requirements")
	if raw != "" && len(requirements) > 0 {
		errs = append(errs, field.Invalid(p.Child("rawSelector"), raw, "may not specified at the same time as requirements"))
	}
	if raw == "" && len(requirements) == 0 {
		errs = append(errs, field.Required(p.Child("requirements"), "when "+p.String()+" is specified, requirements or rawSelector is required"))
	}
	for i, r := range requirements {
		errs = append(errs, rule(p.Child("requirements").Index(i), r)...)
	}
	return errs
}

// validateLabelRequirement checks one requirement; operators that this server does not know are let pass.
func validateLabelRequirement(p field.Path, r object.Object) field.ErrorList {
	errs := selector.ValidateLabelSelector(field.Path{}, map[string]any{"matchExpressions": []any{map[string]any(r)}},
		selector.ValidateOptions{AllowUnknownOperators: true})
	for _, e := range errs {
		e.Field = p.Child(strings.TrimPrefix(e.Field.String(), "matchExpressions[0]."))
	}
	return errs
}

func validateFieldRequirement(p field.Path, r object.Object) field.ErrorList {
	var errs field.ErrorList
	if r.String("key") == "" {
		errs = append(errs, field.Required(p.Child("key"), "must be specified"))
	}
	values := len(r.List("values"))
	switch r.String("operator") {
	case "In", "NotIn":
		if values == 0 {
			errs = append(errs, field.Required(p.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"))
		}
	case "Exists", "DoesNotExist":
		if values > 0 {
			errs = append(errs, field.Forbidden(p.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
		}
	}
	return errs
}
