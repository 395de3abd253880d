package admission

import (
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// CheckExpressions returns which expressions of a policy or a webhook configuration, stored under the storage name, do
// not compile. old is what it was before an update, nil for a new one: a spec that stays as it was is not looked at.
func CheckExpressions(storage string, obj, old object.Object) field.ErrorList {
	switch storage {
	case validatingPolicies, mutatingPolicies:
		spec := object.Object(obj.Map("spec"))
		if old != nil && object.SemanticEqual(map[string]any(spec), old.Map("spec")) {
			return nil
		}
		return checkPolicy(spec, storage == mutatingPolicies)
	case validatingConfigurations, mutatingConfigurations:
		if old != nil && object.SemanticEqual(obj.List("webhooks"), old.List("webhooks")) {
			return nil
		}
		return checkWebhooks(objects(obj.List("webhooks")))
	}
	return nil
}

// checker compiles expressions and keeps what is wrong with them.
type checker struct {
	compiler *cel.Compiler
	errs     field.ErrorList
}

func (c *checker) check(p field.Path, expression string, want cel.Result) {
	if trimmed(expression) == "" {
		return // that is another rule's business
	}
	if err := c.compiler.Compile(expression, want).Err(); err != nil {
		c.errs = append(c.errs, field.Invalid(p, expression, err.Text))
	}
}

func checkPolicy(spec object.Object, mutating bool) field.ErrorList {
	c := &checker{compiler: cel.NewCompiler(cel.Declarations{Params: spec.Map("paramKind") != nil, Authorizer: true, Patch: mutating})}
	p := field.Root("spec")
	for i, v := range objects(spec.List("matchConditions")) {
		c.check(p.Child("matchConditions").Index(i).Child("expression"), v.String("expression"), cel.Bool)
	}
	for i, v := range objects(spec.List("variables")) {
		at, text := p.Child("variables").Index(i).Child("expression"), v.String("expression")
		if trimmed(text) == "" {
			continue
		}
		if err := c.compiler.Variable(v.String("name"), text); err != nil {
			c.errs = append(c.errs, field.Invalid(at, text, err.Text))
		}
	}
	for i, v := range objects(spec.List("validations")) {
		at := p.Child("validations").Index(i)
		c.check(at.Child("expression"), v.String("expression"), cel.Bool)
		c.check(at.Child("messageExpression"), v.String("messageExpression"), cel.String)
	}
	for i, v := range objects(spec.List("auditAnnotations")) {
		c.check(p.Child("auditAnnotations").Index(i).Child("valueExpression"), v.String("valueExpression"), cel.StringNull)
	}
	for i, v := range objects(spec.List("mutations")) {
		at := p.Child("mutations").Index(i)
		c.check(at.Child("applyConfiguration", "expression"), v.String("applyConfiguration", "expression"), cel.Object)
		c.check(at.Child("jsonPatch", "expression"), v.String("jsonPatch", "expression"), cel.JSONPatch)
	}
	return c.errs
}

func checkWebhooks(hooks []object.Object) field.ErrorList {
	c := &checker{compiler: cel.NewCompiler(cel.Declarations{Authorizer: true})}
	for i, h := range hooks {
		for j, m := range objects(h.List("matchConditions")) {
			c.check(field.Root("webhooks").Index(i).Child("matchConditions").Index(j).Child("expression"), m.String("expression"), cel.Bool)
		}
	}
	return c.errs
}
