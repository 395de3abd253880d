package flowcontrol

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// flowVerbs are the verbs that a rule may contain, sorted.
var flowVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"}

// mandatoryLevels and MandatorySchemas contain the specs of the objects that every API server creates and that no client
// can change (flowcontrol/bootstrap).
var (
	mandatoryLevels = map[string]object.Object{
		"exempt": {"type": "Exempt", "exempt": map[string]any{"nominalConcurrencyShares": int64(0), "lendablePercent": int64(0)}},
		"catch-all": {"type": "Limited", "limited": map[string]any{"nominalConcurrencyShares": int64(5), "lendablePercent": int64(0),
			"limitResponse": map[string]any{"type": "Reject"}}},
	}
	MandatorySchemas = map[string]object.Object{
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

func validateFlowSchema(_ *resource.Context, all field.Cursor) {
	obj, at := all.Object(), all.Child("spec")
	precedence, method := at.Child("matchingPrecedence").OrZero(), at.Child("distinguisherMethod")
	precedence.Min(1, "must be a positive value").Max(10000, "must not be greater than 10000")
	precedence.InvalidIf(precedence.Int64() == 1 && obj.Name() != "exempt", "only the schema named 'exempt' may have matchingPrecedence 1")
	if method.Has() && !slices.Contains([]string{"ByNamespace", "ByUser"}, method.String("type")) {
		method.Child("type").NotSupported(gotext.Value(gotext.FlowDistinguisherMethod, method.Object()), "ByNamespace", "ByUser")
	}
	at.Child("priorityLevelConfiguration", "name").Required("must reference a priority level").Check(field.DNS1123Subdomain)
	for rule := range at.Each("rules") {
		validateFlowRule(rule)
	}
	if fixed, ok := MandatorySchemas[obj.Name()]; ok && !object.SemanticEqual(at.Value(), map[string]any(fixed)) {
		at.Invalid(gotext.Value(gotext.FlowSchemaSpec, at.Object()), "spec of '"+obj.Name()+"' must equal the fixed value")
	}
	validateFlowStatus(nil, all)
}

func validateFlowRule(at field.Cursor) {
	for s := range at.Each("subjects") {
		validateFlowSubject(s)
	}
	at.Child("subjects").Required("subjects must contain at least one value")
	at.RequireIf(at.Len("resourceRules")+at.Len("nonResourceRules") == 0, "at least one of resourceRules and nonResourceRules has to be non-empty")
	for r := range at.Each("resourceRules") {
		validateFlowResources(r)
	}
	for r := range at.Each("nonResourceRules") {
		validateFlowURLs(r)
	}
}

type flowSubject struct{ kind, field string }

// flowSubjects are the kinds of subjects, each with the field that belongs to it. Errors about fields of other kinds are reported
// in this order.
var flowSubjects = []flowSubject{{"ServiceAccount", "serviceAccount"}, {"User", "user"}, {"Group", "group"}}

func validateFlowSubject(at field.Cursor) {
	kind := at.String("kind")
	own := slices.IndexFunc(flowSubjects, func(s flowSubject) bool { return s.kind == kind })
	if own < 0 {
		at.Child("kind").NotSupported(kind, "Group", "ServiceAccount", "User")
		return
	}
	switch subject := at.Child(flowSubjects[own].field); {
	case !subject.Has():
		subject.Missing(flowSubjects[own].field + " is required when subject kind is '" + kind + "'")
	case kind == "ServiceAccount":
		validateFlowAccount(subject)
	default:
		subject.Child("name").Required()
	}
	for _, s := range flowSubjects {
		at.Child(s.field).ForbidIf(s.kind != kind && at.Has(s.field), s.field+" is forbidden when subject kind is not '"+s.kind+"'")
	}
}

func validateFlowAccount(at field.Cursor) {
	if name := at.Child("name"); name.String() != "*" {
		name.Required().Check(field.DNS1123Subdomain)
	}
	at.Child("namespace").Required("must specify namespace for service account").Check(field.DNS1123Label)
}

func validateFlowVerbs(at field.Cursor) {
	verbs := at.Required("verbs must contain at least one value").Strings()
	switch {
	case slices.Contains(verbs, "*"):
		kind.CheckAlone(at, "verbs")
	case slices.ContainsFunc(verbs, func(v string) bool { return !slices.Contains(flowVerbs, v) }):
		at.NotSupported(at.Value(), flowVerbs...)
	}
}

func validateFlowURLs(at field.Cursor) {
	validateFlowVerbs(at.Child("verbs"))
	urls := at.Child("nonResourceURLs").Required("nonResourceURLs must contain at least one value")
	if slices.Contains(urls.Strings(), "*") {
		kind.CheckAlone(urls, "non-resource URLs")
		return
	}
	for url := range urls.Each() {
		validateURLPath(url)
	}
}

func validateFlowResources(at field.Cursor) {
	validateFlowVerbs(at.Child("verbs"))
	kind.CheckAlone(at.Child("apiGroups").Required("resource rules must supply at least one api group"), "api groups")
	kind.CheckAlone(at.Child("resources").Required("resource rules must supply at least one resource"), "resources")
	namespaces := at.Child("namespaces")
	namespaces.RequireIf(namespaces.Len() == 0 && !at.True("clusterScope"),
		"resource rules that are not cluster scoped must supply at least one namespace")
	if slices.Contains(namespaces.Strings(), "*") {
		kind.CheckAlone(namespaces, "namespaces")
		return
	}
	for name := range namespaces.Each() {
		for _, m := range field.DNS1123Label(name.String()) {
			name.Invalid(name.String(), "each member of this list must be '*' or a DNS-1123 label; "+m)
		}
	}
}
