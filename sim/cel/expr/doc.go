// Package expr has everything about rules and expressions that does not need evaluation: the form of a custom resource's rule
// (x-kubernetes-validations), the variables and result types of admission expressions, and the cost limits. Package celgo evaluates
// them; a build without it has this package only.
package expr

import (
	"fmt"
	"strings"
)

// The limits of the real server, in cost units where they limit cost.
const (
	RuleBudget  = 10_000_000 // all rules of one object, or all expressions of one policy, when they run
	MatchBudget = 2_500_000  // the match conditions of one webhook or policy
	messageMax  = 5 << 10    // bytes of a message that an expression makes
)

// Error is the error of an expression that does not compile or cannot be evaluated.
type Error struct {
	Text string
	// Budget is set if the expression exceeded its cost limit; nothing else is evaluated then.
	Budget bool
	// Internal is set if the expression compiles, but no program can be made of it. The real server reports that as an error of its
	// own, not as an invalid value.
	Internal bool
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an Error with a text.
func Errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// MessageText returns the message that an expression made, or why it cannot be one.
func MessageText(v any) (string, *Error) {
	s, ok := v.(string)
	if !ok {
		return "", Errorf("messageExpression failed to convert to string")
	}
	s = strings.TrimSpace(s)
	switch {
	case len(s) > messageMax:
		return "", Errorf("messageExpression beyond allowable length of %d", messageMax)
	case strings.Contains(s, "\n"):
		return "", Errorf("messageExpression should not contain line breaks")
	case s == "":
		return "", Errorf("messageExpression should evaluate to a non-empty string")
	}
	return s, nil
}
