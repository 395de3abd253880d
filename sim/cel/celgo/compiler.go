package celgo

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

// Compiler compiles the expressions of one policy or webhook, which share variables.
type Compiler struct {
	base      *environment
	env       *cel.Env
	variables map[string]*Program
	types     *decl // the types of the variables
}

// Program is a compiled expression. It is safe for concurrent use.
type Program struct {
	expression string
	program    cel.Program
	err        *expr.Error // compilation error
	compiler   *Compiler
	want       expr.Result
}

// NewCompiler returns a compiler for expressions with the given variables.
func NewCompiler(of expr.Environment, d expr.Declarations) *Compiler {
	base := environmentOf(of)
	c := &Compiler{base: base, variables: map[string]*Program{}}
	c.types = &decl{typ: cel.ObjectType("kubernetes.variables"), fields: map[string]*decl{}}
	names := typeNames{"kubernetes.variables": c.types}
	request, namespace := requestType(names), namespaceType(names)
	var p types.Provider = &provider{base.CELTypeProvider(), names}
	if d.Patch {
		p = &patchProvider{p}
	}
	object, params := cel.DynType, cel.DynType
	if t := d.Types; t != nil {
		object, params = names.declared(base, t.Object, t.ObjectName), names.declared(base, t.Params, t.ParamsName)
	}
	options := []cel.EnvOption{cel.CustomTypeProvider(p),
		cel.Variable("object", object), cel.Variable("oldObject", object),
		cel.Variable("request", request.typ), cel.Variable("namespaceObject", namespace.typ)}
	if !d.Alone {
		options = append(options, cel.Variable("variables", c.types.typ))
	}
	if d.Params {
		options = append(options, cel.Variable("params", params))
	}
	if d.Authorizer {
		options = append(options, cel.Variable("authorizer", typeAuthorizer), cel.Variable("authorizer.requestResource", typeResourceCheck))
	}
	if d.Patch {
		options = append(options, jsonPatchFunctions()...)
	}
	env, err := base.Extend(options...)
	if err != nil {
		panic("cel: the environment of policies is wrong: " + err.Error())
	}
	c.env = env
	return c
}

// declared returns the type that a schema describes. If the schema is nil, the type is dyn.
func (t typeNames) declared(env *environment, schema map[string]any, name string) *cel.Type {
	if schema == nil {
		return cel.DynType
	}
	return t.declare(newNode(env, schema, true), name).typ
}

// Problems returns the compilation errors of an expression, which may have any result type. If it compiles, Problems returns "".
func (c *Compiler) Problems(expression string) string {
	if _, issues := c.env.Compile(expression); issues.Err() != nil {
		return problems(issues, expression)
	}
	return ""
}

// Variable compiles the expression of variables.name for later expressions. If it does not compile, expressions that use
// the variable fail.
func (c *Compiler) Variable(name, expression string) *expr.Error {
	p, typ := c.compile(expression, expr.Any)
	c.variables[name] = p
	c.types.fields[name] = &decl{typ: typ}
	return p.err
}

// VariableOf declares a variable of another compiler for later expressions. The variable has the same type as in that compiler.
func (c *Compiler) VariableOf(other *Compiler, name string) {
	c.types.fields[name] = other.types.fields[name]
}

// Compile compiles an expression. If it does not compile, the Err method of the Program returns the error.
func (c *Compiler) Compile(expression string, want expr.Result) *Program {
	p, _ := c.compile(expression, want)
	return p
}

// Err returns the compilation error, or nil.
func (p *Program) Err() *expr.Error { return p.err }

// results are the types that each Result allows.
var results = map[expr.Result][]*cel.Type{
	expr.Bool: {cel.BoolType}, expr.String: {cel.StringType}, expr.StringNull: {cel.StringType, cel.NullType}, expr.Any: {cel.AnyType},
	expr.Object: {cel.ObjectType("Object")}, expr.JSONPatch: {cel.ListType(cel.ObjectType("JSONPatch"))},
}

func (c *Compiler) compile(expression string, want expr.Result) (*Program, *cel.Type) {
	p := &Program{expression: expression, compiler: c, want: want}
	ast, problem := c.base.compile(c.env, expression)
	if problem != "" {
		p.err = expr.Errorf("compilation failed: %s", problem)
		return p, cel.DynType
	}
	typ := ast.OutputType()
	allowed := results[want]
	if want != expr.Any && !slices.ContainsFunc(allowed, func(t *cel.Type) bool { return typ.IsExactType(t) }) {
		p.err = expr.Errorf("must evaluate to %v but got %v", allowed[0], typ)
		if len(allowed) > 1 {
			p.err = expr.Errorf("must evaluate to one of %v but got %v", allowed, typ)
		}
		return p, cel.DynType
	}
	program, err := plan(c.env, ast, &costs{})
	if err != nil {
		p.err = noProgram(err)
		return p, cel.DynType
	}
	p.program = program
	return p, declaredType(typ)
}

// noProgram returns the error for an expression that cannot be instantiated as a program, because a call with constant arguments
// fails.
func noProgram(err error) *expr.Error {
	return &expr.Error{Text: "program instantiation failed: " + err.Error(), Internal: true}
}

// declaredType returns the declared type of a variable. It keeps simple types, and lists and maps of them; all other
// types become dyn.
func declaredType(t *cel.Type) *cel.Type {
	switch t.Kind() {
	case types.BoolKind, types.BytesKind, types.DoubleKind, types.DurationKind, types.IntKind, types.NullTypeKind,
		types.StringKind, types.TimestampKind, types.UintKind:
		return t
	case types.ListKind:
		return cel.ListType(declaredType(t.Parameters()[0]))
	case types.MapKind:
		return cel.MapType(declaredType(t.Parameters()[0]), declaredType(t.Parameters()[1]))
	}
	return cel.DynType
}

// Eval evaluates the expression and subtracts its cost from budget. If the field Budget of the error is set, the budget is
// exhausted, and the caller must not evaluate anything else. Any other error affects only this expression.
func (p *Program) Eval(in *expr.Input, budget *int64) (any, *expr.Error) {
	v, e := p.eval(in, budget)
	if e != nil {
		return nil, e
	}
	if p.want == expr.Object || p.want == expr.JSONPatch {
		return p.mutation(v)
	}
	out, e := jsonOf(v)
	if e != nil {
		return nil, expr.Errorf("expression '%v' resulted in error: %v", p.expression, e.Text)
	}
	return out, nil
}

func (p *Program) eval(in *expr.Input, budget *int64) (ref.Val, *expr.Error) {
	if p.err != nil {
		return nil, expr.Errorf("compilation error: %s", p.err.Text)
	}
	result, cost, err := run(p.program, &admissionVars{in, p.compiler})
	cost, in.Spent = cost+in.Spent, 0
	if !charge(budget, cost) {
		return nil, &expr.Error{Budget: true, Text: outOfBudget}
	}
	if err != nil {
		return nil, expr.Errorf("expression '%v' resulted in error: %v", p.expression, err)
	}
	return result, nil
}

// mutation returns the result of a mutation: an apply configuration, or a list of operations.
func (p *Program) mutation(v ref.Val) (any, *expr.Error) {
	check := func(v ref.Val) *expr.Error {
		if o, ok := v.(*objectVal); ok {
			if err := checkNames(o, o.name); err != nil {
				return expr.Errorf("type mismatch: %s", err.Text)
			}
		}
		return nil
	}
	if p.want == expr.Object {
		if err := check(v); err != nil {
			return nil, err
		}
		return jsonOf(v)
	}
	return jsonOfPatch(v, check)
}

// jsonOfPatch converts a list of operations to JSON, without empty fields.
func jsonOfPatch(v ref.Val, check func(ref.Val) *expr.Error) ([]any, *expr.Error) {
	list, ok := v.(traits.Lister)
	if !ok {
		return nil, expr.Errorf("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	out := []any{}
	for v := range elements(list) {
		o, ok := v.(*objectVal)
		if !ok {
			return nil, expr.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %v", v.Type())
		}
		if value := o.fields["value"]; value != nil {
			if err := check(value); err != nil {
				return nil, err
			}
		}
		op, err := o.json()
		if err != nil {
			return nil, expr.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %v", err.Text)
		}
		m := op.(map[string]any)
		for _, name := range []string{"op", "path"} {
			if m[name] == nil {
				m[name] = ""
			}
		}
		if m["from"] == "" {
			delete(m, "from")
		}
		out = append(out, m)
	}
	return out, nil
}

// admissionVars provides the variables of one evaluation.
type admissionVars struct {
	in       *expr.Input
	compiler *Compiler
}

func (v *admissionVars) ResolveName(name string) (any, bool) {
	switch name {
	case "object":
		return v.value(v.in.Object, v.in.Structs), true
	case "oldObject":
		return v.value(v.in.OldObject, v.in.Structs), true
	case "request":
		return v.value(v.in.Request, true), true
	case "namespaceObject":
		return v.value(v.in.NamespaceObject, true), true
	case "params":
		return v.value(v.in.Params, v.in.ParamsStructs), true
	case "variables":
		return &lazyVal{mapVal: &mapVal{value: map[string]any{}}, vars: v}, true
	case "authorizer", "authorizer.requestResource":
		if v.in.WithoutAuthorizer {
			return nil, false
		}
		if name != "authorizer" {
			return questionVal(typeResourceCheck, question{ask: v.ask(), Access: v.in.Resource}), true
		}
		return questionVal(typeAuthorizer, question{ask: v.ask()}), true
	}
	return nil, false
}

// value converts a value to the form that expressions use. ofStruct reports whether it belongs to an object of a built-in kind.
func (v *admissionVars) value(x any, ofStruct bool) ref.Val {
	if ofStruct && v.compiler.base.since(37) {
		return structOf(x)
	}
	return untyped(x)
}

func (v *admissionVars) Parent() interpreter.Activation { return nil }

func (v *admissionVars) ask() expr.Authorizer {
	if v.in.Authorizer == nil {
		return func(expr.Access) expr.Decision { return expr.Decision{Allowed: true} }
	}
	return v.in.Authorizer
}

// lazyVal is the value of variables. Each variable is evaluated on first use.
type lazyVal struct {
	*mapVal
	vars *admissionVars
}

func (l *lazyVal) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	p := l.vars.compiler.variables[string(name)]
	if p == nil {
		return nil, false
	}
	return l.evaluate(string(name), p), true
}

func (l *lazyVal) Get(key ref.Val) ref.Val {
	if v, ok := l.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key)
}

func (l *lazyVal) Contains(key ref.Val) ref.Val {
	name, ok := key.(types.String)
	return types.Bool(ok && l.vars.compiler.variables[string(name)] != nil)
}

func (l *lazyVal) evaluate(name string, p *Program) ref.Val {
	in := l.vars.in
	if v, ok := in.Evaluated[name].(ref.Val); ok {
		return v
	}
	if p.err != nil {
		return types.NewErr("composited variable %q fails to compile: %v", name, p.err)
	}
	v, cost, err := run(p.program, l.vars)
	in.Spent += cost
	if err != nil {
		v = types.NewErr("composited variable %q fails to evaluate: %v", name, err)
	}
	if in.Evaluated == nil {
		in.Evaluated = map[string]any{}
	}
	in.Evaluated[name] = v
	return v
}
