package admission

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// reasonCodes are the HTTP status codes of the reasons that a validation may specify.
var reasonCodes = map[status.Reason]int{
	status.ReasonUnauthorized: wire.StatusUnauthorized, status.ReasonForbidden: wire.StatusForbidden,
	status.ReasonTooLarge: wire.StatusRequestEntityTooLarge,
}

// validate evaluates all matching policies (Kubernetes documentation, "Validating Admission Policy"). It returns the first
// rejection, and adds the warnings of all policies.
func (p *policies) validate(a *Attributes) *status.Status {
	list, problems := p.invocations(a)
	var denied *problem
	for i := range problems {
		if problems[i].policy.fail && denied == nil {
			denied = &problems[i]
		}
	}
	published := annotations{}
	defer published.publish(a)
	for _, i := range list {
		for _, found := range i.validate(a, p.host, published) {
			if found.denies && denied == nil {
				denied = &found
			}
			for _, action := range i.binding.Strings("spec", "validationActions") {
				switch {
				case found.denies:
				case action == "Audit":
					found.annotate(a, i.binding)
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

// refusal returns the Status of a write that a validating policy rejects.
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

// validate returns the violations that one invocation finds. It evaluates all messageExpressions, even those of validations that
// hold. Each of the three groups of expressions evaluates the variables again.
func (i *invocation) validate(a *Attributes, h *Server, published annotations) (found []problem) {
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
	budget := int64(expr.RuleBudget)
	verdicts, spent := i.verdicts(in.ForNewGroup(true), &budget)
	if spent != nil {
		failed(spent.Text)
		return found
	}
	texts, spent := i.messages(in.ForNewGroup(false), &budget)
	for n, v := range verdicts {
		switch {
		case v.err != nil:
			failed(v.err.Text)
		case spent != nil:
			failed("failed messageExpression: " + spent.Text)
		case !v.holds:
			source := i.policy.expressions[n].source
			found = append(found, problem{policy: i.policy, binding: i.binding.Name(), index: n, reason: status.Reason(source.String("reason")),
				text: cmp.Or(texts[n], strings.TrimSpace(source.String("message")),
					"failed expression: "+strings.TrimSpace(source.String("expression")))})
		}
	}
	wrong, spent := i.annotations(in.ForNewGroup(false), published)
	if spent != nil {
		found = nil
		failed(spent.Text)
	}
	return append(found, wrong...)
}

// verdict is the outcome of one validation: whether it holds, or the evaluation error.
type verdict struct {
	holds bool
	err   *expr.Error
}

// verdicts evaluates the validations. If they exceed the cost budget, it stops and returns that error in spent.
func (i *invocation) verdicts(in *expr.Input, budget *int64) (list []verdict, spent *expr.Error) {
	for _, e := range i.policy.expressions {
		v, err := e.program.Eval(in, budget)
		if err != nil && err.Budget {
			return nil, err
		}
		list = append(list, verdict{v == true, err})
	}
	return list, nil
}

// messages evaluates the messageExpressions, which cannot use the authorizer. If the result is not a valid message, the text for
// that validation is "".
func (i *invocation) messages(in *expr.Input, budget *int64) (texts []string, spent *expr.Error) {
	for _, e := range i.policy.expressions {
		text := ""
		if e.message != nil {
			v, err := e.message.Eval(in, budget)
			if err != nil && err.Budget {
				return nil, err
			}
			if err == nil {
				text, _ = expr.MessageText(v)
			}
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// annotations evaluates the audit annotations, which cannot use the authorizer and have a separate cost budget. If one fails, the
// write is rejected regardless of the binding's validationActions, unless failurePolicy is Ignore.
func (i *invocation) annotations(in *expr.Input, published annotations) (wrong []problem, spent *expr.Error) {
	budget := int64(expr.RuleBudget)
	for _, e := range i.policy.annotations {
		v, err := e.program.Eval(in, &budget)
		switch {
		case err == nil:
			published.add(i.policy.name+"/"+e.source.String("key"), v)
		case err.Budget:
			return nil, err
		case i.policy.fail:
			wrong = append(wrong, problem{policy: i.policy, binding: i.binding.Name(), text: err.Text, denies: true})
		}
	}
	return wrong, nil
}
