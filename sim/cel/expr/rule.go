package expr

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// reasons are the valid values of the field reason.
var reasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// Rule is one element of x-kubernetes-validations. Errors print it in the format of the real server's struct.
type Rule struct {
	Rule              string
	Message           string
	MessageExpression string
	Reason            *string
	FieldPath         string
	OptionalOldSelf   *bool
}

// RulesOf returns the rules of a schema node.
func RulesOf(schema map[string]any) []Rule {
	var rules []Rule
	for _, v := range object.Object(schema).List("x-kubernetes-validations") {
		o := object.As(v)
		r := Rule{Rule: o.String("rule"), Message: o.String("message"),
			MessageExpression: o.String("messageExpression"), FieldPath: o.String("fieldPath")}
		if reason, ok := o["reason"].(string); ok {
			r.Reason = &reason
		}
		if optional, ok := o.Bool("optionalOldSelf"); ok {
			r.OptionalOldSelf = &optional
		}
		rules = append(rules, r)
	}
	return rules
}

// Text returns the text that identifies the rule in evaluation errors.
func (r *Rule) Text() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}

// Failed returns the message for a violated rule that has no messageExpression.
func (r *Rule) Failed() string {
	if r.Message == "" {
		return "failed rule: " + r.Text()
	}
	return strings.TrimSpace(r.Message)
}

// CheckRules validates the rules of a schema node without compiling their expressions. p is the path of the node. A fieldPath that
// does not exist in the schema is an error only if the schema is structural. readable reports that; it is called only for such a
// fieldPath (apiextensions/validation.ValidateCustomResourceDefinitionOpenAPISchema).
func CheckRules(schema map[string]any, p field.Path, readable func() bool) field.ErrorList {
	var errs field.ErrorList
	for i, r := range RulesOf(schema) {
		at := p.Child("x-kubernetes-validations").Index(i)
		errs = append(errs, r.check(at)...)
		if _, _, err := FieldPath(r.FieldPath, schema, true); err != nil && readable() {
			errs = append(errs, field.Invalid(at.Child("fieldPath"), r.FieldPath, "must be a valid path"))
		}
	}
	return errs
}

// check returns those errors in a rule that do not depend on the schema. p is the path of the rule.
func (r *Rule) check(p field.Path) (errs field.ErrorList) {
	text, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
	switch {
	case text == "":
		errs = append(errs, field.Required(p.Child("rule"), "rule is not specified"))
	case blank(r.Message):
		errs = append(errs, field.Invalid(p.Child("message"), r.Message, "must be non-empty if specified"))
	case breaksLine(message):
		errs = append(errs, field.Invalid(p.Child("message"), r.Message, "must not contain line breaks"))
	case breaksLine(text) && message == "":
		errs = append(errs, field.Required(p.Child("message"), "message must be specified if rule contains line breaks"))
	}
	if blank(r.MessageExpression) {
		errs = append(errs, field.Required(p.Child("messageExpression"), "messageExpression must be non-empty if specified"))
	}
	if r.Reason != nil && !slices.Contains(reasons, *r.Reason) {
		errs = append(errs, field.NotSupported(p.Child("reason"), field.Enum(*r.Reason), reasons...))
	}
	if blank(r.FieldPath) {
		errs = append(errs, field.Invalid(p.Child("fieldPath"), r.FieldPath, "must be non-empty if specified"))
	}
	if breaksLine(r.FieldPath) {
		errs = append(errs, field.Invalid(p.Child("fieldPath"), r.FieldPath, "must not contain line breaks"))
	}
	return errs
}

// blank reports whether a string is not empty but consists only of whitespace.
func blank(s string) bool { return s != "" && strings.TrimSpace(s) == "" }

func breaksLine(s string) bool { return strings.ContainsAny(s, "\n\r") }

// HasRules reports whether a structural schema, or a schema below it, has rules. It ignores allOf, anyOf, oneOf and not,
// which cannot have rules.
func HasRules(schema map[string]any) bool {
	if len(object.Object(schema).List("x-kubernetes-validations")) > 0 {
		return true
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if child, ok := schema[name].(map[string]any); ok && HasRules(child) {
			return true
		}
	}
	for _, child := range object.Object(schema).Map("properties") { // order does not matter: one match suffices
		if child, ok := child.(map[string]any); ok && HasRules(child) {
			return true
		}
	}
	return false
}
