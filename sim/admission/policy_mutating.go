package admission

import (
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/codec"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/patch"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// mutate applies every matching mutating policy to the object (Kubernetes documentation, "Mutating Admission Policy"). It does
// nothing for a DELETE, which has no object to change.
func (p *policies) mutate(a *Attributes) *status.Status {
	if a.Operation == Delete {
		return nil
	}
	list, problems := p.invocations(a)
	if len(list) > 0 {
		found, s := p.invoke(a, list)
		if s != nil {
			return s
		}
		problems = append(problems, found...)
	}
	return mutationRefusal(a, problems)
}

// invoke runs the invocations in order. As soon as any mutation succeeds in the version that was mutated last, all
// policies with reinvocationPolicy IfNeeded that have run are scheduled for a second round, even if the mutation was the
// policy's own and changed nothing.
func (p *policies) invoke(a *Attributes, list []*invocation) (problems []problem, s *status.Status) {
	round := a.round("MutatingAdmissionPolicy")
	drafts := newDrafts(a, list)
	for _, i := range list {
		drafts.load(a, i.kind)
		in, err := a.input(p.host, i.kind, i.params)
		ok := false
		if err == nil {
			ok, err = matchConditions(i.policy.conditions, in)
		}
		if err != nil {
			problems = append(problems, i.problem(err))
		}
		key := i.policy.name + "/" + i.binding.Name() + "/" + i.params.object.Namespace() + "/" + i.params.object.Name()
		if !ok || !round.calls(key) {
			continue
		}
		before := a.Object.Copy()
		mutated, bad, s := p.apply(a, i)
		if s != nil {
			return nil, s
		}
		problems = append(problems, bad...)
		drafts.mutated(i.kind, mutated)
		changed := mutated && !object.SemanticEqual(map[string]any(before), map[string]any(a.Object))
		round.called(key, changed, i.policy.spec.String("reinvocationPolicy") == "IfNeeded")
	}
	if drafts.finish(a) {
		round.wantPrevious()
		*round.rerun = true
	}
	round.done(a)
	return problems, nil
}

// problem converts err to a problem of i's policy and binding.
func (i *invocation) problem(err error) problem {
	return problem{policy: i.policy, binding: i.binding.Name(), text: err.Error(), reason: status.ReasonInvalid}
}

// mutationRefusal returns the rejection for the first problem of a policy whose failurePolicy is Fail, or nil. Its causes
// contain the problems of all such policies.
func mutationRefusal(a *Attributes, problems []problem) *status.Status {
	var s *status.Status
	for _, p := range problems {
		if !p.policy.fail {
			continue
		}
		text := fmt.Sprintf("policy %q denied request: %s", p.policy.name, p.text)
		if p.binding != "" {
			text = fmt.Sprintf("policy '%s' with binding '%s' denied request: %s", p.policy.name, p.binding, p.text)
		}
		if s == nil {
			s = a.refuse("admission request denied by policy")
			s.Message = text
			if p.reason != "" {
				s.Reason = p.reason
			}
		}
		s.Details.Causes = append(s.Details.Causes, status.Cause{Message: text})
	}
	return s
}

// apply runs the mutations of one invocation in order, each on the result of the previous one. It reports whether any of
// them succeeded.
func (p *policies) apply(a *Attributes, i *invocation) (mutated bool, problems []problem, s *status.Status) {
	if a.Object == nil {
		return false, nil, nil
	}
	for _, e := range i.policy.expressions {
		kind := a.matchedKind(i.kind)
		result, err := p.evaluate(a, i, e)
		if err == nil {
			err = a.sameVersion(i.kind)
		}
		if refused := (*status.Status)(nil); errors.As(err, &refused) {
			return mutated, problems, refused
		}
		if err != nil {
			problems = append(problems, i.problem(err))
			continue
		}
		if s := a.replace(result, kind); s != nil {
			return mutated, problems, s
		}
		mutated = true
	}
	return mutated, problems, nil
}

// evaluate applies one mutation of an invocation to the object of the write and returns the result.
func (p *policies) evaluate(a *Attributes, i *invocation, e expression) (object.Object, error) {
	obj, err := a.version(a.Object, i.kind)
	if err != nil {
		return nil, err
	}
	in, err := a.input(p.host, i.kind, i.params)
	if err != nil {
		return nil, err
	}
	return p.mutation(e, in, obj, a.matchedKind(i.kind))
}

// sameVersion returns an error for a mutation of a built-in kind in a version other than that of the request. The real server
// converts the result directly to the version of the request, which its scheme does not support.
func (a *Attributes) sameVersion(d *resource.Definition) error {
	if d == a.Definition || a.body() != nil || d.Custom {
		return nil
	}
	return fmt.Errorf("converting (%s) to (%s): unknown conversion", d.Type().GoType, a.Definition.Type().GoType)
}

// mutation applies one mutation to obj and returns the result.
func (p *policies) mutation(e expression, in *expr.Input, obj object.Object, d *resource.Definition) (object.Object, error) {
	if err := e.program.Err(); err != nil {
		return nil, err
	}
	budget := int64(expr.RuleBudget)
	v, failed := e.program.Eval(in, &budget)
	if failed != nil {
		return nil, failed
	}
	if list, ok := v.([]any); ok {
		return p.jsonPatch(list, obj, d)
	}
	config, _ := v.(map[string]any)
	if config == nil || d.Type == nil {
		return nil, errors.New("unsupported return type from ApplyConfiguration expression")
	}
	if kind := d.Type(); d.StorageCodec == nil && len(kind.GVKs) == 0 { // the options of a CONNECT
		return nil, fmt.Errorf("error applying patch: failed to convert patch object to typed object: no corresponding type for %v", d.GVK)
	}
	config["apiVersion"], config["kind"] = d.GV(), d.Kind
	merged, err := p.host.Merge(d, obj, config)
	if err != nil {
		return nil, fmt.Errorf("error applying patch: %w", err)
	}
	return merged, nil
}

// jsonPatch applies the operations of a JSON patch to obj and returns the result. If a test operation fails, it returns
// obj unchanged.
func (p *policies) jsonPatch(operations []any, obj object.Object, d *resource.Definition) (object.Object, error) {
	ops, err := patch.ReadOperations(object.JSON(operations))
	var data []byte
	if err == nil {
		data, err = ops.Apply(codec.AppendSent(nil, obj, d.Layout()))
	}
	switch {
	case errors.Is(err, patch.ErrTestFailed):
		return obj, nil
	case err != nil:
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	result, err := p.host.Decoder.MutatedStrictly(data, d.GVK, d.Layout())
	if err != nil {
		return nil, status.Internal(err)
	}
	if d.Layout() != nil {
		result["apiVersion"], result["kind"] = d.GV(), d.Kind
	}
	return result, nil
}

// round is the state of one plugin over the two rounds in which mutating policies and webhooks are called: if one of them
// has changed the object, all mutating plugins run again, and call the policies and webhooks that request it
// (reinvocationPolicy IfNeeded).
type round struct {
	again    bool            // this is the second round
	wanted   map[string]bool // keys to call again
	previous []string        // keys that have been called and that may be called again
	output   object.Object   // the object after the previous round
	rerun    *bool           // set if a second round is needed
}

// round returns the state of a plugin for the current round. It creates the state in the first round.
func (a *Attributes) round(plugin string) *round {
	if a.rounds == nil {
		a.rounds = map[string]*round{}
	}
	r := a.rounds[plugin]
	if r == nil {
		r = &round{wanted: map[string]bool{}, rerun: &a.reinvoke}
		a.rounds[plugin] = r
	}
	if r.again = a.second; r.again && a.Object != nil && !object.Equal(map[string]any(r.output), map[string]any(a.Object)) {
		r.wantPrevious()
	}
	return r
}

func (r *round) wantPrevious() {
	for _, key := range r.previous {
		r.wanted[key] = true
	}
	r.previous = nil
}

// calls reports whether the policy or webhook with the given key is called in this round.
func (r *round) calls(key string) bool { return !r.again || r.wanted[key] }

// called records that a policy or webhook was called. changed reports whether it changed the object, and again whether it may be
// called again.
func (r *round) called(key string, changed, again bool) {
	if changed {
		r.wantPrevious()
		*r.rerun = true
	}
	if again {
		r.previous = append(r.previous, key)
	}
}

func (r *round) done(a *Attributes) {
	if a.Object != nil {
		r.output = a.Object.Copy()
	}
}
