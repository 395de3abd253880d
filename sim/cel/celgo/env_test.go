package celgo

import (
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
)

// TestEnvironments checks that the result of an expression depends on the minor of the server, and on whether it is stored.
func TestEnvironments(t *testing.T) {
	const ok = ""
	tests := []struct {
		expression string
		of         expr.Environment
		problem    string // of compilation; ok: none
		value      any
	}{
		{"[1, 2].slice(0, 1).size()", expr.Environment{Minor: 34}, "undeclared reference to 'slice'", nil}, // of 1.34 itself
		{"[1, 2].slice(0, 1).size()", expr.Environment{Minor: 34, Stored: true}, ok, int64(1)},
		{"[1, 2].slice(0, 1).size()", expr.Environment{Minor: 35}, ok, int64(1)},
		{"[1, 2].includes(2)", expr.Environment{Minor: 36, Stored: true}, "undeclared reference to 'includes'", nil},
		{"[1, 2].includes(2)", expr.Environment{Minor: 37}, "undeclared reference to 'includes'", nil},
		{"[1, 2].includes(2) && 'a'.includes('a') && !dyn('b').includes('a')", expr.Environment{Minor: 37, Stored: true}, ok, true},
		{"string(duration(5))", expr.Environment{Minor: 36}, "invalid duration argument", nil},
		{"string(duration(5))", expr.Environment{Minor: 37}, "found no matching overload for 'duration' applied to '(int)'", nil},
		{"object.`a.b`", expr.Environment{Minor: 36}, "unsupported syntax: '`'", nil},
		{"'`' + r'`' /* not */ == '`'", expr.Environment{Minor: 36}, "Syntax error", nil},
		{"'`' + r'`' == '``' // `", expr.Environment{Minor: 36}, ok, true},
		{"object.`a.b`", expr.Environment{Minor: 37}, ok, int64(1)},
		{"lists.range(-1).size()", expr.Environment{Minor: 36}, ok, int64(0)},
		{"object == 1", expr.Environment{}, ok, false}, // 1.36
	}
	for _, tt := range tests {
		is := is.New(t)
		p := NewCompiler(tt.of, expr.Declarations{}).Compile(tt.expression, expr.Any)
		if tt.problem != ok {
			is.True(p.Err() != nil)
			if p.Err() != nil && !strings.Contains(p.Err().Text, tt.problem) {
				t.Errorf("%s on %v: %s", tt.expression, tt.of, p.Err().Text)
			}
			continue
		}
		budget := int64(expr.RuleBudget)
		got, err := p.Eval(&expr.Input{Object: map[string]any{"a.b": int64(1)}}, &budget)
		is.True(err == nil)
		is.Equal(got, tt.value)
	}
}

// TestStructs checks that since 1.37 the comparison of a built-in kind with another type is an error.
func TestStructs(t *testing.T) {
	is := is.New(t)
	for _, tt := range []struct {
		minor   int
		structs bool
		want    string
	}{{36, true, ""}, {37, false, ""}, {37, true, "expression 'object == 1' resulted in error: no such overload"}} {
		p := NewCompiler(expr.Environment{Minor: tt.minor, Stored: true}, expr.Declarations{}).Compile("object == 1", expr.Bool)
		budget, got := int64(expr.RuleBudget), ""
		if _, err := p.Eval(&expr.Input{Object: map[string]any{"a": int64(1)}, Structs: tt.structs}, &budget); err != nil {
			got = err.Text
		}
		is.Equal(got, tt.want) // the error of the comparison
	}
}
