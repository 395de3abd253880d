package admissionregistration

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// webhookRules says which rules an update lets pass because the old webhooks broke them already.
type webhookRules struct {
	anySideEffects, anyVersions, anyNames, anyConditions bool
	selectors                                            selector.ValidateOptions
	expressions                                          *expressions
}

func webhookRulesOf(hooks, old []object.Object) webhookRules {
	var rules webhookRules
	var names []string
	rules.anyConditions = len(hooks) == len(old) && len(old) > 0
	for i, hook := range old {
		rules.anySideEffects = rules.anySideEffects || !slices.Contains(noSideEffects, hook.String("sideEffects"))
		versions := hook.Strings("admissionReviewVersions")
		rules.anyVersions = rules.anyVersions || len(versions) > 0 && !slices.ContainsFunc(versions, isReviewVersion)
		rules.anyNames = rules.anyNames || slices.Contains(names, hook.String("name"))
		names = append(names, hook.String("name"))
		if len(validateSelectors(field.Path{}, hook, selector.ValidateOptions{})) > 0 {
			rules.selectors.AllowInvalidValues = true
		}
		rules.anyConditions = rules.anyConditions && object.Equal(hook["matchConditions"], hooks[i]["matchConditions"])
	}
	return rules
}

var (
	noSideEffects  = []string{"None", "NoneOnDryRun"}
	allSideEffects = []string{"None", "NoneOnDryRun", "Some", "Unknown"}
	reviewVersions = []string{"v1", "v1beta1"}
)

func isReviewVersion(v string) bool { return slices.Contains(reviewVersions, v) }

func validateWebhooks(obj, old object.Object) field.ErrorList {
	hooks := obj.Objects("webhooks")
	rules := webhookRulesOf(hooks, old.Objects("webhooks"))
	rules.expressions = expressionsOf(obj["webhooks"], old["webhooks"], false)
	var errs field.ErrorList
	var names []string
	for i, hook := range hooks {
		p, name := field.Root("webhooks").Index(i), hook.String("name")
		errs = append(errs, validateWebhook(p, hook, rules)...)
		errs = append(errs, validateReviewVersions(p.Child("admissionReviewVersions"), hook, rules)...)
		if name != "" && !rules.anyNames && slices.Contains(names, name) {
			errs = append(errs, field.Duplicate(p.Child("name"), name))
		}
		names = append(names, name)
	}
	return errs
}

func validateWebhook(p field.Path, hook object.Object, rules webhookRules) field.ErrorList {
	errs := field.FullyQualifiedName(p.Child("name"), hook.String("name"))
	for i, rule := range hook.Objects("rules") {
		errs = append(errs, validateOperationRule(p.Child("rules").Index(i), rule)...)
	}
	optional := func(name string, allowed ...string) {
		if hook.Has(name) {
			errs = append(errs, field.MustBeOneOf(p.Child(name), hook.String(name), allowed...)...)
		}
	}
	optional("failurePolicy", "Fail", "Ignore")
	optional("matchPolicy", "Equivalent", "Exact")
	effects := noSideEffects
	if rules.anySideEffects {
		effects = allSideEffects
	}
	if !hook.Has("sideEffects") {
		errs = append(errs, field.Required(p.Child("sideEffects"), "must specify one of "+strings.Join(effects, ", ")))
	}
	optional("sideEffects", effects...)
	if n, ok := hook.Int("timeoutSeconds"); ok && (n < 1 || n > 30) {
		errs = append(errs, field.Invalid(p.Child("timeoutSeconds"), n, "the timeout value must be between 1 and 30 seconds"))
	}
	errs = append(errs, validateSelectors(p, hook, rules.selectors)...)
	optional("reinvocationPolicy", "IfNeeded", "Never")
	errs = append(errs, validateClientConfig(p.Child("clientConfig"), hook.At("clientConfig"))...)
	if !rules.anyConditions {
		errs = append(errs, validateMatchConditions(p.Child("matchConditions"), hook.Objects("matchConditions"), rules.expressions)...)
	}
	return errs
}

func validateReviewVersions(p field.Path, hook object.Object, rules webhookRules) field.ErrorList {
	versions := hook.Strings("admissionReviewVersions")
	known := strings.Join(reviewVersions, ", ")
	if len(versions) == 0 {
		return field.ErrorList{field.Required(p, "must specify one of "+known)}
	}
	var errs field.ErrorList
	for i, v := range versions {
		if slices.Contains(versions[:i], v) {
			errs = append(errs, field.Invalid(p.Index(i), v, "duplicate version"))
			continue
		}
		errs = append(errs, field.Check(p.Index(i), v, field.DNS1035Label)...)
	}
	if !rules.anyVersions && !slices.ContainsFunc(versions, isReviewVersion) {
		errs = append(errs, field.Invalid(p, hook.List("admissionReviewVersions"), "must include at least one of "+known))
	}
	return errs
}

func validateClientConfig(p field.Path, config object.Object) field.ErrorList {
	hasURL, service := config.Has("url"), config.At("service")
	switch {
	case hasURL == (service != nil):
		return field.ErrorList{field.Required(p, "exactly one of url or service is required")}
	case hasURL:
		return validateWebhookURL(p.Child("url"), config.String("url"))
	}
	return validateWebhookService(p.Child("service"), service)
}

// validateWebhookURL checks the address of a webhook.
func validateWebhookURL(p field.Path, text string) field.ErrorList {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(p, "url must be a valid URL: "+err.Error()+form)}
	}
	var errs field.ErrorList
	refuse := func(broken bool, value, detail string) {
		if broken {
			errs = append(errs, field.Invalid(p, value, detail))
		}
	}
	refuse(u.Scheme != "https", u.Scheme, "'https' is the only allowed URL scheme"+form)
	refuse(u.Host == "", u.Host, "host must be specified"+form)
	refuse(u.User != nil, u.User.String(), "user information is not permitted in the URL")
	refuse(u.Fragment != "", u.Fragment, "fragments are not permitted in the URL")
	refuse(u.RawQuery != "", u.RawQuery, "query parameters are not permitted in the URL")
	return errs
}

// validateWebhookService checks the service behind a webhook. The real server mixes up the two names it needs: a missing
// name is reported as the namespace and the other way round.
func validateWebhookService(p field.Path, service object.Object) field.ErrorList {
	errs := field.MustBeSet(p.Child("name"), service.String("namespace"))
	errs = append(errs, field.MustBeSet(p.Child("namespace"), service.String("name"))...)
	if port := service.Int64("port"); len(field.PortNumber(port)) > 0 {
		errs = append(errs, field.Invalid(p.Child("port"), port, "port is not valid: "+strings.Join(field.PortNumber(port), ", ")))
	}
	return append(errs, validateServicePath(p.Child("path"), service.String("path"))...)
}

func validateServicePath(p field.Path, path string) field.ErrorList {
	if path == "" || path == "/" {
		return nil
	}
	if path == "//" {
		return field.ErrorList{field.Invalid(p, path, "segment[0] may not be empty")}
	}
	var errs field.ErrorList
	if !strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(p, path, "must start with a '/'"))
	}
	for i, segment := range strings.Split(strings.TrimSuffix(path[1:], "/"), "/") {
		if segment == "" {
			errs = append(errs, field.Invalid(p, path, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, m := range field.DNS1123Subdomain(segment) {
			errs = append(errs, field.Invalid(p, path, fmt.Sprintf("segment[%d]: %s", i, m)))
		}
	}
	return errs
}

var admissionOperations = []string{"*", "CONNECT", "CREATE", "DELETE", "UPDATE"}

// validateOperationRule checks which operations on which resources a webhook or policy is for.
func validateOperationRule(p field.Path, rule object.Object) field.ErrorList {
	var errs field.ErrorList
	required := func(name string) {
		if len(rule.List(name)) == 0 {
			errs = append(errs, field.Required(p.Child(name), ""))
		}
	}
	required("operations")
	errs = append(errs, kind.ValidateAlone(p.Child("operations"), rule.List("operations"), "operations")...)
	for i, operation := range rule.Strings("operations") {
		errs = append(errs, field.MustBeOneOf(p.Child("operations").Index(i), operation, admissionOperations...)...)
	}
	required("apiGroups")
	errs = append(errs, kind.ValidateAlone(p.Child("apiGroups"), rule.List("apiGroups"), "API groups")...)
	required("apiVersions")
	errs = append(errs, kind.ValidateAlone(p.Child("apiVersions"), rule.List("apiVersions"), "API versions")...)
	for i, version := range rule.Strings("apiVersions") {
		errs = append(errs, field.MustBeSet(p.Child("apiVersions").Index(i), version)...)
	}
	errs = append(errs, validateRuleResources(p.Child("resources"), rule.List("resources"))...)
	if rule.Has("scope") {
		errs = append(errs, field.MustBeOneOf(p.Child("scope"), rule.String("scope"), "*", "Cluster", "Namespaced")...)
	}
	return errs
}

// validateRuleResources checks resources and subresources such as pods, pods/status, */scale and */*.
func validateRuleResources(p field.Path, list []any) field.ErrorList {
	var errs field.ErrorList
	resources := object.Strings(list)
	if len(resources) == 0 {
		errs = append(errs, field.Required(p, ""))
	}
	allSubresources, allResources := map[string]bool{}, map[string]bool{}
	plain := false // as in the real server, the last one without a subresource decides
	for i, name := range resources {
		if name == "" {
			errs = append(errs, field.Required(p.Index(i), ""))
			continue
		}
		resource, sub, ok := strings.Cut(name, "/")
		if !ok {
			plain = name != "*"
			continue
		}
		if allSubresources[resource] {
			errs = append(errs, field.Invalid(p.Index(i), name, fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name)))
		}
		if allResources[sub] {
			errs = append(errs, field.Invalid(p.Index(i), name, fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name)))
		}
		allSubresources[resource] = allSubresources[resource] || sub == "*"
		allResources[sub] = allResources[sub] || resource == "*"
	}
	if len(resources) > 1 && slices.Contains(resources, "*/*") {
		errs = append(errs, field.Invalid(p, list, "if '*/*' is present, must not specify other resources"))
	}
	if slices.Contains(resources, "*") && plain {
		errs = append(errs, field.Invalid(p, list, "if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

const maxMatchConditions = 64

// validateMatchConditions checks conditions: that there is an expression, that it compiles, and the name.
func validateMatchConditions(p field.Path, conditions []object.Object, e *expressions) field.ErrorList {
	var errs field.ErrorList
	if len(conditions) > maxMatchConditions {
		errs = append(errs, field.TooMany(p, len(conditions), maxMatchConditions))
	}
	var names []string
	for i, c := range conditions {
		at, name := p.Index(i), c.String("name")
		text := strings.TrimSpace(c.String("expression"))
		errs = append(errs, field.MustBeSet(at.Child("expression"), text)...)
		errs = append(errs, e.check(at.Child("expression"), text, cel.Declarations{Authorizer: true, Alone: true}, cel.Bool)...)
		if name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
			continue
		}
		errs = append(errs, field.Check(at.Child("name"), name, field.QualifiedName)...)
		if slices.Contains(names, name) {
			errs = append(errs, field.Duplicate(at.Child("name"), name))
		}
		names = append(names, name)
	}
	return errs
}
