package admission

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
	"github.com/kubesim/kubesim/sim/wire"
)

// validatingAdmissionPolicy applies the policies of that kind (Kubernetes documentation, "Validating Admission Policy").
func validatingAdmissionPolicy(h *Host) Plugin {
	p := newPolicies(h, validatingPolicies, validatingBindings, false)
	return Plugin{Name: "ValidatingAdmissionPolicy", Validate: p.validate}
}

// reasonCodes are the HTTP codes of the reasons a validation may give.
var reasonCodes = map[status.Reason]int{
	status.ReasonUnauthorized: wire.StatusUnauthorized, status.ReasonForbidden: wire.StatusForbidden,
	status.ReasonTooLarge: wire.StatusRequestEntityTooLarge,
}

// validate asks every policy that applies. The first refusal is the answer; all warnings are given.
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
			for _, action := range object.Strings(i.binding.List("spec", "validationActions")) {
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
	s.Reason = p.reason
	if s.Reason == "" {
		s.Reason = status.ReasonInvalid
	}
	if s.Code = reasonCodes[s.Reason]; s.Code == 0 {
		s.Code = wire.StatusUnprocessableEntity
	}
	s.Details.Causes = append(s.Details.Causes, status.Cause{Message: text})
	return s
}

// validate returns what one invocation has against a write.
func (i *invocation) validate(a *Attributes, h *Host) (found []problem) {
	add := func(text string, reason status.Reason) {
		found = append(found, problem{i.policy, i.binding.Name(), text, reason})
	}
	failed := func(text string) {
		if i.policy.fail {
			add(text, "")
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
	var broken []expression
	for _, e := range i.policy.expressions {
		v, err := e.program.Eval(in, &budget)
		switch {
		case err != nil && err.Budget:
			found = nil
			failed(err.Text)
			return found
		case err != nil:
			failed(err.Text)
		case v != true:
			broken = append(broken, e)
			add("", "") // its message is made below, when all expressions have been evaluated
		}
	}
	if !i.messages(found, broken, in, &budget) {
		return found
	}
	for _, e := range i.policy.annotations {
		if _, err := e.program.Eval(in, &budget); err != nil {
			failed(err.Text)
		}
	}
	return found
}

// messages fills in what the broken validations say. It reports whether the budget is left.
func (i *invocation) messages(found []problem, broken []expression, in *cel.Input, budget *int64) bool {
	next := 0
	for n := range found {
		if found[n].text != "" {
			continue
		}
		e := broken[next]
		next++
		text := ""
		if e.message != nil {
			v, err := e.message.Eval(in, budget)
			if err != nil && err.Budget {
				found[n].text = "failed messageExpression: " + err.Text
				return false
			}
			if err == nil {
				text, _ = cel.MessageText(v)
			}
		}
		if text == "" {
			text = strings.TrimSpace(e.source.String("message"))
		}
		if text == "" {
			text = "failed expression: " + strings.TrimSpace(e.source.String("expression"))
		}
		found[n].text, found[n].reason = text, status.Reason(e.source.String("reason"))
	}
	return true
}
