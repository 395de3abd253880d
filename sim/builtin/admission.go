package builtin

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func admissionKinds() []kind {
	return []kind{
		webhookKind("validatingwebhookconfigurations"), webhookKind("mutatingwebhookconfigurations"),
		admissionPolicyKind("validatingadmissionpolicies", validateValidatingPolicy, colText("Validations",
			"Validations indicates the number of validation rules defined in this configuration").of("integer"), "validations"),
		admissionPolicyKind("mutatingadmissionpolicies", validateMutatingPolicy, colText("Mutations",
			"Mutation indicates the number of mutations rules defined in this configuration").of("integer"), "mutations"),
		admissionBindingKind("validatingadmissionpolicybindings", validateValidatingBinding),
		admissionBindingKind("mutatingadmissionpolicybindings", validateMutatingBinding),
	}
}

// admissionStrategy is what all kinds of admissionregistration.k8s.io have in common.
func admissionStrategy(validate func(obj, old object.Object) field.ErrorList) resource.Strategy {
	return resource.Strategy{
		Checks:               resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
		NeedsResourceVersion: true, AnyFinalizers: true, Warn: warnStaticName,
		Validate: func(_ *resource.Context, obj object.Object) field.ErrorList { return validate(obj, nil) },
		ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
			return validate(obj, old)
		},
	}
}

// warnStaticName warns about names that are kept for objects from files (KEP-5793).
func warnStaticName(ctx *resource.Context, obj, _ object.Object) {
	const suffix = ".static.k8s.io"
	if ctx.Subresource == "" && strings.HasSuffix(obj.Name(), suffix) {
		ctx.Warn(`metadata.name: names ending with "` + suffix + `" are reserved for static manifest-based configurations and cannot be managed via the API`)
	}
}

func webhookKind(plural string) kind {
	return kind{
		storage:  plural + ".admissionregistration.k8s.io",
		strategy: admissionStrategy(validateWebhooks),
		changed:  literally.of("webhooks"),
		defaults: everyVersion(func(obj object.Object) {
			for _, hook := range obj.Objects("webhooks") {
				defaultWebhook(hook, plural == "mutatingwebhookconfigurations")
			}
		}),
		columns: []column{
			colName(), colText("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration").of("integer"),
			colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), int64(len(obj.List("webhooks"))), cellAge(now, obj))
		},
	}
}

func admissionPolicyKind(plural string, validate func(obj, old object.Object) field.ErrorList, count column, list string) kind {
	k := kind{
		storage:  plural + ".admissionregistration.k8s.io",
		strategy: admissionStrategy(validate),
		changed:  semantically.of("spec"),
		defaults: everyVersion(func(obj object.Object) {
			obj.SetDefault("Fail", "spec", "failurePolicy")
			defaultMatchResources(obj.At("spec", "matchConstraints"))
		}),
		columns: []column{
			colName(), count, colText("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"), colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			param := cellUnset
			if kind := obj.At("spec", "paramKind"); kind != nil {
				param = kind.String("apiVersion") + "/" + kind.String("kind")
			}
			return cells(obj.Name(), int64(len(obj.List("spec", list))), param, cellAge(now, obj))
		},
	}
	if plural == "validatingadmissionpolicies" {
		k.strategy.HasStatus, k.strategy.CustomStatus, k.strategy.ApplyCreates = true, true, "status"
		k.strategy.Resets = map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}}
		k.strategy.ValidateUpdate = validateValidatingPolicyUpdate
	}
	return k
}

func admissionBindingKind(plural string, validate func(obj, old object.Object) field.ErrorList) kind {
	return kind{
		storage:  plural + ".admissionregistration.k8s.io",
		strategy: admissionStrategy(validate),
		changed:  semantically.of("spec"),
		defaults: everyVersion(func(obj object.Object) { defaultMatchResources(obj.At("spec", "matchResources")) }),
		columns: []column{
			colName(), colText("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
			colText("ParamRef", "ParamRef indicates the param resource which sets the configuration param"), colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), obj.String("spec", "policyName"), cellParamRef(obj.At("spec", "paramRef")), cellAge(now, obj))
		},
	}
}

func cellParamRef(ref object.Object) string {
	switch name, namespace := ref.String("name"), ref.String("namespace"); {
	case name != "" && namespace != "":
		return namespace + "/" + name
	case name != "":
		return "*/" + name
	case ref.Has("selector"):
		return goLabelSelector(ref.Map("selector"))
	}
	return cellUnset
}

func defaultWebhook(hook object.Object, mutating bool) {
	hook.SetDefault("Fail", "failurePolicy")
	hook.SetDefault("Equivalent", "matchPolicy")
	hook.SetDefault(map[string]any{}, "namespaceSelector")
	hook.SetDefault(map[string]any{}, "objectSelector")
	hook.SetDefault(int64(10), "timeoutSeconds")
	if mutating {
		hook.SetDefault("Never", "reinvocationPolicy")
	}
	if service := hook.At("clientConfig", "service"); service != nil {
		service.SetDefault(int64(443), "port")
	}
	for _, rule := range hook.Objects("rules") {
		rule.SetDefault("*", "scope")
	}
}

func defaultMatchResources(match object.Object) {
	if match == nil {
		return
	}
	match.SetDefault("Equivalent", "matchPolicy")
	match.SetDefault(map[string]any{}, "namespaceSelector")
	match.SetDefault(map[string]any{}, "objectSelector")
	for _, list := range []string{"resourceRules", "excludeResourceRules"} {
		for _, rule := range match.Objects(list) {
			rule.SetDefault("*", "scope")
		}
	}
}

// validateSelectors checks the selectors of a webhook, or of what a policy matches.
func validateSelectors(p field.Path, o object.Object, options selector.ValidateOptions) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"namespaceSelector", "objectSelector"} {
		errs = append(errs, selector.ValidateLabelSelector(p.Child(name), o.Map(name), options)...)
	}
	return errs
}
