//go:build nocel

package cel

import (
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
)

// Supported reports whether this build evaluates expressions.
const Supported = false

const refused = "this build of kubesim is without CEL (build tag nocel): rules and expressions are refused"

// Rules are the compiled rules of a schema: there are none in this build.
type Rules struct{}

// CompileVersion refuses a schema that has rules.
func CompileVersion(_ Environment, schema map[string]any, _ Known, p field.Path, _ map[string]bool) (*Rules, field.ErrorList) {
	if !expr.HasRules(schema) {
		return nil, nil
	}
	return nil, field.ErrorList{field.Forbidden(p, "x-kubernetes-validations: "+refused)}
}

// At has nothing to return.
func (r *Rules) At([]any) *Rules { return nil }

// Validate has nothing to apply.
func (r *Rules) Validate(any, *structural.Correlation, field.Path, *int64) (errs, ratcheted field.ErrorList) {
	return nil, nil
}

// CheckDeviceSelector refuses every selector.
func CheckDeviceSelector(Environment, string) (problem *Error, complex bool) {
	return expr.Errorf(refused), false
}

// Compiler refuses every expression.
type Compiler struct{}

// Program is an expression that was refused.
type Program struct{}

// NewCompiler returns a compiler that refuses every expression.
func NewCompiler(Environment, Declarations) *Compiler { return &Compiler{} }

// Variable refuses a variable.
func (c *Compiler) Variable(name, expression string) *Error { return expr.Errorf(refused) }

// VariableOf does nothing: no expression is compiled.
func (c *Compiler) VariableOf(other *Compiler, name string) {}

// Problems returns the error that expressions are not supported.
func (c *Compiler) Problems(string) string { return refused }

// Compile refuses an expression.
func (c *Compiler) Compile(expression string, want Result) *Program { return &Program{} }

// Err returns why the expression is refused.
func (p *Program) Err() *Error { return expr.Errorf(refused) }

// Eval refuses the expression.
func (p *Program) Eval(in *Input, budget *int64) (any, *Error) {
	return nil, expr.Errorf("compilation error: " + refused)
}
