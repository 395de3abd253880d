package flowcontrol

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// goTypes are the structs of flowcontrol as the API server holds them in memory.
const goTypes = `
FlowSchemaSpec: PriorityLevelConfiguration PriorityLevelConfigurationReference, MatchingPrecedence i, DistinguisherMethod *FlowDistinguisherMethod, Rules []PolicyRulesWithSubjects
FlowDistinguisherMethod: Type s
PriorityLevelConfigurationReference: Name s
PolicyRulesWithSubjects: Subjects []FlowSubject, ResourceRules []ResourcePolicyRule, NonResourceRules []NonResourcePolicyRule
FlowSubject: Kind s, User *LocalObjectReference, Group *LocalObjectReference, ServiceAccount *ServiceAccountSubject
ServiceAccountSubject: Namespace s, Name s
ResourcePolicyRule: Verbs []s, APIGroups []s, Resources []s, ClusterScope b, Namespaces []s
NonResourcePolicyRule: Verbs []s, NonResourceURLs []s
PriorityLevelConfigurationSpec: Type s, Limited *LimitedPriorityLevelConfiguration, Exempt *ExemptPriorityLevelConfiguration
LimitedPriorityLevelConfiguration: NominalConcurrencyShares i, LimitResponse LimitResponse, LendablePercent *i, BorrowingLimitPercent *i
ExemptPriorityLevelConfiguration: NominalConcurrencyShares *i, LendablePercent *i
LimitResponse: Type s, Queuing *QueuingConfiguration
QueuingConfiguration: Queues i, HandSize i, QueueLengthLimit i
`

func init() { gotext.Define(goTypes) }

// flowVerbs are the verbs a rule may name, in order.
var flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

// mandatoryLevels and mandatorySchemas are the specs of the objects that every API server has and nobody may change.
var (
	mandatoryLevels = map[string]object.Object{
		"exempt": {"type": "Exempt", "exempt": map[string]any{"nominalConcurrencyShares": int64(0), "lendablePercent": int64(0)}},
		"catch-all": {"type": "Limited", "limited": map[string]any{"nominalConcurrencyShares": int64(5), "lendablePercent": int64(0),
			"limitResponse": map[string]any{"type": "Reject"}}},
	}
	mandatorySchemas = map[string]object.Object{
		"exempt": mandatorySchema("exempt", 1, "", "system:masters"),
		"catch-all": mandatorySchema("catch-all", 10000, "ByUser", "system:unauthenticated",
			"system:authenticated"),
	}
)

func mandatorySchema(level string, precedence int64, method string, groups ...string) object.Object {
	all := func() []any { return []any{"*"} }
	var subjects []any
	for _, g := range groups {
		subjects = append(subjects, map[string]any{"kind": "Group", "group": map[string]any{"name": g}})
	}
	spec := object.Object{
		"priorityLevelConfiguration": map[string]any{"name": level},
		"matchingPrecedence":         precedence,
		"rules": []any{map[string]any{
			"subjects": subjects,
			"resourceRules": []any{map[string]any{
				"verbs": all(), "apiGroups": all(), "resources": all(), "namespaces": all(), "clusterScope": true}},
			"nonResourceRules": []any{map[string]any{"verbs": all(), "nonResourceURLs": all()}},
		}},
	}
	if method != "" {
		spec["distinguisherMethod"] = map[string]any{"type": method}
	}
	return spec
}

func validateFlowSchema(obj object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := validatePrecedence(p.Child("matchingPrecedence"), obj.Name(), spec.Int64("matchingPrecedence"))
	if method := spec.At("distinguisherMethod"); method != nil && !slices.Contains([]string{"ByNamespace", "ByUser"}, method.String("type")) {
		errs = append(errs, field.NotSupported(p.Child("distinguisherMethod", "type"), gotext.Value("FlowDistinguisherMethod", method), "ByNamespace", "ByUser"))
	}
	if name, at := spec.String("priorityLevelConfiguration", "name"), p.Child("priorityLevelConfiguration", "name"); name == "" {
		errs = append(errs, field.Required(at, "must reference a priority level"))
	} else {
		errs = append(errs, field.Check(at, name, field.DNS1123Subdomain)...)
	}
	for i, rule := range spec.Objects("rules") {
		errs = append(errs, validateFlowRule(p.Child("rules").Index(i), rule)...)
	}
	if fixed, ok := mandatorySchemas[obj.Name()]; ok && !object.SemanticEqual(map[string]any(spec), map[string]any(fixed)) {
		errs = append(errs, field.Invalid(p, gotext.Value("FlowSchemaSpec", spec), "spec of '"+obj.Name()+"' must equal the fixed value"))
	}
	return append(errs, validateFlowStatus(obj)...)
}

func validatePrecedence(p field.Path, name string, n int64) field.ErrorList {
	switch {
	case n <= 0:
		return field.ErrorList{field.Invalid(p, n, "must be a positive value")}
	case n > 10000:
		return field.ErrorList{field.Invalid(p, n, "must not be greater than 10000")}
	case n == 1 && name != "exempt":
		return field.ErrorList{field.Invalid(p, n, "only the schema named 'exempt' may have matchingPrecedence 1")}
	}
	return nil
}

func validateFlowRule(p field.Path, rule object.Object) field.ErrorList {
	subjects, resources, urls := rule.Objects("subjects"), rule.Objects("resourceRules"), rule.Objects("nonResourceRules")
	var errs field.ErrorList
	for i, s := range subjects {
		errs = append(errs, validateFlowSubject(p.Child("subjects").Index(i), s)...)
	}
	if len(subjects) == 0 {
		errs = append(errs, field.Required(p.Child("subjects"), "subjects must contain at least one value"))
	}
	if len(resources)+len(urls) == 0 {
		errs = append(errs, field.Required(p, "at least one of resourceRules and nonResourceRules has to be non-empty"))
	}
	for i, r := range resources {
		errs = append(errs, validateFlowResources(p.Child("resourceRules").Index(i), r)...)
	}
	for i, r := range urls {
		errs = append(errs, validateFlowURLs(p.Child("nonResourceRules").Index(i), r)...)
	}
	return errs
}

// flowSubjects are the kinds of subjects: the field that holds each, in the order of the errors about the others.
var flowSubjects = []struct{ kind, field string }{{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}}

func validateFlowSubject(p field.Path, subject object.Object) field.ErrorList {
	kind := subject.String("kind")
	var own, others field.ErrorList
	known := false
	for _, s := range flowSubjects {
		at := p.Child(s.field)
		if s.kind != kind {
			if subject.Has(s.field) {
				others = append(others, field.Forbidden(at, s.field+" is forbidden when subject kind is not '"+s.kind+"'"))
			}
			continue
		}
		known = true
		if o := subject.At(s.field); o == nil {
			own = append(own, field.Required(at, s.field+" is required when subject kind is '"+s.kind+"'"))
		} else if kind == "ServiceAccount" {
			own = append(own, validateFlowAccount(at, o)...)
		} else {
			own = append(own, field.MustBeSet(at.Child("name"), o.String("name"))...)
		}
	}
	if !known {
		return field.ErrorList{field.NotSupported(p.Child("kind"), kind, "Group", "ServiceAccount", "User")}
	}
	return append(own, others...)
}

func validateFlowAccount(p field.Path, account object.Object) field.ErrorList {
	var errs field.ErrorList
	if name := account.String("name"); name == "" {
		errs = append(errs, field.Required(p.Child("name"), ""))
	} else if name != "*" {
		errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Subdomain)...)
	}
	if namespace := account.String("namespace"); namespace == "" {
		errs = append(errs, field.Required(p.Child("namespace"), "must specify namespace for service account"))
	} else {
		errs = append(errs, field.Check(p.Child("namespace"), namespace, field.DNS1123Label)...)
	}
	return errs
}

func validateFlowVerbs(p field.Path, rule object.Object) field.ErrorList {
	verbs := rule.Strings("verbs")
	switch {
	case len(verbs) == 0:
		return field.ErrorList{field.Required(p, "verbs must contain at least one value")}
	case slices.Contains(verbs, "*"):
		return kind.ValidateAlone(p, rule.List("verbs"), "verbs")
	case slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(flowVerbs, v) }):
		return field.ErrorList{field.NotSupported(p, rule.List("verbs"), flowVerbs...)}
	}
	return nil
}

func validateFlowURLs(p field.Path, rule object.Object) field.ErrorList {
	errs := validateFlowVerbs(p.Child("verbs"), rule)
	urls, p := rule.Strings("nonResourceURLs"), p.Child("nonResourceURLs")
	switch {
	case len(urls) == 0:
		errs = append(errs, field.Required(p, "nonResourceURLs must contain at least one value"))
	case slices.Contains(urls, "*"):
		errs = append(errs, kind.ValidateAlone(p, rule.List("nonResourceURLs"), "non-resource URLs")...)
	default:
		for i, url := range urls {
			errs = append(errs, validateURLPath(p.Index(i), url)...)
		}
	}
	return errs
}

func validateFlowResources(p field.Path, rule object.Object) field.ErrorList {
	errs := validateFlowVerbs(p.Child("verbs"), rule)
	for _, list := range []struct{ field, what, one string }{
		{"apiGroups", "api groups", "api group"}, {"resources", "resources", "resource"},
	} {
		if len(rule.List(list.field)) == 0 {
			errs = append(errs, field.Required(p.Child(list.field), "resource rules must supply at least one "+list.one))
		}
		errs = append(errs, kind.ValidateAlone(p.Child(list.field), rule.List(list.field), list.what)...)
	}
	namespaces, p := rule.Strings("namespaces"), p.Child("namespaces")
	switch {
	case len(namespaces) == 0 && !rule.True("clusterScope"):
		errs = append(errs, field.Required(p, "resource rules that are not cluster scoped must supply at least one namespace"))
	case slices.Contains(namespaces, "*"):
		errs = append(errs, kind.ValidateAlone(p, rule.List("namespaces"), "namespaces")...)
	default:
		for i, name := range namespaces {
			for _, m := range field.DNS1123Label(name) {
				errs = append(errs, field.Invalid(p.Index(i), name, "each member of this list must be '*' or a DNS-1123 label; "+m))
			}
		}
	}
	return errs
}
