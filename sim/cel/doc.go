// Package cel is the Common Expression Language as the API server uses it: rules of custom resources
// (x-kubernetes-validations) and expressions of admission policies.
//
//	openAPIV3Schema ─▶ node ─ properties ─▶ node …       what a value may look like
//	                    │ └─ decl: the CEL type, its greatest size, the least size of its JSON
//	                    └─ rules ─▶ program, message program, estimated cost
//
//	CompileVersion ─▶ Rules ─ Validate ─▶ field errors              one budget for all rules of an object
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
	"strings"
)

// The limits of the real server, in cost units where they limit cost.
const (
	RuleBudget       = 10_000_000  // all rules of one object, or all expressions of one policy, when they run
	callLimit        = 1_000_000   // one expression when it runs
	MatchBudget      = 2_500_000   // the match conditions of one webhook or policy
	staticRuleLimit  = 10_000_000  // the estimate for one rule
	staticTotalLimit = 100_000_000 // the estimate for all rules of a version
	messageMax       = 5 << 10     // bytes of a message that an expression makes
	requestMax       = 3 << 20     // bytes of a request: bounds what has no bound in the schema
)

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
