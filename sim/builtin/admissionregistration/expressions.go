package admissionregistration

import (
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// expressions compile the CEL expressions of a policy or a webhook configuration. The variables of an expression depend on its place: a
// condition has no variables, a message no authorizer, and only a mutation has the types of patches. A nil value checks nothing.
type expressions struct {
	minor     int // of the server
	params    bool
	variables []object.Object // that were declared so far
	named     bool            // there are variables, be it without an expression
	compilers map[environment]*cel.Compiler
	declared  map[*cel.Compiler]int // how many of the variables
}

// environment is what decides which compiler an expression is for. Stored ones that stay as they are may use more than new ones.
type environment struct {
	cel.Declarations
	stored bool
}

// expressionsOf returns the compiler for the expressions in a value, or nil if the value is unchanged: stored expressions compile.
func expressionsOf(ctx *resource.Context, at field.Cursor, params bool) *expressions {
	if at.Updates() && !at.Changed() {
		return nil
	}
	return &expressions{minor: ctx.Server.Minor, params: params, compilers: map[environment]*cel.Compiler{}, declared: map[*cel.Compiler]int{}}
}

// compiler returns the one for d, which knows the variables of before.
func (e *expressions) compiler(at field.Cursor, d cel.Declarations) *cel.Compiler {
	d.Params = e.params
	of := environment{d, at.Updates() && !at.Changed()}
	c := e.compilers[of]
	if c == nil {
		c = cel.NewCompiler(cel.Environment{Minor: e.minor, Stored: of.stored}, d)
		e.compilers[of] = c
	}
	for ; !d.Alone && e.declared[c] < len(e.variables); e.declared[c]++ {
		v := e.variables[e.declared[c]]
		if !d.Authorizer { // variables have the type that they have with it
			with := d
			with.Authorizer = true
			c.VariableOf(e.compiler(at, with), v.String("name"))
			continue
		}
		_ = c.Variable(v.String("name"), v.String("expression")) // reported where it stands
	}
	return c
}

// check compiles an expression. That there is one at all is another rule's business.
func (e *expressions) check(at field.Cursor, d cel.Declarations, want cel.Result) {
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

// declare makes a variable known to the expressions after it, and checks its own.
func (e *expressions) declare(v field.Cursor) {
	text := v.String("expression")
	if e == nil {
		return
	}
	if strings.TrimSpace(text) == "" {
		e.named = true
		return
	}
	c := e.compiler(v.Child("expression"), cel.Declarations{Authorizer: true})
	e.variables = append(e.variables, v.Object())
	e.declared[c]++
	if err := c.Variable(v.String("name"), text); err != nil {
		refuse(v.Child("expression"), err)
	}
}

// refuse reports why an expression cannot be used.
func refuse(at field.Cursor, err *cel.Error) {
	if err.Internal {
		at.Internal(err)
		return
	}
	at.Invalid(at.String(), err.Text)
}
