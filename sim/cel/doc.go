// Package cel is the Common Expression Language as the API server uses it: rules of custom resources
// (x-kubernetes-validations) and expressions of admission policies.
//
//	openAPIV3Schema ─▶ node ─ properties ─▶ node …       what a value may look like
//	                    │ └─ decl: the CEL type, its greatest size, the least size of its JSON
//	                    └─ rules ─▶ program, message program, estimated cost
//
//	CompileRules ─▶ Rules ─ Validate(new, old) ─▶ field errors      one budget for all rules of an object
//	NewCompiler  ─▶ Program ─ Eval(variables)  ─▶ JSON value        one budget for all expressions of a policy
//
// Values are those of package object; they are never changed and never copied: a typed view is put over them, which
// shows a rule only the fields that the schema declares. Maps are read in the order of their keys, so that a rule costs
// and says the same each time. The environment is that of Kubernetes 1.36; limits and texts are the real server's
// (semantics of "Validation rules" and "Common Expression Language in Kubernetes" of the documentation).
//
// With the build tag nocel the package does without cel-go, which is most of its size in a wasm file: rules and
// expressions are then refused.
package cel

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// The limits of the real server, in cost units where they limit cost.
const (
	RuleBudget       = 10_000_000  // all rules of one object, or all expressions of one policy, when they run
	CallLimit        = 1_000_000   // one expression when it runs
	MatchBudget      = 2_500_000   // the match conditions of one webhook or policy
	StaticRuleLimit  = 10_000_000  // the estimate for one rule
	StaticTotalLimit = 100_000_000 // the estimate for all rules of a version
	messageMax       = 5 << 10     // bytes of a message that an expression makes
	requestMax       = 3 << 20     // bytes of a request: bounds what has no bound in the schema
)

// reasons are the values of reason.
var reasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// rule is one element of x-kubernetes-validations. It is printed in errors as the real server prints its own struct.
type rule struct {
	Rule              string
	Message           string
	MessageExpression string
	Reason            *string
	FieldPath         string
	OptionalOldSelf   *bool
}

// rulesOf returns the rules of a schema node.
func rulesOf(schema map[string]any) []rule {
	var rules []rule
	for _, v := range object.Object(schema).List("x-kubernetes-validations") {
		m, _ := v.(map[string]any)
		o := object.Object(m)
		r := rule{Rule: o.String("rule"), Message: o.String("message"),
			MessageExpression: o.String("messageExpression"), FieldPath: o.String("fieldPath")}
		if reason, ok := m["reason"].(string); ok {
			r.Reason = &reason
		}
		if optional, ok := o.Bool("optionalOldSelf"); ok {
			r.OptionalOldSelf = &optional
		}
		rules = append(rules, r)
	}
	return rules
}

// text names the rule in errors of its evaluation.
func (r *rule) text() string {
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return strings.TrimSpace(r.Rule)
}

// message is what a failed rule says.
func (r *rule) message() string {
	if r.Message == "" {
		return "failed rule: " + r.text()
	}
	return strings.TrimSpace(r.Message)
}

// CheckRules returns what is wrong with the form of the rules of one schema node at path p, below which
// x-kubernetes-validations is. It does not look into the expressions.
func CheckRules(schema map[string]any, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, r := range rulesOf(schema) {
		errs = append(errs, checkRule(schema, &r, p.Child("x-kubernetes-validations").Index(i))...)
	}
	return errs
}

func checkRule(schema map[string]any, r *rule, p field.Path) (errs field.ErrorList) {
	text, message := strings.TrimSpace(r.Rule), strings.TrimSpace(r.Message)
	switch {
	case text == "":
		errs = append(errs, field.Required(p.Child("rule"), "rule is not specified"))
	case r.Message != "" && message == "":
		errs = append(errs, field.Invalid(p.Child("message"), r.Message, "must be non-empty if specified"))
	case breaksLine(message):
		errs = append(errs, field.Invalid(p.Child("message"), r.Message, "must not contain line breaks"))
	case breaksLine(text) && message == "":
		errs = append(errs, field.Required(p.Child("message"), "message must be specified if rule contains line breaks"))
	}
	if r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "" {
		errs = append(errs, field.Required(p.Child("messageExpression"), "messageExpression must be non-empty if specified"))
	}
	if r.Reason != nil && !slices.Contains(reasons, *r.Reason) {
		errs = append(errs, field.NotSupported(p.Child("reason"), *r.Reason, reasons...))
	}
	if r.FieldPath == "" {
		return errs
	}
	if strings.TrimSpace(r.FieldPath) == "" {
		errs = append(errs, field.Invalid(p.Child("fieldPath"), r.FieldPath, "must be non-empty if specified"))
	}
	if breaksLine(r.FieldPath) {
		errs = append(errs, field.Invalid(p.Child("fieldPath"), r.FieldPath, "must not contain line breaks"))
	}
	if _, _, err := FieldPath(r.FieldPath, schema, true); err != nil {
		errs = append(errs, field.Invalid(p.Child("fieldPath"), r.FieldPath, "must be a valid path"))
	}
	return errs
}

func breaksLine(s string) bool { return strings.ContainsAny(s, "\n\r") }

// HasRules reports whether a schema or one below it has rules.
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
	for _, child := range object.Object(schema).List("allOf") {
		if child, ok := child.(map[string]any); ok && HasRules(child) {
			return true
		}
	}
	return false
}

// Error is what is wrong with an expression: it does not compile, or it cannot be evaluated.
type Error struct {
	Text string
	// Budget says that the expression used up what it may cost; nothing else is to be evaluated.
	Budget bool
}

func (e *Error) Error() string { return e.Text }

func errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// MessageText returns the message that an expression made, or why it cannot be one.
func MessageText(v any) (string, *Error) {
	s, ok := v.(string)
	if !ok {
		return "", errorf("messageExpression failed to convert to string")
	}
	s = strings.TrimSpace(s)
	switch {
	case len(s) > messageMax:
		return "", errorf("messageExpression beyond allowable length of %d", messageMax)
	case strings.Contains(s, "\n"):
		return "", errorf("messageExpression should not contain line breaks")
	case s == "":
		return "", errorf("messageExpression should evaluate to a non-empty string")
	}
	return s, nil
}
