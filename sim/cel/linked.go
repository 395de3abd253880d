//go:build !nocel

package cel

import (
	"github.com/kubesim/kubesim/sim/cel/celgo"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// Supported reports whether this build can evaluate expressions.
const Supported = true

// The types of package celgo.
type (
	Rules    = celgo.Rules
	Compiler = celgo.Compiler
	Program  = celgo.Program
	Shards   = celgo.Shards

	DeviceSelector = celgo.DeviceSelector
)

// CompileVersion calls celgo.CompileVersion.
func CompileVersion(env expr.Environment, schema map[string]any, known expr.Known, p field.Path, wrong map[string]bool) (*Rules, field.ErrorList) {
	return celgo.CompileVersion(env, schema, known, p, wrong)
}

// NewCompiler calls celgo.NewCompiler.
func NewCompiler(env expr.Environment, d expr.Declarations) *Compiler {
	return celgo.NewCompiler(env, d)
}

// ParseShards calls celgo.ParseShards.
func ParseShards(expression string) (Shards, error) { return celgo.ParseShards(expression) }

// CheckDeviceSelector calls celgo.CheckDeviceSelector.
func CheckDeviceSelector(env expr.Environment, expression string) (problem *expr.Error, complex bool) {
	return celgo.CheckDeviceSelector(env, expression)
}

// NewDeviceSelector calls celgo.NewDeviceSelector.
func NewDeviceSelector(env expr.Environment, expression string) (*DeviceSelector, error) {
	return celgo.NewDeviceSelector(env, expression)
}
