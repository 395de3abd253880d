package celgo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/cost"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// Rules are the compiled rules of a schema and of all schemas below it. They are safe for concurrent use.
type Rules struct{ node *node }

// checkedRule is one rule, compiled.
type checkedRule struct {
	checkedExpression
	source  *expr.Rule
	usesOld bool
	message checkedExpression // messageExpression
	path    field.Path        // fieldPath as errors print it
}

// checkedExpression is an expression, compiled. program is nil where there is none, or err says why it does not compile.
type checkedExpression struct {
	program cel.Program
	err     string
	cost    uint64
}

// CompileVersion compiles the rules in the schema of a version of a custom resource, whose path in the definition is p.
// It returns nil where there are none. before is the schema as it is stored, nil for a new one: errors that it has, too,
// are tolerated. Schemas at the paths in wrong have mistakes, which tell more than what their rules would say about them:
// these are left out.
func CompileVersion(of expr.Environment, schema, before map[string]any, p field.Path, wrong map[string]bool) (*Rules, field.ErrorList) {
	rules, errs := compileRules(of, schema, p, wrong)
	if len(errs) == 0 || before == nil {
		return rules, errs
	}
	_, known := compileRules(of, before, p, nil)
	tolerated := map[string]bool{}
	for _, e := range known {
		tolerated[e.Error()] = true
	}
	return rules, slices.DeleteFunc(errs, func(e *field.Error) bool { return tolerated[e.Error()] })
}

// At returns the rules of the schema that steps lead to: names of properties, and 0 for items. nil: it has none.
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

// compileRules compiles the x-kubernetes-validations of the structural schema of an object, whose path in its definition
// is p, without those of the schemas at the paths in wrong. The errors say which rules do not compile or may cost too
// much, each at the rule, those of the innermost schemas first; rules that do not compile are reported by Validate, too.
// Rules is nil when there are none.
func compileRules(of expr.Environment, schema map[string]any, p field.Path, wrong map[string]bool) (*Rules, field.ErrorList) {
	if !expr.HasRules(schema) {
		return nil, nil
	}
	env := environmentOf(of)
	n := newNode(env, schema, true)
	names := typeNames{}
	names.declare(n, "selfType")
	c := &ruleCompiler{env: env, names: names, wrong: wrong}
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

// ruleCompiler compiles the rules of one schema and adds up what they cost.
type ruleCompiler struct {
	env       *environment
	names     typeNames
	wrong     map[string]bool // paths of schemas whose rules are left out
	errs      field.ErrorList
	total     uint64
	expensive []expense // the four most expensive rules
}

type expense struct {
	path field.Path
	cost uint64
}

// compile compiles the rules of n and below. times is how often a value of the schema can occur in one object, nil when
// nothing bounds that. uncorrelated is the path of the innermost list whose elements cannot be told to be the same after
// an update, "" for none.
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

// multiply returns how often the values inside a value of the schema can occur.
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
	repeat := uint64(requestMax / (n.decl.least + 1)) // with a comma between two
	if times != nil {
		repeat = *times
	}
	envs := newRuleEnvs(c.env, n.decl, c.names)
	n.checked = make([]checkedRule, len(n.rules))
	for i := range n.rules {
		r := &n.checked[i]
		*r = envs.compile(n, &n.rules[i])
		r.source = &n.rules[i]
		n.usesOld = n.usesOld || r.usesOld
		c.report(r, rules.Index(i), repeat, uncorrelated)
	}
}

// report adds what is wrong with a compiled rule, and what it costs.
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

// count adds a cost to the total, reports one above the limit of a rule, and keeps the four greatest that matter.
func (c *ruleCompiler) count(p field.Path, n uint64, what string) {
	if n > staticRuleLimit {
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

// tooExpensive says by how much a cost is over its limit.
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

// ruleEnvs are the environments of the rules of one schema: with oldSelf, and with an oldSelf that may be missing.
type ruleEnvs struct {
	base            *environment
	costs           *costs
	plain, optional *cel.Env
	err             error
}

func newRuleEnvs(base *environment, self *decl, names typeNames) *ruleEnvs {
	e := &ruleEnvs{base: base, costs: &costs{self: self}}
	provide := cel.CustomTypeProvider(&provider{base.CELTypeProvider(), names})
	e.plain, e.err = base.Extend(provide, cel.Variable("self", self.typ), cel.Variable("oldSelf", self.typ))
	if e.err == nil {
		e.optional, e.err = base.Extend(provide, cel.Variable("self", self.typ), cel.Variable("oldSelf", cel.OptionalType(self.typ)))
	}
	return e
}

func (e *ruleEnvs) compile(n *node, r *expr.Rule) (out checkedRule) {
	if strings.TrimSpace(r.Rule) == "" {
		return out
	}
	env := e.plain
	if r.OptionalOldSelf != nil && *r.OptionalOldSelf {
		env = e.optional
	}
	if e.err != nil {
		out.err = e.err.Error()
		return out
	}
	ast, problem := e.base.compile(env, r.Rule)
	switch {
	case problem != "":
		out.err = "compilation failed: " + problem
		return out
	case ast.OutputType() != cel.BoolType:
		out.err = "cel expression must evaluate to a bool"
		return out
	}
	for _, ref := range ast.NativeRep().ReferenceMap() { // order does not matter: any will do
		out.usesOld = out.usesOld || ref.Name == "oldSelf"
	}
	out.checkedExpression = e.plan(env, ast, "program instantiation failed: ", "cost estimation failed: ")
	if out.err != "" {
		return out
	}
	if r.MessageExpression != "" {
		out.message = e.compileMessage(env, r.MessageExpression)
	}
	if r.FieldPath != "" {
		out.path, _, _ = expr.FieldPath(r.FieldPath, n.schema, true)
	}
	return out
}

func (e *ruleEnvs) compileMessage(env *cel.Env, text string) checkedExpression {
	ast, problem := e.base.compile(env, text)
	switch {
	case problem != "":
		return checkedExpression{err: "messageExpression compilation failed: " + problem}
	case ast.OutputType() != cel.StringType:
		return checkedExpression{err: "messageExpression must evaluate to a string"}
	}
	return e.plan(env, ast, "messageExpression instantiation failed: ", "cost estimation failed for messageExpression: ")
}

// plan makes a program and estimates what it costs. noProgram and noEstimate say that it cannot.
func (e *ruleEnvs) plan(env *cel.Env, ast *cel.Ast, noProgram, noEstimate string) checkedExpression {
	program, err := plan(env, ast, e.costs)
	if err != nil {
		return checkedExpression{err: noProgram + err.Error()}
	}
	estimate, err := env.EstimateCost(ast, e.costs)
	if err != nil {
		return checkedExpression{err: noEstimate + err.Error()}
	}
	return checkedExpression{program: program, cost: estimate.Max}
}
