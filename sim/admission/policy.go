package admission

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// The storage names of policies and their bindings.
const (
	validatingPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io"
	validatingBindings = "validatingadmissionpolicybindings.admissionregistration.k8s.io"
	mutatingPolicies   = "mutatingadmissionpolicies.admissionregistration.k8s.io"
	mutatingBindings   = "mutatingadmissionpolicybindings.admissionregistration.k8s.io"
)

// policies contains the policies of one kind, each compiled on first use.
//
//	policy ── matchConstraints ─┬─ binding ── matchResources ─┬─ params ─▶ one invocation
//	          matchConditions   │                             └─ params ─▶ one invocation
//	          variables         └─ binding …
type policies struct {
	host              *Server
	storage, bindings string
	compiled          map[string]*policy // compiled policies by name
}

// policy is one policy. Its fields are compiled from its spec.
type policy struct {
	name        string
	spec        object.Object
	fail        bool // failurePolicy Fail
	constraints *criteria
	conditions  []*cel.Program
	expressions []expression
	annotations []expression
}

// expression is one validation, mutation or audit annotation.
type expression struct {
	source  object.Object
	program *cel.Program
	message *cel.Program // message of a validation, or nil
}

// invocation is a policy that applies to a write through one binding, with one parameter.
type invocation struct {
	policy  *policy
	binding object.Object
	kind    *resource.Definition
	params  params
}

// params is a parameter object of a policy, and its kind. Both are nil if there is none.
type params struct {
	object object.Object
	kind   *resource.Definition
}

func newPolicies(h *Server, storage, bindings string) *policies {
	return &policies{host: h, storage: storage, bindings: bindings, compiled: map[string]*policy{}}
}

// problem is an error in a policy's configuration, or a violation of a policy.
type problem struct {
	policy  *policy
	binding string // "" if there is none
	text    string
	reason  status.Reason
	denies  bool // the write is rejected regardless of the binding's validationActions
	index   int  // index of the validation
}

// invocations returns the invocations of all policies that apply to a write, sorted by the names of policies and bindings. It also
// returns the errors in their configuration.
func (p *policies) invocations(a *Attributes) (list []*invocation, problems []problem) {
	if a.Definition.Hub.Strategy.Virtual {
		return nil, nil
	}
	if bindings := p.host.manifests[p.bindings]; len(bindings) > 0 {
		a.parseFieldsV1()
		list, problems = p.bound(a, p.host.manifests[p.storage], bindings)
	}
	if a.isOneOf(policyResources) {
		return list, problems
	}
	bindings := a.Objects.All(p.bindings, "")
	if len(bindings) == 0 {
		return list, problems
	}
	a.parseFieldsV1()
	stored, wrong := p.bound(a, a.Objects.All(p.storage, ""), bindings)
	return append(list, stored...), append(problems, wrong...)
}

// bound is like invocations, but considers only the given policies and bindings.
func (p *policies) bound(a *Attributes, all, bindings []object.Object) (list []*invocation, problems []problem) {
	for _, obj := range all {
		of := p.compile(a, obj)
		own := slices.DeleteFunc(slices.Clone(bindings), func(b object.Object) bool { return b.String("spec", "policyName") != of.name })
		if len(own) == 0 {
			continue
		}
		kind, s := of.constraints.match(a, p.host)
		if s != nil {
			problems = append(problems, problem{policy: of, text: "failed to configure policy: " + s.Message})
		}
		if kind == nil || s != nil {
			continue
		}
		paramKind, err := p.paramKind(of)
		if err != nil {
			problems = append(problems, problem{policy: of, text: "failed to configure policy: " + err.Error()})
			continue
		}
		for _, b := range own {
			more, wrong := p.bind(a, of, b, kind, paramKind)
			if wrong != nil {
				problems = append(problems, *wrong)
			}
			list = append(list, more...)
		}
	}
	return list, problems
}

// bind returns the invocations of a policy through one binding, one for each parameter, or a problem with the configuration. Like
// the real server, it converts the objects of the write and discards the result, because a policy can be evaluated only for objects
// that can be converted.
func (p *policies) bind(a *Attributes, of *policy, b object.Object, kind, paramKind *resource.Definition) ([]*invocation, *problem) {
	failed := func(err error) *problem {
		return &problem{policy: of, binding: b.Name(), text: "failed to configure binding: " + err.Error()}
	}
	if resources := b.At("spec", "matchResources"); resources != nil {
		c := newCriteria(resources, "resourceRules")
		c.everything = true
		matched, s := c.match(a, p.host)
		if s != nil {
			return nil, failed(s)
		}
		if matched == nil {
			return nil, nil
		}
	}
	mutating := p.storage == mutatingPolicies
	if err := a.convertible(kind); err != nil && mutating {
		return nil, &problem{policy: of, text: "failed to configure policy: " + err.Error()}
	}
	found, err := p.params(a, b, paramKind)
	if err != nil {
		return nil, failed(err)
	}
	if len(found) > 0 && !mutating {
		if err := a.convertible(kind); err != nil {
			return nil, failed(fmt.Errorf("failed to convert object version: %w", err))
		}
	}
	var list []*invocation
	for _, param := range found {
		list = append(list, &invocation{of, b, kind, params{param, paramKind}})
	}
	return list, nil
}

// paramKind returns the definition of the kind of a policy's parameters, or nil if the policy has none. It returns an error if the
// server does not serve the kind.
func (p *policies) paramKind(of *policy) (*resource.Definition, error) {
	kind := of.spec.At("paramKind")
	if kind == nil {
		return nil, nil
	}
	gvk := schema.ParseGVK(kind.String("apiVersion"), kind.String("kind"))
	if d := p.host.Table.OfKind(gvk); d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%s'", gvk)
}

// params returns the parameters that a binding selects. If the policy or the binding has no parameters, the result is a
// single nil.
func (p *policies) params(a *Attributes, b object.Object, kind *resource.Definition) ([]object.Object, error) {
	ref := b.At("spec", "paramRef")
	if kind == nil || ref == nil {
		return []object.Object{nil}, nil
	}
	namespace := ref.String("namespace")
	switch {
	case !kind.Namespaced && namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case kind.Namespaced && namespace == "":
		if namespace = a.Namespace; namespace == "" {
			return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
		}
	}
	var found []object.Object
	if name := ref.String("name"); name != "" {
		if obj := a.Objects.Get(kind.Storage, namespace, name); obj != nil {
			found = append(found, kind.FromStored(obj))
		}
	} else {
		sel, _ := selector.FromLabelSelector(ref.Map("selector")) // cannot fail: the selector has been validated
		for _, obj := range a.Objects.All(kind.Storage, namespace) {
			if sel.Matches(obj.Labels()) {
				found = append(found, kind.FromStored(obj))
			}
		}
	}
	if len(found) == 0 && ref.String("parameterNotFoundAction") == "Deny" {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	return found, nil
}

// compile returns the compiled policy. It compiles the policy again if its spec has changed.
func (p *policies) compile(a *Attributes, obj object.Object) *policy {
	name, spec := obj.Name(), obj.At("spec")
	if c := p.compiled[name]; c != nil && object.Equal(map[string]any(c.spec), map[string]any(spec)) {
		return c
	}
	c := &policy{name: name, spec: spec, fail: spec.String("failurePolicy") != "Ignore"}
	c.constraints = newCriteria(spec.Map("matchConstraints"), "resourceRules")
	c.constraints.everything = true
	compiler := cel.NewCompiler(a.expressions(), expr.Declarations{Params: spec.Map("paramKind") != nil, Authorizer: true,
		Patch: p.storage == mutatingPolicies})
	for _, v := range spec.Objects("variables") {
		_ = compiler.Variable(v.String("name"), v.String("expression")) // expressions that use an invalid variable report the error
	}
	for _, v := range spec.Objects("matchConditions") {
		c.conditions = append(c.conditions, compiler.Compile(v.String("expression"), expr.Bool))
	}
	for _, v := range spec.Objects("validations") {
		e := expression{source: v, program: compiler.Compile(v.String("expression"), expr.Bool)}
		if text := v.String("messageExpression"); text != "" {
			e.message = compiler.Compile(text, expr.String)
		}
		c.expressions = append(c.expressions, e)
	}
	for _, v := range spec.Objects("auditAnnotations") {
		c.annotations = append(c.annotations, expression{source: v, program: compiler.Compile(v.String("valueExpression"), expr.StringNull)})
	}
	for _, v := range spec.Objects("mutations") {
		want, text := expr.Object, v.String("applyConfiguration", "expression")
		if v.String("patchType") == "JSONPatch" {
			want, text = expr.JSONPatch, v.String("jsonPatch", "expression")
		}
		c.expressions = append(c.expressions, expression{source: v, program: compiler.Compile(text, want)})
	}
	p.compiled[name] = c
	return c
}

// expressions returns the CEL environment for expressions that are stored in policies and webhooks.
func (a *Attributes) expressions() expr.Environment {
	return expr.Environment{Minor: a.Server.Minor, Stored: true}
}

// matchConditions reports whether all match conditions are true. If any condition is false, errors of other conditions are ignored.
// Otherwise it returns these errors, or the error that the cost budget is exceeded.
func matchConditions(programs []*cel.Program, in *expr.Input) (bool, error) {
	budget := int64(expr.MatchBudget)
	var failed []string
	for _, p := range programs {
		v, err := p.Eval(in, &budget)
		switch {
		case err != nil && err.Budget:
			return false, err
		case err != nil:
			failed = append(failed, err.Text)
		case v == false:
			return false, nil
		}
	}
	if len(failed) > 0 {
		return false, errors.New(field.Aggregate(failed))
	}
	return true, nil
}

// input returns the values that expressions of a policy or webhook can access during a write. kind is the version in which the
// write matches.
func (a *Attributes) input(h *Server, kind *resource.Definition, with params) (in *expr.Input, err error) {
	in = &expr.Input{Request: a.reviewRequest(kind), Resource: expr.Access{Group: a.Definition.Group, Resource: a.Definition.Resource,
		Subresource: a.Subresource, Namespace: a.Namespace, Name: a.Name}}
	in.Structs = kind.StorageCodec == nil
	if in.Object, in.OldObject, err = a.forExpressions(kind); err != nil {
		return nil, err
	}
	if with.object != nil {
		in.Params, in.ParamsStructs = map[string]any(with.object), with.kind.StorageCodec == nil
	}
	if a.Namespace != "" && a.Definition.Storage != namespaces {
		if namespace := a.Objects.Get(namespaces, "", a.Namespace); namespace != nil {
			namespace.Remove("apiVersion")
			namespace.Remove("kind")
			namespace.Remove("metadata", "managedFields")
			namespace.Remove("metadata", "ownerReferences")
			in.NamespaceObject = map[string]any(namespace)
		}
	}
	in.Authorizer = func(q expr.Access) expr.Decision { return a.mayCached(h, q) }
	return in, nil
}

// mayCached answers an authorization query of an expression. Each query is decided once in a request, as policies of the real server
// do (k8s.io/apiserver/pkg/admission/plugin/authorizer.NewCachingAuthorizer).
func (a *Attributes) mayCached(h *Server, q expr.Access) expr.Decision {
	if d, ok := a.decisions[q]; ok {
		return d
	}
	user := a.User
	if q.ServiceAccountName != "" {
		user = serviceAccountUser(q.ServiceAccountNamespace, q.ServiceAccountName)
	}
	d := h.May(a.By, user, q, a.Objects)
	if a.decisions == nil {
		a.decisions = map[expr.Access]expr.Decision{}
	}
	a.decisions[q] = d
	return d
}

// serviceAccountUser returns the user that authorizer.serviceAccount represents. Unlike an authenticated user, it is not in the
// group system:authenticated.
func serviceAccountUser(namespace, name string) resource.User {
	return resource.User{Name: "system:serviceaccount:" + namespace + ":" + name,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}}
}
