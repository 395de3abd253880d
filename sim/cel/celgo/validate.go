package celgo

import (
	"fmt"
	"math"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/interpreter"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/crd/structural"
	"github.com/kubesim/kubesim/sim/field"
)

// Validate applies the rules to a value at path p. was correlates the value with the old one; it is nil for a new value. If a
// value that the update does not change violates a rule without oldSelf, the error is in ratcheted instead of errs
// (KEP-4008). budget is the cost limit. Validate subtracts the cost from it, and sets it to -1 if the limit is exceeded.
func (r *Rules) Validate(self any, was *structural.Correlation, p field.Path, budget *int64) (errs, ratcheted field.ErrorList) {
	if r == nil {
		return nil, nil
	}
	v := &validation{budget: budget}
	for s := range (subject{node: r.node, self: self, path: p, was: was, kept: was}).all() {
		if v.check(s); v.ended {
			break
		}
	}
	return v.errs, v.ratcheted
}

// validation is the state of one call of Rules.Validate: the errors so far and the cost budget that is left.
type validation struct {
	errs, ratcheted field.ErrorList
	budget          *int64
	ended           bool // the budget is exhausted
}

// check applies the rules in the schema of a subject to its value.
func (v *validation) check(s subject) {
	n := s.node
	switch {
	case (n.decl == nil || n.untyped) && len(n.rules) > 0:
		v.add(s.invalid("rule compiler initialization error: failed to convert to declType for CEL validation rules"))
		return
	case len(n.checked) == 0:
		return
	case *v.budget <= 0:
		v.end(s.invalid(outOfBudget))
		return
	}
	always, optional := s.variables()
	for i := range n.checked {
		r := &n.checked[i]
		switch {
		case r.err != "":
			v.add(s.invalid("rule compile error: %s", r.err))
		case r.program == nil: // an empty rule
		case r.source.OptionalOldSelf != nil && *r.source.OptionalOldSelf:
			v.apply(r, s, optional)
		case !r.usesOld || s.was.Old() != nil: // a transition rule requires an old value
			v.apply(r, s, always)
		}
		if v.ended {
			return
		}
	}
}

// apply evaluates one rule.
func (v *validation) apply(r *checkedRule, s subject, vars *variables) {
	result, cost, err := run(r.program, vars)
	switch {
	case !charge(v.budget, cost):
		v.end(s.invalid(outOfBudget))
	case err == nil && result == types.True:
	case err == nil:
		v.report(r, s, vars)
	case stopped(err):
		v.end(s.invalid("'%v': no further validation rules will be run due to call cost exceeds limit for rule: %v", err, r.source.Text()))
	case strings.HasPrefix(err.Error(), "no such overload"):
		v.add(s.invalid("'%v': call arguments did not match a supported operator, function or macro signature for rule: %v", err, r.source.Text()))
	default:
		v.add(s.invalid("%v evaluating rule: %v", err, r.source.Text()))
	}
}

// report records a violation, which is ratcheted if the update does not change the value.
func (v *validation) report(r *checkedRule, s subject, vars *variables) {
	if !r.path.IsRoot() {
		s.path = s.path.Child(r.path.String())
	}
	text, cost := v.message(r, vars)
	e := s.invalid("%s", text)
	if !cost {
		e = s.broken(text, r.source.Reason)
	}
	switch {
	case !r.usesOld && s.kept.Unchanged():
		v.ratcheted = append(v.ratcheted, e)
	default:
		v.add(e)
	}
	if cost {
		*v.budget, v.ended = -1, true
	}
}

// message returns the message of a violated rule: the result of its messageExpression or, if that is not valid, its
// message. If the expression exceeds the cost limit, tooMuch is true and text is the error.
func (v *validation) message(r *checkedRule, vars *variables) (text string, tooMuch bool) {
	if r.message.program == nil {
		return r.source.Failed(), false
	}
	result, cost, err := run(r.message.program, vars)
	switch {
	case !charge(v.budget, cost):
		return "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run", true
	case stopped(err):
		return fmt.Sprintf("no further validation rules will be run due to call cost exceeds limit for messageExpression: %q",
			r.source.MessageExpression), true
	case err == nil:
		if text, e := expr.MessageText(result.Value()); e == nil {
			return text, false
		}
	}
	return r.source.Failed(), false
}

func (v *validation) add(e *field.Error) { v.errs = append(v.errs, e) }

func (v *validation) end(e *field.Error) {
	v.add(e)
	*v.budget, v.ended = -1, true
}

// outOfBudget is the text of the error that is added if the rules exceed the cost budget.
const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// charge subtracts a cost from a budget. If the budget is insufficient, it sets the budget to -1 and returns false.
func charge(budget *int64, cost uint64) bool {
	if cost > math.MaxInt64 || int64(cost) > *budget {
		*budget = -1
		return false
	}
	*budget -= int64(cost)
	return true
}

// run evaluates a program. It returns the result and the cost.
func run(program cel.Program, vars interpreter.Activation) (result ref.Val, cost uint64, err error) {
	result, details, err := program.Eval(vars)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return result, cost, err
}

// stopped reports whether an evaluation was cancelled because it alone exceeded callLimit.
func stopped(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded")
}
