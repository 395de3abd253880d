package celgo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// Rules are the compiled rules of a schema and of all schemas below it. They are safe for concurrent use.
type Rules struct{ node *node }

// checkedRule is one compiled rule.
type checkedRule struct {
	checkedExpression
	source  *expr.Rule
	usesOld bool
	message checkedExpression // messageExpression
	path    field.Path        // fieldPath, as printed in errors
}

// checkedExpression is a compiled expression. If there is no expression, or if it does not compile, program is nil. err is the
// compilation error.
type checkedExpression struct {
	program cel.Program
	err     string
	cost    uint64
}

// CompileVersion compiles the rules (x-kubernetes-validations) in the structural schema of a custom resource version. p is
// the path of the schema in the definition. If there are no rules, CompileVersion returns nil. It returns errors for rules
// that do not compile or whose estimated cost is too high, starting with those in the innermost schemas. It does not compile
// the rules of schemas whose path is in wrong, because these already have other errors. Validate also reports rules that do
// not compile.
func CompileVersion(of expr.Environment, schema map[string]any, known expr.Known, p field.Path, wrong map[string]bool) (*Rules, field.ErrorList) {
	if !expr.HasRules(schema) {
		return nil, nil
	}
	env := environmentOf(of)
	n := newNode(env, schema, true)
	names := typeNames{}
	names.declare(n, "selfType")
	c := &ruleCompiler{env: env, of: of, known: known, names: names, wrong: wrong}
	one := uint64(1)
	c.compile(n, p, &one, field.Path{})
	if c.total > staticTotalLimit {
		for _, e := range c.expensive {
			c.errs = append(c.errs, field.Forbidden(e.path,
				"contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"))
		}
		c.errs = append(c.errs, field.Forbidden(p, tooExpensive(
			"x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema", c.total, staticTotalLimit)))
	}
	return &Rules{node: n}, c.errs
}

// At returns the rules of a schema within that of r. steps contains property names, and 0 for items. If the schema has no rules, At
// may return nil.
func (r *Rules) At(steps []any) *Rules {
	if r == nil {
		return nil
	}
	n := r.node
	for _, step := range steps {
		name, property := step.(string)
		switch {
		case n == nil:
			return nil
		case property:
			n = n.properties[name]
		default:
			n = n.items
		}
	}
	return &Rules{node: n}
}

// ruleCompiler compiles the rules of one schema and sums up their costs.
type ruleCompiler struct {
	env       *environment
	of        expr.Environment // corresponds to env
	known     expr.Known
	names     typeNames
	wrong     map[string]bool // paths of schemas whose rules are skipped
	errs      field.ErrorList
	total     uint64
	expensive []expense // the four most expensive rules
}

type expense struct {
	path field.Path
	cost uint64
}

// compile compiles the rules of n and of the nodes below it. times is the maximum number of values of the schema in one object,
// or nil if there is no maximum. uncorrelated is the path of the innermost list whose elements cannot be correlated across an
// update, or empty if there is none.
func (c *ruleCompiler) compile(n *node, p field.Path, times *uint64, uncorrelated field.Path) {
	below := n.multiply(times)
	if n.additional != nil {
		c.compile(n.additional, p.Child("additionalProperties"), below, uncorrelated)
	}
	for _, name := range n.names {
		c.compile(n.properties[name], p.Child("properties").Key(name), below, uncorrelated)
	}
	if n.items != nil {
		within := uncorrelated
		if n.listType != "map" && within.IsRoot() {
			within = p
		}
		c.compile(n.items, p.Child("items"), below, within)
	}
	c.compileOwn(n, p, times, uncorrelated)
}

// multiply returns the maximum number of times that the values within a value of the schema can occur in one object, or nil if
// there is no maximum.
func (n *node) multiply(times *uint64) *uint64 {
	var most *int64
	switch {
	case n.kind == "object" && n.additional != nil:
		most = n.maxProps
	case n.kind == "array":
		most = n.maxItems
	default:
		return times
	}
	if times == nil || most == nil {
		return nil
	}
	product := cost.SafeMultiply(*times, uint64(*most))
	return &product
}

func (c *ruleCompiler) compileOwn(n *node, p field.Path, times *uint64, uncorrelated field.Path) {
	if len(n.rules) == 0 || len(c.wrong) > 0 && c.wrong[p.String()] {
		return
	}
	rules := p.Child("x-kubernetes-validations")
	if n.decl == nil {
		c.errs = append(c.errs, field.Internal(rules,
			fmt.Errorf("internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations")))
		return
	}
	repeat := uint64(requestMax / (n.decl.least + 1)) // two values are separated by a comma
	if times != nil {
		repeat = *times
	}
	envs := c.envs(n.decl)
	n.checked = make([]checkedRule, len(n.rules))
	for i := range n.rules {
		r := &n.checked[i]
		*r = envs.compile(n, &n.rules[i])
		r.source = &n.rules[i]
		n.usesOld = n.usesOld || r.usesOld
		c.report(r, rules.Index(i), repeat, uncorrelated)
	}
}

// report adds the errors and the cost of a compiled rule.
func (c *ruleCompiler) report(r *checkedRule, p field.Path, repeat uint64, uncorrelated field.Path) {
	c.count(p.Child("rule"), cost.SafeMultiply(r.cost, repeat), "estimated rule cost")
	if r.err != "" {
		c.errs = append(c.errs, field.Invalid(p.Child("rule"), *r.source, r.err))
	}
	if r.message.err != "" {
		c.errs = append(c.errs, field.Invalid(p.Child("messageExpression"), *r.source, r.message.err))
	}
	c.count(p.Child("messageExpression"), r.message.cost, "estimated messageExpression cost")
	switch {
	case r.usesOld && !uncorrelated.IsRoot():
		c.errs = append(c.errs, field.Invalid(p.Child("rule"), r.source.Rule,
			fmt.Sprintf("oldSelf cannot be used on the uncorrelatable portion of the schema within %v", uncorrelated)))
	case !r.usesOld && r.source.OptionalOldSelf != nil:
		c.errs = append(c.errs, field.Invalid(p.Child("optionalOldSelf"), *r.source.OptionalOldSelf,
			"may not be set if oldSelf is not used in rule"))
	}
}

// count adds a cost to the total, reports it if it exceeds the limit of a rule, and keeps the four highest costs that are
// significant.
func (c *ruleCompiler) count(p field.Path, n uint64, what string) {
	if n > staticRuleLimit && !c.known.Unchanged {
		c.errs = append(c.errs, field.Forbidden(p, tooExpensive(what, n, staticRuleLimit)))
	}
	c.total = cost.SafeAdd(c.total, n)
	if n < staticTotalLimit/100 {
		return
	}
	c.expensive = append(c.expensive, expense{p, n})
	slices.SortStableFunc(c.expensive, func(a, b expense) int { return cmp.Compare(b.cost, a.cost) })
	c.expensive = c.expensive[:min(len(c.expensive), 4)]
}

// tooExpensive returns an error text that includes the factor by which a cost exceeds its limit.
func tooExpensive(what string, cost, limit uint64) string {
	factor := float64(cost) / float64(limit)
	text := fmt.Sprintf("%.1fx", factor)
	switch {
	case factor > 100:
		text = "more than 100x"
	case factor < 1.5:
		text = fmt.Sprintf("%fx", factor)
	}
	return what + " exceeds budget by factor of " + text +
		" (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
}

// ruleEnvs are the environments for the rules of one schema: one for new and one for stored expressions.
type ruleEnvs struct {
	known       expr.Known
	new, stored func() *ruleEnv // created on first use, because few schemas need both
}

func (c *ruleCompiler) envs(self *decl) *ruleEnvs {
	e := &ruleEnvs{known: c.known, new: sync.OnceValue(func() *ruleEnv { return newRuleEnv(c.env, self, c.names) })}
	e.stored = e.new
	if !c.of.Stored {
		e.stored = sync.OnceValue(func() *ruleEnv {
			return newRuleEnv(environmentOf(expr.Environment{Minor: c.of.Minor, Stored: true}), self, c.names)
		})
	}
	return e
}

// of returns the environment in which an expression is compiled.
func (e *ruleEnvs) of(expression string, known map[string]bool) *ruleEnv {
	if known[expression] {
		return e.stored()
	}
	return e.new()
}

// ruleEnv contains the environments for rules with self and oldSelf. In one of them, oldSelf is optional.
type ruleEnv struct {
	base            *environment
	costs           *costs
	plain, optional *cel.Env
	err             error
}

func newRuleEnv(base *environment, self *decl, names typeNames) *ruleEnv {
	e := &ruleEnv{base: base, costs: &costs{self: self}}
	provide := cel.CustomTypeProvider(&provider{base.CELTypeProvider(), names})
	e.plain, e.err = base.Extend(provide, cel.Variable("self", self.typ), cel.Variable("oldSelf", self.typ))
	if e.err == nil {
		e.optional, e.err = base.Extend(provide, cel.Variable("self", self.typ), cel.Variable("oldSelf", cel.OptionalType(self.typ)))
	}
	return e
}

// env returns the environment for a rule and for its messageExpression.
func (e *ruleEnv) env(r *expr.Rule) *cel.Env {
	if r.OptionalOldSelf != nil && *r.OptionalOldSelf {
		return e.optional
	}
	return e.plain
}

func (all *ruleEnvs) compile(n *node, r *expr.Rule) (out checkedRule) {
	if strings.TrimSpace(r.Rule) == "" {
		return out
	}
	var ast *cel.Ast
	if out.checkedExpression, ast = all.of(r.Rule, all.known.Rules).compile(r, r.Rule, ofRule); ast != nil {
		for _, ref := range ast.NativeRep().ReferenceMap() { // order does not matter: one match suffices
			out.usesOld = out.usesOld || ref.Name == "oldSelf"
		}
	}
	if out.err != "" {
		return out
	}
	if r.MessageExpression != "" {
		out.message, _ = all.of(r.MessageExpression, all.known.Messages).compile(r, r.MessageExpression, ofMessage)
	}
	if r.FieldPath != "" {
		out.path, _, _ = expr.FieldPath(r.FieldPath, n.schema, true)
	}
	return out
}

// purpose is the result type that an expression of a rule must have, with error texts.
type purpose struct {
	result                                    *cel.Type
	compilation, wrongType, program, estimate string
}

var (
	ofRule = purpose{cel.BoolType, "compilation failed: ", "cel expression must evaluate to a bool", "program instantiation failed: ",
		"cost estimation failed: "}
	ofMessage = purpose{cel.StringType, "messageExpression compilation failed: ", "messageExpression must evaluate to a string",
		"messageExpression instantiation failed: ", "cost estimation failed for messageExpression: "}
)

// compile compiles an expression of a rule and estimates its cost. If the expression does not compile, ast is nil.
func (e *ruleEnv) compile(r *expr.Rule, expression string, of purpose) (out checkedExpression, ast *cel.Ast) {
	env := e.env(r)
	if e.err != nil {
		return checkedExpression{err: e.err.Error()}, nil
	}
	ast, problem := e.base.compile(env, expression)
	switch {
	case problem != "":
		return checkedExpression{err: of.compilation + problem}, nil
	case ast.OutputType() != of.result:
		return checkedExpression{err: of.wrongType}, nil
	}
	program, err := plan(env, ast, e.costs)
	if err != nil {
		return checkedExpression{err: of.program + err.Error()}, ast
	}
	estimate, err := env.EstimateCost(ast, e.costs)
	if err != nil {
		return checkedExpression{err: of.estimate + err.Error()}, ast
	}
	return checkedExpression{program: program, cost: estimate.Max}, ast
}
