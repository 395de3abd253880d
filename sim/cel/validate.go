//go:build !nocel

package cel

import (
	"fmt"
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// outOfBudget is the text of the last error when rules cost too much.
const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// Validate applies the rules to an object, within a budget of its own. old is what it was before an update, nil for a
// new object. Rules without oldSelf that are broken by a part which an update leaves as it was are not errors but
// ratcheted.
func (r *Rules) Validate(obj, old map[string]any) (errs, ratcheted field.ErrorList) {
	budget := int64(RuleBudget)
	var before any
	if old != nil {
		before = old
	}
	return r.Apply(obj, before, field.Path{}, &budget)
}

// Apply is Validate for a value at path p. budget is what the rules may still cost; it is negative when they have used
// it up and nothing else is to be evaluated.
func (r *Rules) Apply(self, old any, p field.Path, budget *int64) (errs, ratcheted field.ErrorList) {
	if r == nil {
		return nil, nil
	}
	v := &validation{budget: budget}
	if o, ok := self.(object.Object); ok {
		self = map[string]any(o)
	}
	if o, ok := old.(object.Object); ok {
		old = map[string]any(o)
	}
	ratchet := correlation{}
	if !isEmpty(old) {
		ratchet.known, ratchet.same = true, func() bool { return object.SemanticEqual(self, old) }
	} else {
		old = nil
	}
	v.value(r.node, self, old, p, ratchet, true)
	return v.errs, v.ratcheted
}

// ApplyAt is Apply for the schema that steps lead to from the compiled one: names of properties, and 0 for items.
func (r *Rules) ApplyAt(steps []any, self, old any, p field.Path, budget *int64) (errs, ratcheted field.ErrorList) {
	if r == nil {
		return nil, nil
	}
	n := r.node
	for _, step := range steps {
		if name, ok := step.(string); ok && n != nil {
			n = n.properties[name]
		} else if n != nil {
			n = n.items
		}
	}
	if n == nil {
		return nil, nil
	}
	return (&Rules{node: n}).Apply(self, old, p, budget)
}

type validation struct {
	errs, ratcheted field.ErrorList
	budget          *int64
}

// correlation says whether a value is what it was before an update. Where the value's own old value is not known (an
// element of a list without keys), that of the nearest one around it counts.
type correlation struct {
	known bool
	same  func() bool // nil: nothing is known
}

func (c correlation) child(self, old any, known bool) correlation {
	if !known || !c.known {
		return correlation{known: false, same: c.same}
	}
	return correlation{known: true, same: func() bool { return object.SemanticEqual(self, old) }}
}

func (c correlation) unchanged() bool { return c.same != nil && c.same() }

// value applies the rules of n and of everything below. It reports whether the budget is left.
func (v *validation) value(n *node, self, old any, p field.Path, c correlation, top bool) bool {
	if n == nil || self == nil {
		return true
	}
	if !v.own(n, self, old, p, c) {
		return false
	}
	for _, child := range n.allOf {
		if !v.value(child, self, old, p, correlation{same: c.same}, top) {
			return false
		}
	}
	switch self := self.(type) {
	case []any:
		list, _ := old.([]any)
		return v.list(n, self, list, p, c)
	case map[string]any:
		m, _ := old.(map[string]any)
		return v.object(n, self, m, p, c, top)
	}
	return true
}

func (v *validation) object(n *node, self, old map[string]any, p field.Path, c correlation, top bool) bool {
	for _, key := range object.SortedKeys(self) {
		child, at := n.additional, p.Key(key)
		if of, ok := n.properties[key]; ok {
			child, at = of, p.Child(key)
		}
		if child == nil {
			continue
		}
		before, known := old[key]
		ratchet := c.child(self[key], before, known)
		if top && (key == "apiVersion" || key == "kind") { // both are converted to one version before they get here
			ratchet = correlation{}
		}
		if !v.value(child, self[key], before, at, ratchet, false) {
			return false
		}
	}
	return true
}

func (v *validation) list(n *node, self, old []any, p field.Path, c correlation) bool {
	if n.items == nil {
		return true
	}
	before := map[string]any{}
	if n.correlatesItems() {
		for _, item := range old {
			if key, ok := n.itemKey(item); ok {
				before[key] = item
			}
		}
	}
	for i, item := range self {
		var was any
		known := false
		if n.correlatesItems() {
			if key, ok := n.itemKey(item); ok {
				was, known = before[key]
			}
		}
		if !v.value(n.items, item, was, p.Index(i), c.child(item, was, known), false) {
			return false
		}
	}
	return true
}

// own applies the rules of n itself.
func (v *validation) own(n *node, self, old any, p field.Path, c correlation) bool {
	if n.decl == nil && len(n.rules) > 0 {
		v.errs = append(v.errs, field.Invalid(p, n.kind,
			"rule compiler initialization error: failed to convert to declType for CEL validation rules"))
		return true
	}
	if len(n.checked) == 0 {
		return true
	}
	if *v.budget <= 0 {
		return v.stop(field.Invalid(p, n.kind, outOfBudget))
	}
	plain := &variables{self: valueOf(self, n)}
	optional := &variables{self: plain.self, old: types.OptionalNone}
	if n.usesOld && !isEmpty(old) {
		plain.old = valueOf(old, n)
		optional.old = types.OptionalOf(plain.old)
	}
	for i := range n.checked {
		r, source := &n.checked[i], &n.rules[i]
		if r.err != "" {
			v.errs = append(v.errs, field.Invalid(p, n.kind, "rule compile error: "+r.err))
			continue
		}
		vars := plain
		if source.OptionalOldSelf != nil && *source.OptionalOldSelf {
			vars = optional
		} else if r.usesOld && isEmpty(old) {
			continue // a transition rule, and nothing to compare with
		}
		if r.program == nil {
			continue
		}
		if !v.apply(n, r, source, vars, self, p, c) {
			return false
		}
	}
	return true
}

func (v *validation) stop(e *field.Error) bool {
	v.errs = append(v.errs, e)
	*v.budget = -1
	return false
}

// apply applies one rule.
func (v *validation) apply(n *node, r *checkedRule, source *rule, vars *variables, self any, p field.Path, c correlation) bool {
	result, cost, err := run(r.program, vars)
	if cost > math.MaxInt64 || int64(cost) > *v.budget {
		return v.stop(field.Invalid(p, n.kind, outOfBudget))
	}
	*v.budget -= int64(cost)
	if err != nil {
		switch text := err.Error(); {
		case strings.HasPrefix(text, "no such overload"):
			v.errs = append(v.errs, field.Invalid(p, n.kind, fmt.Sprintf(
				"'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", text, source.text())))
		case strings.HasPrefix(text, costExceeded):
			return v.stop(field.Invalid(p, n.kind, fmt.Sprintf(
				"'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", text, source.text())))
		default:
			v.errs = append(v.errs, field.Invalid(p, n.kind, fmt.Sprintf("%v evaluating rule: %v", text, source.text())))
		}
		return true
	}
	if result == types.True {
		return true
	}
	return v.broken(n, r, source, vars, self, p, c)
}

// broken reports a rule that the value breaks.
func (v *validation) broken(n *node, r *checkedRule, source *rule, vars *variables, self any, p field.Path, c correlation) bool {
	if !r.path.IsRoot() {
		p = p.Child(r.path.String())
	}
	text := source.message()
	if r.message != nil {
		made, err := v.message(r, source, vars)
		switch {
		case err != nil && err.Budget:
			v.report(r, c, field.Invalid(p, n.kind, err.Text))
			*v.budget = -1
			return false
		case err == nil:
			text = made
		}
	}
	var value any = field.Omit
	if n.kind != "object" && n.kind != "array" {
		value = self
	}
	v.report(r, c, because(p, value, text, source.Reason))
	return true
}

// report adds an error, among the ratcheted ones when the value was as wrong before the update.
func (v *validation) report(r *checkedRule, c correlation, e *field.Error) {
	if r.usesOld || !c.unchanged() {
		v.errs = append(v.errs, e)
	} else {
		v.ratcheted = append(v.ratcheted, e)
	}
}

func because(p field.Path, value any, text string, reason *string) *field.Error {
	if reason != nil {
		switch *reason {
		case "FieldValueForbidden":
			return field.Forbidden(p, text)
		case "FieldValueRequired":
			return field.Required(p, text)
		case "FieldValueDuplicate":
			return field.Duplicate(p, value)
		}
	}
	return field.Invalid(p, value, text)
}

// message evaluates a messageExpression. An error that is not about the budget means that there is no message.
func (v *validation) message(r *checkedRule, source *rule, vars *variables) (string, *Error) {
	result, cost, err := run(r.message, vars)
	if cost > math.MaxInt64 || int64(cost) > *v.budget {
		return "", &Error{Budget: true,
			Text: "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"}
	}
	if err != nil && strings.HasPrefix(err.Error(), costExceeded) {
		return "", &Error{Budget: true, Text: fmt.Sprintf(
			"no further validation rules will be run due to call cost exceeds limit for messageExpression: %q", source.MessageExpression)}
	}
	*v.budget -= int64(cost)
	if err != nil {
		return "", errorf("messageExpression evaluation failed due to: %v", err)
	}
	return MessageText(result.Value())
}

// costExceeded begins the text of an evaluation that was stopped.
const costExceeded = "operation cancelled: actual cost limit exceeded"

// run evaluates a program and says what it cost.
func run(program cel.Program, vars interpreter.Activation) (ref.Val, uint64, error) {
	result, details, err := program.Eval(vars)
	cost := uint64(0)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return result, cost, err
}

// variables are self and oldSelf of a rule.
type variables struct{ self, old ref.Val }

func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		return v.self, true
	case "oldSelf":
		return v.old, v.old != nil
	}
	return nil, false
}

func (v *variables) Parent() interpreter.Activation { return nil }
