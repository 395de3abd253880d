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

// validate asks every policy that applies (Kubernetes documentation, "Validating Admission Policy"). The first refusal is the
// answer; all warnings are given.
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
			for _, action := range i.binding.Strings("spec", "validationActions") {
				switch {
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

// validate returns what one invocation has against a write.
func (i *invocation) validate(a *Attributes, h *Host) (found []problem) {
	failed := func(text string) {
		if i.policy.fail {
			found = append(found, problem{policy: i.policy, binding: i.binding.Name(), text: text})
		}
	}
	in := a.input(h, i.kind, i.params)
	ok, err := matchConditions(i.policy.conditions, in)
	if err != nil {
		failed(err.Error())
	}
	if !ok {
		return found
	}
	budget := int64(cel.RuleBudget)
	for n := range i.policy.expressions {
		e := &i.policy.expressions[n]
		v, err := e.program.Eval(in, &budget)
		switch {
		case err != nil && err.Budget:
			found = nil
			failed(err.Text)
			return found
		case err != nil:
			failed(err.Text)
		case v != true:
			found = append(found, problem{policy: i.policy, binding: i.binding.Name(), broken: e})
		}
	}
	if !messages(found, in, &budget) {
		return found
	}
	for _, e := range i.policy.annotations {
		if _, err := e.program.Eval(in, &budget); err != nil {
			failed(err.Text)
		}
	}
	return found
}

// messages fills in what the broken validations say, when all have been evaluated. It reports whether the budget is left.
func messages(found []problem, in *cel.Input, budget *int64) bool {
	for n := range found {
		p := &found[n]
		if p.broken == nil {
			continue
		}
		text, source := "", p.broken.source
		if p.broken.message != nil {
			v, err := p.broken.message.Eval(in, budget)
			if err != nil && err.Budget {
				p.text = "failed messageExpression: " + err.Text
				return false
			}
			if err == nil {
				text, _ = cel.MessageText(v)
			}
		}
		p.text = cmp.Or(text, strings.TrimSpace(source.String("message")), "failed expression: "+strings.TrimSpace(source.String("expression")))
		p.reason = status.Reason(source.String("reason"))
	}
	return true
}
