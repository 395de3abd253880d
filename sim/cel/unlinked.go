//go:build nocel

package cel

import (
	"errors"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Supported reports whether this build can evaluate expressions.
const Supported = false

const refused = "this build of kubesim is without CEL (build tag nocel): rules and expressions are refused"

// Rules are the compiled rules of a schema. This build has none.
type Rules struct{}

// CompileVersion rejects a schema that has rules.
func CompileVersion(_ expr.Environment, schema map[string]any, _ expr.Known, p field.Path, _ map[string]bool) (*Rules, field.ErrorList) {
	if !expr.HasRules(schema) {
		return nil, nil
	}
	return nil, field.ErrorList{field.Forbidden(p, "x-kubernetes-validations: "+refused)}
}

// At returns nil, because there are no rules.
func (r *Rules) At([]any) *Rules { return nil }

// Validate returns no errors, because there are no rules.
func (r *Rules) Validate(any, *structural.Correlation, field.Path, *int64) (errs, ratcheted field.ErrorList) {
	return nil, nil
}

// Shards is a selector of shards. This build has only the zero value, which selects all objects.
type Shards struct{}

// ParseShards rejects every selector.
func ParseShards(string) (Shards, error) { return Shards{}, errors.New(refused) }

// Empty returns true.
func (Shards) Empty() bool { return true }

// ByNamespace returns false.
func (Shards) ByNamespace() bool { return false }

// Match returns true.
func (Shards) Match(string) bool { return true }

// String returns "".
func (Shards) String() string { return "" }

// CheckDeviceSelector rejects every selector.
func CheckDeviceSelector(expr.Environment, string) (problem *expr.Error, complex bool) {
	return expr.Errorf(refused), false
}

// DeviceSelector is a rejected expression.
type DeviceSelector struct{}

// NewDeviceSelector rejects every selector.
func NewDeviceSelector(expr.Environment, string) (*DeviceSelector, error) {
	return nil, errors.New(refused)
}

// Match returns the error that expressions are not supported.
func (*DeviceSelector) Match(string, object.Object) (bool, error) { return false, errors.New(refused) }

// Compiler rejects every expression.
type Compiler struct{}

// Program is a rejected expression.
type Program struct{}

// NewCompiler returns a compiler that rejects every expression.
func NewCompiler(expr.Environment, expr.Declarations) *Compiler { return &Compiler{} }

// Variable returns the error that expressions are not supported.
func (c *Compiler) Variable(name, expression string) *expr.Error { return expr.Errorf(refused) }

// VariableOf does nothing, because no expression is compiled.
func (c *Compiler) VariableOf(other *Compiler, name string) {}

// Problems returns the error that expressions are not supported.
func (c *Compiler) Problems(string) string { return refused }

// Compile returns a Program that fails.
func (c *Compiler) Compile(expression string, want expr.Result) *Program { return &Program{} }

// Err returns the error that expressions are not supported.
func (p *Program) Err() *expr.Error { return expr.Errorf(refused) }

// Eval returns the error that expressions are not supported.
func (p *Program) Eval(in *expr.Input, budget *int64) (any, *expr.Error) {
	return nil, expr.Errorf("compilation error: " + refused)
}
