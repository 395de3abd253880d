package admissionregistration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/webhook"
)

// webhookRules records the rules that the stored webhooks already break. An update may also break them.
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
		rules.anyVersions = rules.anyVersions || webhook.TakesNone(hook.Strings("admissionReviewVersions"))
		rules.anyNames = rules.anyNames || slices.Contains(names, hook.String("name"))
		names = append(names, hook.String("name"))
		at := field.CursorOn(field.Path{}, hook)
		validateSelectors(at, selector.ValidateOptions{})
		rules.selectors.AllowInvalidValues = rules.selectors.AllowInvalidValues || len(at.Errors()) > 0
		rules.anyConditions = rules.anyConditions && object.Equal(hook["matchConditions"], hooks[i]["matchConditions"])
	}
	return rules
}

var (
	noSideEffects  = []string{"None", "NoneOnDryRun"}
	allSideEffects = []string{"None", "NoneOnDryRun", "Some", "Unknown"}
)

func validateWebhooks(ctx *resource.Context, at field.Cursor) {
	hooks := at.Child("webhooks")
	rules := webhookRulesOf(at.Object().Objects("webhooks"), at.Old().Objects("webhooks"))
	rules.expressions = expressionsOf(ctx, hooks, false)
	names := field.Seen{}
	for hook := range hooks.Each() {
		validateWebhook(hook, rules)
		versions := hook.Child("admissionReviewVersions").Required("must specify one of v1, v1beta1")
		webhook.ValidateReviewVersions(versions, rules.anyVersions)
		if name := hook.Child("name"); name.String() != "" && !rules.anyNames {
			name.Unique(names)
		}
	}
}

func validateWebhook(at field.Cursor, rules webhookRules) {
	at.Child("name").Required().Check(field.FullyQualifiedName)
	for rule := range at.Each("rules") {
		validateOperationRule(rule)
	}
	at.Child("failurePolicy").OneOf("Fail", "Ignore")
	at.Child("matchPolicy").OneOf("Equivalent", "Exact")
	effects, timeout := noSideEffects, at.Child("timeoutSeconds")
	if rules.anySideEffects {
		effects = allSideEffects
	}
	at.Child("sideEffects").RequireIf(!at.Has("sideEffects"), "must specify one of "+strings.Join(effects, ", ")).OneOf(effects...)
	timeout.InvalidIf(timeout.Has() && (timeout.Int64() < 1 || timeout.Int64() > 30), "the timeout value must be between 1 and 30 seconds")
	validateSelectors(at, rules.selectors)
	at.Child("reinvocationPolicy").OneOf("IfNeeded", "Never")
	webhook.ValidateClientConfig(at.Child("clientConfig"))
	if !rules.anyConditions {
		validateMatchConditions(at.Child("matchConditions"), rules.expressions)
	}
}

// validateOperationRule checks the operations and resources that a webhook or policy applies to.
func validateOperationRule(at field.Cursor) {
	operations := at.Child("operations").Required()
	kind.CheckAlone(operations, "operations")
	for operation := range operations.Each() {
		operation.OneOf("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
	}
	kind.CheckAlone(at.Child("apiGroups").Required(), "API groups")
	versions := at.Child("apiVersions").Required()
	kind.CheckAlone(versions, "API versions")
	for version := range versions.Each() {
		version.Required()
	}
	validateRuleResources(at.Child("resources").Required())
	at.Child("scope").OneOf("*", "Cluster", "Namespaced")
}

// validateRuleResources checks resources and subresources, such as pods, pods/status, */scale and */*.
func validateRuleResources(at field.Cursor) {
	resources := at.Strings()
	allSubresources, allResources := map[string]bool{}, map[string]bool{}
	plain := false // as on the real server, only the last resource without a subresource counts
	for item := range at.Each() {
		name := item.Required().String()
		if name == "" {
			continue
		}
		resource, sub, ok := strings.Cut(name, "/")
		if !ok {
			plain = name != "*"
			continue
		}
		item.InvalidIf(allSubresources[resource], fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, name))
		item.InvalidIf(allResources[sub], fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, name))
		allSubresources[resource] = allSubresources[resource] || sub == "*"
		allResources[sub] = allResources[sub] || resource == "*"
	}
	at.InvalidIf(len(resources) > 1 && slices.Contains(resources, "*/*"), "if '*/*' is present, must not specify other resources")
	at.InvalidIf(slices.Contains(resources, "*") && plain, "if '*' is present, must not specify other resources without subresources")
}

const maxMatchConditions = 64

// validateMatchConditions checks the expression and the name of each match condition.
func validateMatchConditions(at field.Cursor, e *expressions) {
	at.MaxItems(maxMatchConditions)
	names := field.Seen{}
	for c := range at.Each() {
		expression := c.Child("expression").With(strings.TrimSpace(c.String("expression"))).Required()
		e.check(expression, expr.Declarations{Authorizer: true, Alone: true}, expr.Bool)
		if name := c.Child("name").Required().Check(field.QualifiedName); name.Has() {
			name.Unique(names)
		}
	}
}
