package celgo

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

func TestExpressions(t *testing.T) {
	in := func() *expr.Input {
		return &expr.Input{Object: map[string]any{"metadata": map[string]any{"name": "x", "namespace": "ns"}, "data": map[string]any{"a": "1"}},
			Request:         map[string]any{"operation": "CREATE", "userInfo": map[string]any{"username": "u", "groups": []any{"g"}}, "dryRun": false},
			NamespaceObject: map[string]any{"metadata": map[string]any{"labels": map[string]any{"env": "prod"}}},
			Params:          map[string]any{"max": int64(3)},
			Authorizer: func(a expr.Access) expr.Decision {
				return expr.Decision{Allowed: a.Verb == "get" && a.ServiceAccountName == "", Reason: "because"}
			},
			Resource: expr.Access{Resource: "pods"}}
	}
	tests := []struct {
		expression string
		want       expr.Result
		value      any
		err        string
	}{
		{"object.metadata.name == 'x' && oldObject == null", expr.Bool, true, ""},
		{"request.operation == 'CREATE' && request.userInfo.username == 'u' && !has(request.namespace)", expr.Bool, true, ""},
		{"namespaceObject.metadata.labels['env'] == 'prod'", expr.Bool, true, ""},
		{"object.metadata.name.size() <= params.max", expr.Bool, true, ""},
		{"variables.double + 1", expr.Any, int64(5), ""},
		{"variables.broken == 1", expr.Bool, nil, `expression 'variables.broken == 1' resulted in error: composited variable "broken" fails to evaluate: no such key: nope`},
		{"variables.wrong == 1", expr.Bool, nil, `expression 'variables.wrong == 1' resulted in error: composited variable "wrong" fails to compile: compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')`},
		{"authorizer.group('').resource('pods').check('get').allowed()", expr.Bool, true, ""},
		{"authorizer.serviceAccount('ns', 'sa').group('').resource('pods').check('get').allowed()", expr.Bool, false, ""},
		{"authorizer.requestResource.check('get').reason()", expr.Any, "because", ""},
		{"object.data.zz == 'x'", expr.Bool, nil, "expression 'object.data.zz == 'x'' resulted in error: no such key: zz"},
		{"'text'", expr.Bool, nil, "compilation error: must evaluate to bool but got string"},
		{"1", expr.StringNull, nil, "compilation error: must evaluate to one of [string null_type] but got int"},
		{"request.nope", expr.Any, nil, "compilation error: compilation failed: ERROR: <input>:1:8: undefined field 'nope'\n | request.nope\n | .......^"},
		{"Object{spec: Object.spec{replicas: 3}, metadata: Object.metadata{labels: {'a': 'b'}}}", expr.Object,
			map[string]any{"spec": map[string]any{"replicas": int64(3)}, "metadata": map[string]any{"labels": map[string]any{"a": "b"}}}, ""},
		{"Object{spec: Object.wrong{}}", expr.Object, nil, `type mismatch: unexpected type name "Object.wrong", expected "Object.spec", which matches field name path from root Object type`},
		{"[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b~c'), value: 1.5}]", expr.JSONPatch,
			[]any{map[string]any{"op": "add", "path": "/metadata/labels/a~1b~0c", "value": 1.5}}, ""},
	}
	c := NewCompiler(expr.Environment{}, expr.Declarations{Params: true, Authorizer: true, Patch: true})
	_ = c.Variable("single", "2")
	_ = c.Variable("double", "variables.single * 2")
	_ = c.Variable("broken", "object.nope")
	_ = c.Variable("wrong", "x")
	for _, tt := range tests {
		is := is.New(t)
		budget := int64(expr.RuleBudget)
		got, err := c.Compile(tt.expression, tt.want).Eval(in(), &budget)
		if tt.err != "" {
			is.True(err != nil) // the evaluation fails
			if !strings.HasPrefix(err.Text, tt.err) {
				is.Equal(err.Text, tt.err) // with this text
			}
			continue
		}
		if err != nil {
			t.Fatal(tt.expression, err)
		}
		is.Equal(got, tt.value)
		is.True(budget < expr.RuleBudget) // the cost was charged
	}
}

func TestExpressionBudget(t *testing.T) {
	is := is.New(t)
	list := make([]any, 1000)
	for i := range list {
		list[i] = int64(i)
	}
	c := NewCompiler(expr.Environment{}, expr.Declarations{})
	budget := int64(1000)
	_, err := c.Compile("object.all(x, x >= 0)", expr.Bool).Eval(&expr.Input{Object: list}, &budget)
	is.True(err != nil && err.Budget) // more than the budget
	is.Equal(err.Text, "validation failed due to running out of cost budget, no further validation rules will be run")
	is.True(budget < 0)
	_ = c.Variable("v", "object.map(x, x)")
	budget = expr.RuleBudget
	_, err = c.Compile("variables.v.size() == variables.v.size()", expr.Bool).Eval(&expr.Input{Object: list}, &budget)
	is.True(err == nil)
	once := expr.RuleBudget - budget
	is.True(once > 1000 && once < 40000) // a variable is evaluated once
}
