package admissionregistration

import (
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// expressions compiles the CEL expressions of a policy or a webhook configuration. The field of an expression determines what it
// can use: conditions have no variables, messages have no authorizer, and only mutations have the types of patches. A nil
// *expressions checks nothing.
type expressions struct {
	minor     int // minor version of the server
	params    bool
	variables []object.Object // variables declared so far
	named     bool            // there are named variables, even if without an expression
	compilers map[environment]*cel.Compiler
	declared  map[*cel.Compiler]int // number of variables that have been declared in each compiler
}

// environment identifies the compiler for an expression. Unchanged stored expressions may use more features than new ones.
type environment struct {
	expr.Declarations
	stored bool
}

// expressionsOf returns an expressions value for the object at the cursor. If the object is unchanged, it returns nil, because
// stored expressions need no check.
func expressionsOf(ctx *resource.Context, at field.Cursor, params bool) *expressions {
	if at.Updates() && !at.Changed() {
		return nil
	}
	return &expressions{minor: ctx.Server.Minor, params: params, compilers: map[environment]*cel.Compiler{}, declared: map[*cel.Compiler]int{}}
}

// compiler returns the compiler for d, with the variables declared so far.
func (e *expressions) compiler(at field.Cursor, d expr.Declarations) *cel.Compiler {
	d.Params = e.params
	of := environment{d, at.Updates() && !at.Changed()}
	c := e.compilers[of]
	if c == nil {
		c = cel.NewCompiler(expr.Environment{Minor: e.minor, Stored: of.stored}, d)
		e.compilers[of] = c
	}
	for ; !d.Alone && e.declared[c] < len(e.variables); e.declared[c]++ {
		v := e.variables[e.declared[c]]
		if !d.Authorizer { // a variable has the same type as in expressions with the authorizer
			with := d
			with.Authorizer = true
			c.VariableOf(e.compiler(at, with), v.String("name"))
			continue
		}
		_ = c.Variable(v.String("name"), v.String("expression")) // declare reports this error
	}
	return c
}

// check compiles an expression. It accepts an empty expression, because other rules report a missing one.
func (e *expressions) check(at field.Cursor, d expr.Declarations, want expr.Result) {
	expression := at.String()
	if e == nil || strings.TrimSpace(expression) == "" {
		return
	}
	if !d.Patch && len(e.variables) == 0 && !e.named {
		d.Alone = true
	}
	if err := e.compiler(at, d).Compile(expression, want).Err(); err != nil {
		refuse(at, err)
	}
}

// declare makes a variable available to the following expressions, and checks the variable's expression.
func (e *expressions) declare(v field.Cursor) {
	text := v.String("expression")
	if e == nil {
		return
	}
	if strings.TrimSpace(text) == "" {
		e.named = true
		return
	}
	c := e.compiler(v.Child("expression"), expr.Declarations{Authorizer: true})
	e.variables = append(e.variables, v.Object())
	e.declared[c]++
	if err := c.Variable(v.String("name"), text); err != nil {
		refuse(v.Child("expression"), err)
	}
}

// refuse reports that an expression is invalid.
func refuse(at field.Cursor, err *expr.Error) {
	if err.Internal {
		at.Internal(err)
		return
	}
	at.Invalid(at.String(), err.Text)
}
