package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/jsonpath"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	maxAuditAnnotations    = 20
	maxAuditExpressionSize = 5 << 10
)

// validatePolicySpec checks the rules that both kinds of policies share, up to the variables. It returns the expressions value
// with which the remaining expressions must be checked.
func validatePolicySpec(ctx *resource.Context, at field.Cursor, mutating bool) *expressions {
	e := expressionsOf(ctx, at, at.Has("paramKind"))
	at.Child("failurePolicy").OrEmpty().OneOf("Fail", "Ignore") // "" is invalid, unlike a missing value
	params, match, conditions := at.Child("paramKind"), at.Child("matchConstraints"), at.Child("matchConditions")
	if params.Has() {
		validateParamKind(params)
	}
	if match.RequireIf(!match.Has(), "").Has() {
		validateMatchResources(match)
		match.Child("resourceRules").Required()
		if mutating {
			validateMutatingOperations(match)
		}
	}
	if !at.Updates() || params.Changed() || conditions.Changed() {
		validateMatchConditions(conditions, e)
	}
	for v := range at.Each("variables") {
		validateVariable(v, e)
	}
	return e
}

func validateValidatingPolicy(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	e := validatePolicySpec(ctx, at, false)
	validations, audits := at.Child("validations"), at.Child("auditAnnotations")
	if validations.Len()+audits.Len() == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		validations.Missing(detail)
		audits.Missing(detail)
		return
	}
	for v := range validations.Each() {
		validateValidation(v, e)
	}
	if audits.Len() > maxAuditAnnotations {
		audits.Invalid(gotext.Values(gotext.AuditAnnotation, at.Object().List("auditAnnotations")),
			fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations))
	}
	keys := field.Seen{}
	for a := range audits.Each() {
		validateAuditAnnotation(a, all.Object().Name(), e)
		a.Child("key").Unique(keys)
	}
}

func validatePolicyStatus(ctx *resource.Context, at field.Cursor) {
	for w := range at.Each("typeChecking", "expressionWarnings") {
		w.Child("warning").Required()
		ref := w.Child("fieldRef").With(strings.TrimSpace(w.String("fieldRef")))
		if ref.Required(); ref.String() != "" {
			_, err := jsonpath.Parse("{" + ref.String() + "}")
			ref.InvalidIf(err != nil, fmt.Sprintf("invalid JSONPath: %v", err))
		}
	}
	kind.CheckConditions(ctx, at.Child("conditions"))
}

func validateMutatingPolicy(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	e := validatePolicySpec(ctx, at, true)
	at.Child("mutations").Required("mutations must contain at least one item")
	for m := range at.Each("mutations") {
		validateMutation(m, e)
	}
	at.Child("reinvocationPolicy").Required().OneOf("IfNeeded", "Never")
}

func validateMutation(at field.Cursor, e *expressions) {
	own, other, want := "jsonPatch", "applyConfiguration", expr.JSONPatch
	kind := at.String("patchType")
	switch kind {
	case "JSONPatch":
	case "ApplyConfiguration":
		own, other, want = other, own, expr.Object
	default:
		at.Child("patchType").Required().OneOf("ApplyConfiguration", "JSONPatch")
		return
	}
	if at.Child(own).RequireIf(!at.Has(own), "must be specified when patchType is "+kind).Has() {
		expression := at.Child(own, "expression").With(strings.TrimSpace(at.String(own, "expression"))).Required()
		e.check(expression, expr.Declarations{Authorizer: true, Patch: true}, want)
	}
	at.Child(other).With("{"+other+"}").InvalidIf(at.Has(other), "must not be specified when patchType is "+kind)
}

// validateMutatingOperations rejects DELETE, which has no object to mutate.
func validateMutatingOperations(match field.Cursor) {
	for rule := range match.Each("resourceRules") {
		for operation := range rule.Each("operations") {
			operation.ReportAt(match.Child("resourceRules", "operations")).OneOf("*", "CONNECT", "CREATE", "UPDATE")
		}
	}
}

func validateMatchResources(at field.Cursor) {
	at.Child("matchPolicy").OrEmpty().OneOf("Equivalent", "Exact") // the default is already set
	validateSelectors(at, selector.ValidateOptions{})
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for rule := range at.Each(list) {
			names := field.Seen{}
			for name := range rule.Each("resourceNames") {
				name.Check(field.PathSegment).Unique(names)
			}
			validateOperationRule(rule)
		}
	}
}

func validateParamKind(at field.Cursor) {
	version, kind := at.Child("apiVersion").Required(), at.Child("kind")
	group, v, ok := strings.Cut(version.String(), "/")
	if !ok {
		group, v = "", version.String()
	}
	switch {
	case !version.Has():
	case strings.Contains(v, "/"):
		version.Invalid(version.String(), "unexpected GroupVersion string: "+version.String())
	default:
		version.With(group).IfGiven().Check(field.Joined(field.DNS1123Subdomain, ","))
		version.InvalidIf(v == "", "version must be specified")
		version.With(v).IfGiven().Check(field.Joined(field.DNS1035Label, ","))
	}
	kind.Required().Check(structural.KindName)
}

// celReserved are the reserved words of CEL, which cannot be names of variables (CEL language definition).
var celReserved = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while"}

func validateVariable(at field.Cursor, e *expressions) {
	name := at.Child("name")
	if text := name.String(); strings.TrimSpace(text) == "" {
		name.Missing("name is not specified")
	} else {
		name.InvalidIf(len(field.CIdentifier(text)) > 0 || slices.Contains(celReserved, text), "must be a valid CEL identifier")
	}
	requireExpression(at.Child("expression"))
	e.declare(at)
}

func requireExpression(at field.Cursor) {
	at.RequireIf(strings.TrimSpace(at.String()) == "", "expression is not specified")
}

func validateValidation(at field.Cursor, e *expressions) {
	expression, message, computed := at.Child("expression"), at.Child("message"), at.Child("messageExpression")
	requireExpression(expression)
	e.check(expression, expr.Declarations{Authorizer: true}, expr.Bool)
	computed.InvalidIf(isBlank(computed.String()), "must be non-empty if specified")
	e.check(computed, expr.Declarations{}, expr.String)
	message.InvalidIf(isBlank(message.String()), "must be non-empty if specified")
	message.InvalidIf(strings.ContainsAny(strings.TrimSpace(message.String()), "\n\r"), "must not contain line breaks")
	at.Child("reason").OneOf("Forbidden", "Invalid", "RequestEntityTooLarge")
}

// isBlank reports whether a string consists only of whitespace. It returns false for "".
func isBlank(text string) bool { return text != "" && strings.TrimSpace(text) == "" }

func validateAuditAnnotation(at field.Cursor, policy string, e *expressions) {
	key, expression := at.Child("key").OrEmpty(), at.Child("valueExpression")
	if policy == "" {
		key.Invalid(key.String(), "requires metadata.name be non-empty")
	} else {
		key.With(policy + "/" + key.String()).Check(field.QualifiedName)
	}
	switch size := len(strings.TrimSpace(expression.String())); {
	case size == 0:
		expression.Missing("valueExpression is not specified")
	case size > maxAuditExpressionSize:
		expression.Missing(fmt.Sprintf("must not exceed %d bytes in length", maxAuditExpressionSize))
	default:
		e.check(expression, expr.Declarations{Authorizer: true}, expr.StringNull)
	}
}

// validatePolicyBinding checks the rules that both kinds of bindings share. declared reports whether the server's type
// requires the policy name in a tag.
func validatePolicyBinding(at field.Cursor, declared bool) {
	at.Child("policyName").Declared(declared, field.Cursor.Given).Check(field.DNS1123Subdomain)
	if ref := at.Child("paramRef"); ref.Has() {
		validateParamRef(ref)
	}
	if match := at.Child("matchResources"); match.Has() {
		validateMatchResources(match)
	}
}

func validateValidatingBinding(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	validatePolicyBinding(at, ctx.Since(37))
	actions, seen := at.Child("validationActions"), field.Seen{}
	for action := range actions.Each() {
		action.OneOf("Audit", "Deny", "Warn").Unique(seen)
	}
	actions.InvalidIf(seen["Deny"] && seen["Warn"],
		"must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)")
	actions.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor { return c.Required("at least one validation action is required") })
}

func validateMutatingBinding(_ *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	validatePolicyBinding(at, false)
	validateMutatingOperations(at.Child("matchResources"))
}

func validateParamRef(at field.Cursor) {
	const exclusive = "name and selector are mutually exclusive"
	name, s := at.Child("name").IfGiven(), at.Child("selector")
	name.Check(field.PathSegment).ForbidIf(name.Has() && s.Has(), exclusive)
	kind.CheckSelector(s, selector.ValidateOptions{})
	s.ForbidIf(name.Has() && s.Has(), exclusive)
	at.RequireIf(!name.Has() && !s.Has(), "one of name or selector must be specified")
	at.Child("parameterNotFoundAction").Required().OneOf("Deny", "Allow")
}
