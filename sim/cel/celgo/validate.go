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

// Validate applies the rules to a value at path p. was correlates the value with that before an update, and is nil if it is new. A
// rule without oldSelf that is broken by a part which the update does not change is ratcheted instead of an error (KEP-4008).
// budget is the cost limit. Validate sets it to the rest, or to -1 if the limit was exceeded.
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

// validation applies rules to one subject after the other.
type validation struct {
	errs, ratcheted field.ErrorList
	budget          *int64
	ended           bool // the budget is used up
}

// check applies the rules of a schema to a value.
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
		case !r.usesOld || s.was.Old() != nil: // a transition rule needs something to compare with
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

// report records that the value breaks a rule, as ratcheted if the value is unchanged by the update.
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

// message returns the message of a broken rule: its messageExpression or, if that has no valid result, its message. tooMuch is set
// if the expression exceeded the cost limit; then text is the error.
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

// outOfBudget is the text of the last error when rules cost too much.
const outOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run"

// charge takes a cost off a budget. It is false, and leaves -1, when the budget does not reach for it.
func charge(budget *int64, cost uint64) bool {
	if cost > math.MaxInt64 || int64(cost) > *budget {
		*budget = -1
		return false
	}
	*budget -= int64(cost)
	return true
}

// run evaluates a program and returns its cost, too.
func run(program cel.Program, vars interpreter.Activation) (result ref.Val, cost uint64, err error) {
	result, details, err := program.Eval(vars)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	return result, cost, err
}

// stopped reports whether an evaluation was stopped because it alone cost more than callLimit.
func stopped(err error) bool {
	return err != nil && strings.HasPrefix(err.Error(), "operation cancelled: actual cost limit exceeded")
}
