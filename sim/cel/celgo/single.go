package celgo

import (
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

// Expression is a compiled expression of a configuration file, which has one variable. It is safe for concurrent use.
type Expression struct {
	expression string
	variable   expr.Variable
	ast        *cel.Ast
	program    cel.Program
}

// singleKey identifies an environment with one variable.
type singleKey struct {
	base     *environment
	variable expr.Variable
}

// singles caches the environments with one variable.
var singles sync.Map // singleKey → *cel.Env

// singleEnv returns the environment with one variable.
func singleEnv(key singleKey) *cel.Env {
	if env, ok := singles.Load(key); ok {
		return env.(*cel.Env)
	}
	names := typeNames{}
	var typ *cel.Type
	switch key.variable {
	case expr.Claims:
		typ = cel.MapType(cel.StringType, cel.AnyType)
	case expr.User:
		typ = userType(names)
	case expr.AccessReview:
		typ = accessReviewType(names)
	}
	var p types.Provider = &provider{key.base.CELTypeProvider(), names}
	env, err := key.base.Extend(cel.CustomTypeProvider(p), cel.Variable(string(key.variable), typ))
	if err != nil {
		panic("cel: the environment of " + string(key.variable) + " is wrong: " + err.Error())
	}
	singles.Store(key, env)
	return env
}

// accessReviewType returns the type of a SubjectAccessReviewSpec (k8s.io/apiserver/pkg/authorization/cel.buildRequestType).
func accessReviewType(t typeNames) *cel.Type {
	text := cel.StringType
	requirement := t.define("kubernetes.SelectorRequirement", map[string]*cel.Type{"key": text, "operator": text, "values": cel.ListType(text)}).typ
	selector := map[string]*cel.Type{"rawSelector": text, "requirements": cel.ListType(requirement)}
	resource := t.define("kubernetes.ResourceAttributes", map[string]*cel.Type{"namespace": text, "verb": text, "group": text, "version": text,
		"resource": text, "subresource": text, "name": text, "fieldSelector": t.define("kubernetes.FieldSelectorAttributes", selector).typ,
		"labelSelector": t.define("kubernetes.LabelSelectorAttributes", selector).typ}).typ
	path := t.define("kubernetes.NonResourceAttributes", map[string]*cel.Type{"path": text, "verb": text}).typ
	return t.define("kubernetes.SubjectAccessReviewSpec", map[string]*cel.Type{"resourceAttributes": resource, "nonResourceAttributes": path,
		"user": text, "groups": cel.ListType(text), "extra": cel.MapType(text, cel.ListType(text)), "uid": text}).typ
}

// userType returns the type of the user of a request.
func userType(t typeNames) *cel.Type {
	text := cel.StringType
	return t.define("kubernetes.UserInfo", map[string]*cel.Type{"username": text, "uid": text, "groups": cel.ListType(text),
		"extra": cel.MapType(text, cel.ListType(text))}).typ
}

// CompileExpression compiles an expression of a configuration file. want is expr.Bool or expr.Any.
func CompileExpression(of expr.Environment, v expr.Variable, expression string, want expr.Result) (*Expression, *expr.Error) {
	of.Stored = true
	base := environmentOf(of)
	env := singleEnv(singleKey{base, v})
	ast, problem := base.compile(env, expression)
	if problem != "" {
		return nil, expr.Errorf("compilation failed: %s", problem)
	}
	if typ := ast.OutputType(); want == expr.Bool && !typ.IsExactType(cel.BoolType) {
		if v == expr.AccessReview {
			return nil, expr.Errorf("must evaluate to %v but got %v", cel.BoolType, typ)
		}
		return nil, expr.Errorf("must evaluate to %v", cel.BoolType)
	}
	program, err := plan(env, ast, &costs{})
	if err != nil {
		return nil, noProgram(err)
	}
	return &Expression{expression, v, ast, program}, nil
}

// String returns the text of the expression.
func (e *Expression) String() string { return e.expression }

// Eval evaluates the expression with a value of its variable, and returns the result as JSON.
func (e *Expression) Eval(value map[string]any) (any, *expr.Error) {
	result, _, err := run(e.program, &single{string(e.variable), unescapedVal(untyped(value))})
	if err != nil {
		return nil, expr.Errorf("expression '%s' resulted in error: %v", e.expression, err)
	}
	return jsonOf(result)
}

// Selects reports whether the expression reads a field of its variable: claims.email or claims.?email.
func (e *Expression) Selects(field string) bool {
	found := false
	ast.PostOrderVisit(e.ast.NativeRep().Expr(), ast.NewExprVisitor(func(x ast.Expr) {
		switch x.Kind() {
		case ast.SelectKind:
			s := x.AsSelect()
			found = found || s.FieldName() == field && e.isVariable(s.Operand())
		case ast.CallKind:
			c := x.AsCall()
			if c.FunctionName() == operators.OptSelect && len(c.Args()) == 2 && e.isVariable(c.Args()[0]) {
				name := c.Args()[1]
				found = found || name.Kind() == ast.LiteralKind && name.AsLiteral() == types.String(field)
			}
		}
	}))
	return found
}

func (e *Expression) isVariable(x ast.Expr) bool {
	return x.Kind() == ast.IdentKind && x.AsIdent() == string(e.variable)
}

// single implements interpreter.Activation for one variable.
type single struct {
	name  string
	value ref.Val
}

func (s *single) ResolveName(name string) (any, bool) {
	if name != s.name {
		return nil, false
	}
	return s.value, true
}

func (*single) Parent() interpreter.Activation { return nil }

// unescapedVal returns a map or a list whose maps find a key also by its escaped form: claims.kubernetes__dot__io
// (k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.unescapeWrapper). It returns any other value unchanged.
func unescapedVal(v ref.Val) ref.Val {
	switch v := v.(type) {
	case *mapVal:
		return &unescapedMap{v}
	case *listVal:
		return &unescapedList{v}
	}
	return v
}

// unescapedMap is a map that finds a key also by its escaped form.
type unescapedMap struct{ *mapVal }

func (m *unescapedMap) Find(key ref.Val) (ref.Val, bool) {
	if name, ok := key.(types.String); ok {
		if plain, ok := unescape(string(name)); ok && plain != string(name) {
			key = types.String(plain)
		}
	}
	v, found := m.mapVal.Find(key)
	return unescapedVal(v), found
}

func (m *unescapedMap) Get(key ref.Val) ref.Val {
	if v, found := m.Find(key); found {
		return v
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

func (m *unescapedMap) Contains(key ref.Val) ref.Val {
	_, found := m.Find(key)
	return types.Bool(found)
}

// unescapedList is a list whose maps find a key also by its escaped form.
type unescapedList struct{ *listVal }

func (l *unescapedList) Get(index ref.Val) ref.Val { return unescapedVal(l.listVal.Get(index)) }

func (l *unescapedList) Iterator() traits.Iterator {
	return &iterator{at: func(i int) ref.Val { return l.Get(types.Int(i)) }, size: len(l.value)}
}
