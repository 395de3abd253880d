package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

const (
	maxAuditAnnotations    = 20
	maxAuditExpressionSize = 5 << 10
)

// validatePolicySpec checks what both kinds of policies have in common, up to the variables.
func validatePolicySpec(obj, old object.Object, mutating bool, e *expressions) field.ErrorList {
	spec, before, p := obj.At("spec"), old.At("spec"), field.Root("spec")
	errs := field.MustBeOneOf(p.Child("failurePolicy"), spec.String("failurePolicy"), "Fail", "Ignore") // "" is not absent
	if kind := spec.At("paramKind"); kind != nil {
		errs = append(errs, validateParamKind(p.Child("paramKind"), kind)...)
	}
	if match, at := spec.At("matchConstraints"), p.Child("matchConstraints"); match == nil {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, validateMatchResources(at, match)...)
		if len(match.List("resourceRules")) == 0 {
			errs = append(errs, field.Required(at.Child("resourceRules"), ""))
		}
		if mutating {
			errs = append(errs, validateMutatingOperations(at, match)...)
		}
	}
	if old == nil || !object.SemanticEqual(spec["paramKind"], before["paramKind"]) ||
		!object.SemanticEqual(spec["matchConditions"], before["matchConditions"]) {
		errs = append(errs, validateMatchConditions(p.Child("matchConditions"), spec.Objects("matchConditions"), e)...)
	}
	for i, v := range spec.Objects("variables") {
		errs = append(errs, validateVariable(p.Child("variables").Index(i), v, e)...)
	}
	return errs
}

func policyExpressions(obj, old object.Object) *expressions {
	return expressionsOf(obj["spec"], old["spec"], obj.Has("spec", "paramKind"))
}

func validateValidatingPolicy(obj, old object.Object) field.ErrorList {
	e := policyExpressions(obj, old)
	errs := validatePolicySpec(obj, old, false, e)
	spec, p := obj.At("spec"), field.Root("spec")
	validations, audits := spec.Objects("validations"), spec.Objects("auditAnnotations")
	if len(validations)+len(audits) == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(p.Child("validations"), detail), field.Required(p.Child("auditAnnotations"), detail))
	}
	for i, v := range validations {
		errs = append(errs, validateValidation(p.Child("validations").Index(i), v, e)...)
	}
	p = p.Child("auditAnnotations")
	if len(audits) > maxAuditAnnotations {
		errs = append(errs, field.Invalid(p, gotext.Values("AuditAnnotation", spec.List("auditAnnotations")),
			fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations)))
	}
	var keys []string
	for i, a := range audits {
		key := a.String("key")
		errs = append(errs, validateAuditAnnotation(p.Index(i), obj.Name(), a, e)...)
		if slices.Contains(keys, key) {
			errs = append(errs, field.Duplicate(p.Index(i).Child("key"), key))
		}
		keys = append(keys, key)
	}
	return errs
}

// validateValidatingPolicyUpdate checks the status, or everything else.
func validateValidatingPolicyUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource != "status" {
		return validateValidatingPolicy(obj, old)
	}
	p := field.Root("status")
	var errs field.ErrorList
	for i, w := range obj.Objects("status", "typeChecking", "expressionWarnings") {
		at := p.Child("typeChecking", "expressionWarnings").Index(i)
		errs = append(errs, field.MustBeSet(at.Child("warning"), w.String("warning"))...)
		errs = append(errs, field.MustBeSet(at.Child("fieldRef"), strings.TrimSpace(w.String("fieldRef")))...)
	}
	return append(errs, kind.ValidateConditions(p.Child("conditions"), obj.Objects("status", "conditions"))...)
}

func validateMutatingPolicy(obj, old object.Object) field.ErrorList {
	e := policyExpressions(obj, old)
	errs := validatePolicySpec(obj, old, true, e)
	spec, p := obj.At("spec"), field.Root("spec")
	mutations := spec.Objects("mutations")
	if len(mutations) == 0 {
		errs = append(errs, field.Required(p.Child("mutations"), "mutations must contain at least one item"))
	}
	for i, m := range mutations {
		errs = append(errs, validateMutation(p.Child("mutations").Index(i), m, e)...)
	}
	return append(errs, field.MustBeSetToOneOf(p.Child("reinvocationPolicy"), spec.String("reinvocationPolicy"), "IfNeeded", "Never")...)
}

func validateMutation(p field.Path, m object.Object, e *expressions) field.ErrorList {
	kind := m.String("patchType")
	if kind != "JSONPatch" && kind != "ApplyConfiguration" {
		return field.MustBeSetToOneOf(p.Child("patchType"), kind, "ApplyConfiguration", "JSONPatch")
	}
	own, other, want := "jsonPatch", "applyConfiguration", cel.JSONPatch
	if kind == "ApplyConfiguration" {
		own, other, want = other, own, cel.Object
	}
	var errs field.ErrorList
	if patch := m.At(own); patch == nil {
		errs = append(errs, field.Required(p.Child(own), "must be specified when patchType is "+kind))
	} else {
		at, text := p.Child(own, "expression"), strings.TrimSpace(patch.String("expression"))
		errs = append(errs, field.MustBeSet(at, text)...)
		errs = append(errs, e.check(at, text, cel.Declarations{Authorizer: true, Patch: true}, want)...)
	}
	if m.Has(other) {
		errs = append(errs, field.Invalid(p.Child(other), "{"+other+"}", "must not be specified when patchType is "+kind))
	}
	return errs
}

// validateMutatingOperations refuses DELETE, which has nothing to mutate.
func validateMutatingOperations(p field.Path, match object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, rule := range match.Objects("resourceRules") {
		for _, operation := range rule.Strings("operations") {
			errs = append(errs, field.MustBeOneOf(p.Child("resourceRules", "operations"), operation, "*", "CONNECT", "CREATE", "UPDATE")...)
		}
	}
	return errs
}

func validateMatchResources(p field.Path, match object.Object) field.ErrorList {
	errs := field.MustBeOneOf(p.Child("matchPolicy"), match.String("matchPolicy"), "Equivalent", "Exact") // a default sets it
	errs = append(errs, validateSelectors(p, match, selector.ValidateOptions{})...)
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for i, rule := range match.Objects(list) {
			at := p.Child(list).Index(i)
			names := rule.Strings("resourceNames")
			for j, name := range names {
				errs = append(errs, field.Check(at.Child("resourceNames").Index(j), name, field.PathSegment)...)
				if slices.Contains(names[:j], name) {
					errs = append(errs, field.Duplicate(at.Child("resourceNames").Index(j), name))
				}
			}
			errs = append(errs, validateOperationRule(at, rule)...)
		}
	}
	return errs
}

func validateParamKind(p field.Path, kind object.Object) field.ErrorList {
	var errs field.ErrorList
	version, at := kind.String("apiVersion"), p.Child("apiVersion")
	refuse := func(value string, msgs []string) {
		if len(msgs) > 0 {
			errs = append(errs, field.Invalid(at, value, strings.Join(msgs, ",")))
		}
	}
	group, v, ok := strings.Cut(version, "/")
	if !ok {
		group, v = "", version
	}
	switch {
	case version == "":
		errs = append(errs, field.Required(at, ""))
	case strings.Count(version, "/") > 1:
		refuse(version, []string{"unexpected GroupVersion string: " + version})
	default:
		if group != "" {
			refuse(group, field.DNS1123Subdomain(group))
		}
		if v == "" {
			refuse(version, []string{"version must be specified"})
		} else {
			refuse(v, field.DNS1035Label(v))
		}
	}
	name := kind.String("kind")
	if name == "" {
		errs = append(errs, field.Required(p.Child("kind"), ""))
	} else if msgs := field.DNS1035Label(strings.ToLower(name)); len(msgs) > 0 {
		errs = append(errs, field.Invalid(p.Child("kind"), name, "may have mixed case, but should otherwise match: "+strings.Join(msgs, ",")))
	}
	return errs
}

// celReserved are the words that no variable may be called (CEL language definition).
var celReserved = []string{"true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if",
	"import", "let", "loop", "package", "namespace", "return", "var", "void", "while"}

func validateVariable(p field.Path, v object.Object, e *expressions) field.ErrorList {
	var errs field.ErrorList
	name := v.String("name")
	switch {
	case strings.TrimSpace(name) == "":
		errs = append(errs, field.Required(p.Child("name"), "name is not specified"))
	case len(field.CIdentifier(name)) > 0 || slices.Contains(celReserved, name):
		errs = append(errs, field.Invalid(p.Child("name"), name, "must be a valid CEL identifier"))
	}
	if strings.TrimSpace(v.String("expression")) == "" {
		errs = append(errs, field.Required(p.Child("expression"), "expression is not specified"))
	}
	return append(errs, e.declare(p.Child("expression"), v)...)
}

func validateValidation(p field.Path, v object.Object, e *expressions) field.ErrorList {
	var errs field.ErrorList
	if strings.TrimSpace(v.String("expression")) == "" {
		errs = append(errs, field.Required(p.Child("expression"), "expression is not specified"))
	}
	errs = append(errs, e.check(p.Child("expression"), v.String("expression"), cel.Declarations{Authorizer: true}, cel.Bool)...)
	for _, name := range []string{"messageExpression", "message"} {
		text := v.String(name)
		trimmed := strings.TrimSpace(text)
		switch {
		case text != "" && trimmed == "":
			errs = append(errs, field.Invalid(p.Child(name), text, "must be non-empty if specified"))
		case name == "messageExpression":
			errs = append(errs, e.check(p.Child(name), text, cel.Declarations{}, cel.String)...)
		case name == "message" && strings.ContainsAny(trimmed, "\n\r"):
			errs = append(errs, field.Invalid(p.Child(name), text, "must not contain line breaks"))
		}
	}
	if v.Has("reason") {
		errs = append(errs, field.MustBeOneOf(p.Child("reason"), v.String("reason"), "Forbidden", "Invalid", "RequestEntityTooLarge")...)
	}
	return errs
}

func validateAuditAnnotation(p field.Path, policy string, a object.Object, e *expressions) field.ErrorList {
	var errs field.ErrorList
	key := a.String("key")
	if policy == "" {
		errs = append(errs, field.Invalid(p.Child("key"), key, "requires metadata.name be non-empty"))
	} else {
		errs = append(errs, field.Check(p.Child("key"), policy+"/"+key, field.QualifiedName)...)
	}
	switch size := len(strings.TrimSpace(a.String("valueExpression"))); {
	case size == 0:
		errs = append(errs, field.Required(p.Child("valueExpression"), "valueExpression is not specified"))
	case size > maxAuditExpressionSize:
		errs = append(errs, field.Required(p.Child("valueExpression"), fmt.Sprintf("must not exceed %d bytes in length", maxAuditExpressionSize)))
	default:
		errs = append(errs, e.check(p.Child("valueExpression"), a.String("valueExpression"), cel.Declarations{Authorizer: true}, cel.StringNull)...)
	}
	return errs
}

// validatePolicyBinding checks what both kinds of bindings have in common.
func validatePolicyBinding(obj object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	if name := spec.String("policyName"); name == "" {
		errs = append(errs, field.Required(p.Child("policyName"), ""))
	} else {
		errs = append(errs, field.Check(p.Child("policyName"), name, field.DNS1123Subdomain)...)
	}
	if ref := spec.At("paramRef"); ref != nil {
		errs = append(errs, validateParamRef(p.Child("paramRef"), ref)...)
	}
	if match := spec.At("matchResources"); match != nil {
		errs = append(errs, validateMatchResources(p.Child("matchResources"), match)...)
	}
	return errs
}

func validateValidatingBinding(obj, _ object.Object) field.ErrorList {
	errs := validatePolicyBinding(obj)
	list, p := obj.List("spec", "validationActions"), field.Root("spec").Child("validationActions")
	actions := object.Strings(list)
	for i, action := range actions {
		errs = append(errs, field.MustBeOneOf(p.Index(i), action, "Audit", "Deny", "Warn")...)
		if slices.Contains(actions[:i], action) {
			errs = append(errs, field.Duplicate(p.Index(i), action))
		}
	}
	if slices.Contains(actions, "Deny") && slices.Contains(actions, "Warn") {
		errs = append(errs, field.Invalid(p, list, "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)"))
	}
	if len(actions) == 0 {
		errs = append(errs, field.Required(p, "at least one validation action is required"))
	}
	return errs
}

func validateMutatingBinding(obj, _ object.Object) field.ErrorList {
	match := obj.At("spec", "matchResources")
	return append(validatePolicyBinding(obj), validateMutatingOperations(field.Root("spec").Child("matchResources"), match)...)
}

func validateParamRef(p field.Path, ref object.Object) field.ErrorList {
	const exclusive = "name and selector are mutually exclusive"
	name, s := ref.String("name"), ref.Map("selector")
	var errs field.ErrorList
	if name != "" {
		errs = append(errs, field.Check(p.Child("name"), name, field.PathSegment)...)
		if s != nil {
			errs = append(errs, field.Forbidden(p.Child("name"), exclusive))
		}
	}
	if s != nil {
		errs = append(errs, selector.ValidateLabelSelector(p.Child("selector"), s, selector.ValidateOptions{})...)
		if name != "" {
			errs = append(errs, field.Forbidden(p.Child("selector"), exclusive))
		}
	}
	if name == "" && s == nil {
		errs = append(errs, field.Required(p, "one of name or selector must be specified"))
	}
	return append(errs, field.MustBeSetToOneOf(p.Child("parameterNotFoundAction"), ref.String("parameterNotFoundAction"), "Deny", "Allow")...)
}

// goLabelSelector prints a metav1.LabelSelector as its String method does, which is what the Table shows.
func goLabelSelector(s object.Object) string {
	text := "&LabelSelector{MatchLabels:map[string]string{"
	labels := object.StringMap(s.Map("matchLabels"))
	for _, k := range object.SortedKeys(labels) {
		text += k + ": " + labels[k] + ","
	}
	text += "},MatchExpressions:[]LabelSelectorRequirement{"
	for _, e := range s.Objects("matchExpressions") {
		text += fmt.Sprintf("LabelSelectorRequirement{Key:%s,Operator:%s,Values:%v,},", e.String("key"), e.String("operator"), e.Strings("values"))
	}
	return text + "},}"
}
