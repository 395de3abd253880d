//go:build !nocel

package cel

import (
	"github.com/kubesim/kubesim/sim/cel/celgo"
	"github.com/kubesim/kubesim/sim/field"
)

// Supported reports whether this build evaluates expressions.
const Supported = true

// The types of package celgo.
type (
	Rules    = celgo.Rules
	Compiler = celgo.Compiler
	Program  = celgo.Program
)

// CompileVersion is celgo.CompileVersion.
func CompileVersion(env Environment, schema map[string]any, known Known, p field.Path, wrong map[string]bool) (*Rules, field.ErrorList) {
	return celgo.CompileVersion(env, schema, known, p, wrong)
}

// NewCompiler is celgo.NewCompiler.
func NewCompiler(env Environment, d Declarations) *Compiler { return celgo.NewCompiler(env, d) }

// CheckDeviceSelector is celgo.CheckDeviceSelector.
func CheckDeviceSelector(env Environment, expression string) (problem *Error, complex bool) {
	return celgo.CheckDeviceSelector(env, expression)
}
