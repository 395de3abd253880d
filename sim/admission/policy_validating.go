package admission

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// reasonCodes are the HTTP codes of the reasons a validation may give.
var reasonCodes = map[status.Reason]int{
	status.ReasonUnauthorized: wire.StatusUnauthorized, status.ReasonForbidden: wire.StatusForbidden,
	status.ReasonTooLarge: wire.StatusRequestEntityTooLarge,
}

// validate evaluates every policy that applies (Kubernetes documentation, "Validating Admission Policy"). The first refusal is the
// answer; all warnings are added.
func (p *policies) validate(a *Attributes) *status.Status {
	list, problems := p.invocations(a)
	var denied *problem
	for i := range problems {
		if problems[i].policy.fail && denied == nil {
			denied = &problems[i]
		}
	}
	for _, i := range list {
		for _, found := range i.validate(a, p.host) {
			if found.denies && denied == nil {
				denied = &found
			}
			for _, action := range i.binding.Strings("spec", "validationActions") {
				switch {
				case found.denies:
				case action == "Warn":
					a.Warn(fmt.Sprintf("Validation failed for ValidatingAdmissionPolicy '%s' with binding '%s': %s",
						i.policy.name, i.binding.Name(), found.text))
				case action == "Deny" && denied == nil:
					denied = &found
				}
			}
		}
	}
	if denied == nil {
		return nil
	}
	return denied.refusal(a)
}

// refusal is the answer to a write that a validating policy refuses.
func (p *problem) refusal(a *Attributes) *status.Status {
	text := fmt.Sprintf("ValidatingAdmissionPolicy '%s' denied request: %s", p.policy.name, p.text)
	if p.binding != "" {
		text = fmt.Sprintf("ValidatingAdmissionPolicy '%s' with binding '%s' denied request: %s", p.policy.name, p.binding, p.text)
	}
	s := a.refuse("%s", text)
	s.Reason = cmp.Or(p.reason, status.ReasonInvalid)
	s.Code = cmp.Or(reasonCodes[s.Reason], wire.StatusUnprocessableEntity)
	s.Details.Causes = append(s.Details.Causes, status.Cause{Message: text})
	return s
}

// validate returns the violations of one invocation by a write. All messageExpressions are evaluated, also those of validations
// that hold, and each of the three groups of expressions evaluates the variables that it uses again.
func (i *invocation) validate(a *Attributes, h *Server) (found []problem) {
	failed := func(text string) {
		if i.policy.fail {
			found = append(found, problem{policy: i.policy, binding: i.binding.Name(), text: text})
		}
	}
	in, err := a.input(h, i.kind, i.params)
	ok := false
	if err == nil {
		ok, err = matchConditions(i.policy.conditions, in)
	}
	if err != nil {
		failed(err.Error())
	}
	if !ok {
		return found
	}
	budget := int64(cel.RuleBudget)
	verdicts, spent := i.verdicts(in.Afresh(true), &budget)
	if spent != nil {
		failed(spent.Text)
		return found
	}
	texts, spent := i.messages(in.Afresh(false), &budget)
	for n, v := range verdicts {
		switch {
		case v.err != nil:
			failed(v.err.Text)
		case spent != nil:
			failed("failed messageExpression: " + spent.Text)
		case !v.holds:
			source := i.policy.expressions[n].source
			found = append(found, problem{policy: i.policy, binding: i.binding.Name(), reason: status.Reason(source.String("reason")),
				text: cmp.Or(texts[n], strings.TrimSpace(source.String("message")),
					"failed expression: "+strings.TrimSpace(source.String("expression")))})
		}
	}
	wrong, spent := i.annotations(in.Afresh(false))
	if spent != nil {
		found = nil
		failed(spent.Text)
	}
	return append(found, wrong...)
}

// verdict is the outcome of one validation: whether it holds, or the error of its evaluation.
type verdict struct {
	holds bool
	err   *cel.Error
}

// verdicts evaluates the validations. spent is set if they cost more than the budget.
func (i *invocation) verdicts(in *cel.Input, budget *int64) (list []verdict, spent *cel.Error) {
	for _, e := range i.policy.expressions {
		v, err := e.program.Eval(in, budget)
		if err != nil && err.Budget {
			return nil, err
		}
		list = append(list, verdict{v == true, err})
	}
	return list, nil
}

// messages evaluates the messageExpressions, which have no authorizer. A text is "" if there is none, or none that is usable.
func (i *invocation) messages(in *cel.Input, budget *int64) (texts []string, spent *cel.Error) {
	for _, e := range i.policy.expressions {
		text := ""
		if e.message != nil {
			v, err := e.message.Eval(in, budget)
			if err != nil && err.Budget {
				return nil, err
			}
			if err == nil {
				text, _ = cel.MessageText(v)
			}
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// annotations evaluates the audit annotations, which have no authorizer and a budget of their own. One that fails refuses the
// write whatever the validationActions of the binding are, unless failurePolicy is Ignore.
func (i *invocation) annotations(in *cel.Input) (wrong []problem, spent *cel.Error) {
	budget := int64(cel.RuleBudget)
	for _, e := range i.policy.annotations {
		_, err := e.program.Eval(in, &budget)
		switch {
		case err == nil:
		case err.Budget:
			return nil, err
		case i.policy.fail:
			wrong = append(wrong, problem{policy: i.policy, binding: i.binding.Name(), text: err.Text, denies: true})
		}
	}
	return wrong, nil
}
