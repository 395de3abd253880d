// Package expr implements those parts of rules and expressions that do not require evaluation: the format of custom
// resource rules (x-kubernetes-validations), the variables and result types of admission expressions, and the cost
// limits. Package celgo evaluates rules and expressions; a build without it contains only this package.
package expr

import (
	"fmt"
	"strings"
)

// The limits of the real server. Cost limits are in cost units.
const (
	RuleBudget  = 10_000_000 // all rules of one object, or all expressions of one policy, at run time
	MatchBudget = 2_500_000  // the match conditions of one webhook or policy
	messageMax  = 5 << 10    // bytes of the result of a messageExpression
)

// Error describes why an expression does not compile or cannot be evaluated.
type Error struct {
	Text string
	// Budget is set if the expression exceeded its cost limit. Nothing else is then evaluated.
	Budget bool
	// Internal is set if the expression compiles but the program cannot be instantiated. The real server reports this as
	// a separate error, not as an invalid value.
	Internal bool
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an Error with a formatted text.
func Errorf(format string, args ...any) *Error { return &Error{Text: fmt.Sprintf(format, args...)} }

// MessageText returns the result of a messageExpression as a message, or an error if it is not a valid message.
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
