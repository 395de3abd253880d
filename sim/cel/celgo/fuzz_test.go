package celgo

import (
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// FuzzRules checks that no schema and no rule makes the package panic or run for a long time.
func FuzzRules(f *testing.F) {
	f.Add(`{"type":"object","properties":{"spec":{"type":"object","x-kubernetes-validations":[{"rule":"self == oldSelf"}]}}}`, `{"spec":{"a":1}}`, `self.spec == self.spec`)
	f.Add(`{"type":"object","additionalProperties":{"type":"array","items":{"x-kubernetes-int-or-string":true}}}`, `{"a":[1,"x"]}`, `self.all(k, self[k].exists(x, type(x) == int))`)
	f.Add(`{"type":"array","items":{"type":"string","format":"date-time"}}`, `{}`, `self[0].getFullYear() > 1`)
	f.Add(`{"type":"object"}`, `{"a":1}`, `[?object.a].size() == 1 || {?'k': object.?a}.k == 1`)
	f.Fuzz(func(t *testing.T, schema, value, text string) {
		defer tolerate()
		s, err := object.Parse([]byte(schema))
		if err != nil {
			return
		}
		v, err := object.Parse([]byte(value))
		if err != nil {
			return
		}
		if list := s.List("x-kubernetes-validations"); list == nil {
			s["x-kubernetes-validations"] = []any{map[string]any{"rule": text, "messageExpression": text, "fieldPath": text}}
		}
		expr.CheckRules(s, field.Root("p"), func() bool { return true })
		expr.FieldPath(text, s, false)
		rules, _ := CompileVersion(expr.Environment{}, s, expr.Known{}, field.Root("p"), nil)
		budget := int64(expr.RuleBudget)
		rules.Validate(map[string]any(v), structural.Correlate(structural.Parse(s, 36), map[string]any(v), map[string]any(v)), field.Path{}, &budget)
		c := NewCompiler(expr.Environment{}, expr.Declarations{Params: true, Authorizer: true, Patch: true})
		budget = expr.RuleBudget
		_, _ = c.Compile(text, expr.Any).Eval(&expr.Input{Object: v, Params: s}, &budget)
	})
}

// tolerate recovers from a bug of cel-go that a real server has, too: checking list and map literals panics at an
// optional entry whose type is unknown.
func tolerate() {
	if p := recover(); p != nil && !strings.Contains(string(debug.Stack()), "homogeneousAggregateLiteralValidator") {
		panic(p)
	}
}

// TestHostileRules checks that expensive rules are rejected or stopped quickly.
func TestHostileRules(t *testing.T) {
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 200) + `{"type":"string","x-kubernetes-validations":[{"rule":"self != ''"}]}` + strings.Repeat(`}}`, 200)
	text := func(s string) string { return string(object.AppendString(nil, s)) }
	tests := map[string]string{
		"nested brackets":  spec(`"s":{"type":"string"}`, `{"rule":`+text(strings.Repeat("(", 5000)+"true"+strings.Repeat(")", 5000))+`}`),
		"long expression":  spec(`"s":{"type":"string"}`, `{"rule":`+text(strings.Repeat("true && ", 30000)+"true")+`}`),
		"nested lists":     spec(`"l":{"type":"array","items":{"type":"string"}}`, `{"rule":"self.l.all(a, self.l.all(b, self.l.all(c, a + b == c)))"}`),
		"growing strings":  spec(`"l":{"type":"array","items":{"type":"string"}}`, `{"rule":"self.l.map(a, self.l.map(b, self.l.map(c, a + b + c))).size() > 0"}`),
		"regex":            spec(`"s":{"type":"string"}`, `{"rule":"self.s.matches('(((((a{1,100}){1,100}){1,100}))))')"}`),
		"exponential":      spec(`"s":{"type":"string"}`, `{"rule":"[0,1].all(a,[0,1].all(b,[0,1].all(c,[0,1].all(d,[0,1].all(e,[0,1].all(f,[0,1].all(g,[0,1].all(h,[0,1].all(i,[0,1].all(j,true))))))))))"}`),
		"deep schema":      deep,
		"quantity":         spec(`"s":{"type":"string"}`, `{"rule":"quantity('1e1000000000').add(quantity('1e-1000000000')).isGreaterThan(quantity('1'))"}`),
		"format width":     spec(`"s":{"type":"string"}`, `{"rule":"'%.100000f'.format([1.0]).size() > 1"}`),
		"doubling message": spec(`"s":{"type":"string"}`, `{"rule":"false","messageExpression":`+text("cel.bind(a, self.s + self.s, a)")+`}`),
	}
	items := make([]any, 3000)
	for i := range items {
		items[i] = strings.Repeat("a", 100)
	}
	value := map[string]any{"spec": map[string]any{"l": items, "s": strings.Repeat("a", 1<<20)}}
	for name, schema := range tests { // order does not matter: cases are independent
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			start := time.Now()
			rules, _ := CompileVersion(expr.Environment{}, parse(t, schema), expr.Known{}, field.Path{}, nil)
			budget := int64(expr.RuleBudget)
			rules.Validate(value, nil, field.Path{}, &budget)
			is.True(time.Since(start) < 5*time.Second) // fast enough
		})
	}
}

// TestSameCost checks that the cost and the message of a rule that iterates over maps are deterministic.
func TestSameCost(t *testing.T) {
	is := is.New(t)
	rules, errs := CompileVersion(expr.Environment{}, parse(t, spec(`"m":{"type":"object","maxProperties":9,"additionalProperties":{"type":"integer"}}`,
		`{"rule":"{'c':3,'a':1,'b':2}.exists(k, k == 'a') && self.m.exists(k, k == 'z') && {'x':1,'y':2}.map(k, k).size() == 3","messageExpression":"{'q':1,'p':2,'r':3}.transformMap(k, v, v).map(k, k)[0]"}`)), expr.Known{}, field.Path{}, nil)
	is.Equal(len(errs), 0)
	first := ""
	for range 50 {
		budget := int64(expr.RuleBudget)
		got, _ := rules.Validate(map[string]any{"spec": map[string]any{"m": map[string]any{"b": int64(1), "z": int64(1), "c": int64(3)}}}, nil, field.Path{}, &budget)
		text := got.Text() + string(object.AppendJSON(nil, budget))
		if first == "" {
			first = text
		}
		is.Equal(text, first) // independent of the map order
	}
}

func BenchmarkCompile(b *testing.B) {
	schema := parse(b, spec(`"min":{"type":"integer"},"max":{"type":"integer"}`, `{"rule":"self.min <= self.max"}`))
	for b.Loop() {
		CompileVersion(expr.Environment{}, schema, expr.Known{}, field.Path{}, nil)
	}
}

func BenchmarkValidate(b *testing.B) {
	rules, _ := CompileVersion(expr.Environment{}, parse(b, spec(`"min":{"type":"integer"},"max":{"type":"integer"}`, `{"rule":"self.min <= self.max"}`)), expr.Known{}, field.Path{}, nil)
	obj := parse(b, `{"spec":{"min":1,"max":2}}`)
	for b.Loop() {
		budget := int64(expr.RuleBudget)
		rules.Validate(obj, nil, field.Path{}, &budget)
	}
}
