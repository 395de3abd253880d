package cel

import (
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// The types of package expr.
type (
	Error        = expr.Error
	Input        = expr.Input
	Access       = expr.Access
	Declarations = expr.Declarations
	Environment  = expr.Environment
	Known        = expr.Known
	Result       = expr.Result
	Types        = expr.Types
)

// The result types of admission expressions, and the cost limits.
const (
	Bool       = expr.Bool
	String     = expr.String
	StringNull = expr.StringNull
	Object     = expr.Object
	JSONPatch  = expr.JSONPatch

	RuleBudget  = expr.RuleBudget
	MatchBudget = expr.MatchBudget
)

// CheckRules is expr.CheckRules.
func CheckRules(schema map[string]any, p field.Path, readable func() bool) field.ErrorList {
	return expr.CheckRules(schema, p, readable)
}

// FieldPath is expr.FieldPath.
func FieldPath(text string, schema object.Object, brackets bool) (field.Path, object.Object, error) {
	return expr.FieldPath(text, schema, brackets)
}

// MessageText is expr.MessageText.
func MessageText(v any) (string, *Error) { return expr.MessageText(v) }
