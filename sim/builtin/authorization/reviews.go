// Package authorization defines the access reviews.
package authorization

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Kinds returns the kinds of authorization.k8s.io. The API server computes the results of these reviews with its authorizer. This
// package validates the requests.
func Kinds() []kind.Kind {
	review := func(storage string, validate func(*resource.Context, field.Cursor)) kind.Kind {
		return kind.Kind{Storage: storage + ".authorization.k8s.io", Strategy: resource.Strategy{Virtual: true}, Validate: validate}
	}
	return []kind.Kind{
		review("subjectaccessreviews", validateAccessReview),
		review("selfsubjectaccessreviews", validateSelfReview),
		review("localsubjectaccessreviews", validateLocalReview),
		review("selfsubjectrulesreviews", nil), // a request without a namespace gets a 400 from the handler
	}
}

func validateAccessReview(ctx *resource.Context, at field.Cursor) {
	validateAttributes(ctx, at.Child("spec"), true)
	emptyMetadata(at.Child("metadata"), "must be empty")
}

func validateSelfReview(ctx *resource.Context, at field.Cursor) {
	validateAttributes(ctx, at.Child("spec"), false)
	emptyMetadata(at.Child("metadata"), "must be empty")
}

func validateLocalReview(ctx *resource.Context, at field.Cursor) {
	asked, path := at.Child("spec", "resourceAttributes"), at.Child("spec", "nonResourceAttributes")
	validateAttributes(ctx, at.Child("spec"), true)
	emptyMetadata(at.Child("metadata"), "must be empty except for namespace", "namespace")
	asked.Child("namespace").OrEmpty().InvalidIf(asked.Has() && asked.String("namespace") != at.Object().Namespace(), "must match metadata.namespace")
	kind.InvalidStructIf(path, path.Has(), gotext.NonResourceAttributes, "disallowed on this kind of request")
}

// emptyMetadata checks that a review has no metadata, except for allowed fields, managedFields and fields that the server
// sets on every object.
func emptyMetadata(at field.Cursor, text string, allowed ...string) {
	metadata := at.Object().Copy()
	for _, name := range append(allowed, "managedFields", "uid", "creationTimestamp") {
		delete(metadata, name)
	}
	if !object.SemanticEqual(map[string]any(metadata), nil) {
		at.Invalid(gotext.Meta(at.Object()), text)
	}
}

// validateAttributes checks the spec of a review, which is about either a resource or a non-resource path. The last argument
// reports whether the spec must name a user or a group.
func validateAttributes(ctx *resource.Context, at field.Cursor, somebody bool) {
	asked, path := at.Child("resourceAttributes"), at.Child("nonResourceAttributes")
	const oneOf = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
	switch both, none := asked.Has() && path.Has(), !asked.Has() && !path.Has(); {
	case both && ctx.Since(37):
		at.Invalid(gotext.Value(gotext.NonResourceAttributes, path.Object()), oneOf)
	case both:
		path.Invalid(gotext.Value(gotext.NonResourceAttributes, path.Object()), "cannot be specified in combination with resourceAttributes")
	case none && ctx.Since(37):
		at.Invalid(nil, oneOf)
	case none:
		asked.Invalid(nil, oneOf)
	}
	at.Child("user").OrEmpty().InvalidIf(somebody && at.String("user") == "" && at.Len("groups") == 0, "at least one of user or group must be specified")
	validateAskedSelector(asked.Child("fieldSelector"), validateFieldRequirement)
	validateAskedSelector(asked.Child("labelSelector"), validateLabelRequirement)
}

// validateAskedSelector checks a selector that restricts the request, given as a string or as requirements (KEP-4601).
func validateAskedSelector(at field.Cursor, rule func(field.Cursor)) {
	raw, requirements := at.Child("rawSelector"), at.Child("requirements")
	raw.InvalidIf(raw.String() != "" && requirements.Len() > 0, "may not specified at the same time as requirements")
	if at.Has() && raw.String() == "" && requirements.Len() == 0 {
		requirements.Missing("when " + at.Path().String() + " is specified, requirements or rawSelector is required")
	}
	for r := range requirements.Each() {
		rule(r)
	}
}

// validateLabelRequirement checks one requirement. It accepts unknown operators.
func validateLabelRequirement(at field.Cursor) {
	at.Report(selector.ValidateRequirement(at.Path(), at.Object(), selector.ValidateOptions{AllowUnknownOperators: true}))
}

func validateFieldRequirement(at field.Cursor) {
	at.Child("key").Required("must be specified")
	values := at.Child("values")
	switch at.String("operator") {
	case "In", "NotIn":
		values.RequireIf(values.Len() == 0, "must be specified when `operator` is 'In' or 'NotIn'")
	case "Exists", "DoesNotExist":
		values.ForbidIf(values.Len() > 0, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
	}
}
