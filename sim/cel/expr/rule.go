package expr

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// reasons are the values of reason.
var reasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// Rule is one element of x-kubernetes-validations. It is printed in errors as the real server prints its own struct.
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

// Text names the rule in errors of its evaluation.
func (r *Rule) Text() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}

// Failed returns the message of a failed rule without a messageExpression.
func (r *Rule) Failed() string {
	if r.Message == "" {
		return "failed rule: " + r.Text()
	}
	return strings.TrimSpace(r.Message)
}

// CheckRules returns the errors in the form of the rules of one schema node, whose x-kubernetes-validations is at path p. It does
// not compile the expressions. readable reports whether the node is a structural schema. It is called only for a fieldPath that
// does not exist in the schema: in a schema that is not structural that is no error
// (apiextensions/validation.ValidateCustomResourceDefinitionOpenAPISchema).
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

// check returns the errors in a rule at path p that do not depend on its schema.
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

// blank reports whether a text is there and has nothing but white space.
func blank(s string) bool { return s != "" && strings.TrimSpace(s) == "" }

func breaksLine(s string) bool { return strings.ContainsAny(s, "\n\r") }

// HasRules reports whether a structural schema or one below it has rules. There are none in allOf, anyOf, oneOf and not.
func HasRules(schema map[string]any) bool {
	if len(object.Object(schema).List("x-kubernetes-validations")) > 0 {
		return true
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if child, ok := schema[name].(map[string]any); ok && HasRules(child) {
			return true
		}
	}
	for _, child := range object.Object(schema).Map("properties") { // order does not matter: any will do
		if child, ok := child.(map[string]any); ok && HasRules(child) {
			return true
		}
	}
	return false
}
