package celgo

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

// TestExpression evaluates expressions of configuration files over claims, users and access reviews.
func TestExpression(t *testing.T) {
	t.Parallel()
	claims := map[string]any{"sub": "jane", "exp": 12.0, "roles": []any{"a", "b"}, "kubernetes.io": map[string]any{"a.b": "c"},
		"list": []any{map[string]any{"x-y": "z"}}}
	review := map[string]any{"user": "jane", "groups": []any{"dev"}, "resourceAttributes": map[string]any{"namespace": "kube-system", "verb": "get"}}
	for _, x := range []struct {
		variable   expr.Variable
		value      map[string]any
		expression string
		want       any
	}{
		{expr.Claims, claims, "'k8s-' + claims.sub", "k8s-jane"},
		{expr.Claims, claims, "claims.exp - 2.0 == 10.0", true},
		{expr.Claims, claims, "dyn(claims.roles).map(r, 'system:' + r)[1]", "system:b"},
		{expr.Claims, claims, "claims.kubernetes__dot__io.a__dot__b", "c"},
		{expr.Claims, claims, "claims.list[0].x__dash__y + dyn(claims.list).map(l, l.x__dash__y)[0]", "zz"},
		{expr.Claims, claims, "claims.?missing.orValue('none')", "none"},
		{expr.User, map[string]any{"username": "jane", "groups": []any{"dev"}, "extra": map[string]any{"example.com/a": []any{"1"}}},
			"!user.username.startsWith('system:') && user.groups.all(g, g == 'dev') && user.extra['example.com/a'][0] == '1'", true},
		{expr.AccessReview, review, "has(request.resourceAttributes) && request.resourceAttributes.namespace == 'kube-system'", true},
		{expr.AccessReview, review, "has(request.nonResourceAttributes)", false},
		{expr.AccessReview, review, "request.user == 'jane' && 'dev' in request.groups && !has(request.resourceAttributes.labelSelector)", true},
	} {
		t.Run(x.expression, func(t *testing.T) {
			is := is.New(t)
			e, problem := CompileExpression(expr.Environment{}, x.variable, x.expression, expr.Any)
			if problem != nil {
				t.Fatal(problem.Text)
			}
			got, problem := e.Eval(x.value)
			if problem != nil {
				t.Fatal(problem.Text)
			}
			is.Equal(got, x.want)
		})
	}
}

// TestExpressionProblems checks the errors of expressions that do not compile or that fail.
func TestExpressionProblems(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	_, problem := CompileExpression(expr.Environment{}, expr.Claims, "'a'", expr.Bool)
	is.Equal(problem.Text, "must evaluate to bool")
	_, problem = CompileExpression(expr.Environment{}, expr.AccessReview, "request.user", expr.Bool)
	is.Equal(problem.Text, "must evaluate to bool but got string")
	_, problem = CompileExpression(expr.Environment{}, expr.AccessReview, "request.labelSelector.requirements", expr.Bool)
	is.True(problem != nil) // it is a field of resourceAttributes
	e, problem := CompileExpression(expr.Environment{}, expr.Claims, "claims.none", expr.Any)
	is.True(problem == nil)
	_, problem = e.Eval(map[string]any{})
	is.Equal(problem.Text, "expression 'claims.none' resulted in error: no such key: none")
}

// TestSelects checks which fields of its variable an expression reads.
func TestSelects(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	for expression, want := range map[string]bool{
		"claims.email":                          true,
		"claims.?email.orValue('') == 'a'":      true,
		"[1].all(i, claims.email == 'a')":       true,
		"claims.other.email":                    false,
		"claims['email']":                       false,
		"claims.email_verified == true || true": false,
	} {
		e, problem := CompileExpression(expr.Environment{}, expr.Claims, expression, expr.Any)
		is.True(problem == nil)
		is.Equal(e.Selects("email"), want) // expression
	}
}
