// Package admissionregistration has the kinds of admissionregistration.k8s.io: webhooks, admission policies and their bindings. Expressions are
// compiled by package cel.
package admissionregistration

import (
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// Kinds returns the kinds of admissionregistration.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{
		webhookKind("validatingwebhookconfigurations"), webhookKind("mutatingwebhookconfigurations"),
		admissionPolicyKind("validatingadmissionpolicies", validateValidatingPolicy, table.Text("Validations",
			"Validations indicates the number of validation rules defined in this configuration").Of("integer"), "validations"),
		admissionPolicyKind("mutatingadmissionpolicies", validateMutatingPolicy, table.Text("Mutations",
			"Mutation indicates the number of mutations rules defined in this configuration").Of("integer"), "mutations"),
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

func webhookKind(plural string) kind.Kind {
	return kind.Kind{
		Storage:  plural + ".admissionregistration.k8s.io",
		Strategy: admissionStrategy(validateWebhooks),
		Changed:  kind.Literally.Of("webhooks"),
		Defaults: kind.EveryVersion(func(obj object.Object) {
			for _, hook := range obj.Objects("webhooks") {
				defaultWebhook(hook, plural == "mutatingwebhookconfigurations")
			}
		}),
		Columns: []table.Column{
			table.Name(), table.Text("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration").Of("integer"),
			table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.List("webhooks"))), table.AgeCell(now, obj))
		},
	}
}

func admissionPolicyKind(plural string, validate func(obj, old object.Object) field.ErrorList, count table.Column, list string) kind.Kind {
	k := kind.Kind{
		Storage:  plural + ".admissionregistration.k8s.io",
		Strategy: admissionStrategy(validate),
		Changed:  kind.Semantically.Of("spec"),
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault("Fail", "spec", "failurePolicy")
			defaultMatchResources(obj.At("spec", "matchConstraints"))
		}),
		Columns: []table.Column{
			table.Name(), count, table.Text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy"), table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			param := table.Unset
			if kind := obj.At("spec", "paramKind"); kind != nil {
				param = kind.String("apiVersion") + "/" + kind.String("kind")
			}
			return table.Row(obj.Name(), int64(len(obj.List("spec", list))), param, table.AgeCell(now, obj))
		},
	}
	if plural == "validatingadmissionpolicies" {
		k.Strategy.HasStatus, k.Strategy.CustomStatus, k.Strategy.ApplyCreates = true, true, "status"
		k.Strategy.Resets = map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}}
		k.Strategy.ValidateUpdate = validateValidatingPolicyUpdate
	}
	return k
}

func admissionBindingKind(plural string, validate func(obj, old object.Object) field.ErrorList) kind.Kind {
	return kind.Kind{
		Storage:  plural + ".admissionregistration.k8s.io",
		Strategy: admissionStrategy(validate),
		Changed:  kind.Semantically.Of("spec"),
		Defaults: kind.EveryVersion(func(obj object.Object) { defaultMatchResources(obj.At("spec", "matchResources")) }),
		Columns: []table.Column{
			table.Name(), table.Text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to"),
			table.Text("ParamRef", "ParamRef indicates the param resource which sets the configuration param"), table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("spec", "policyName"), cellParamRef(obj.At("spec", "paramRef")), table.AgeCell(now, obj))
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
	return table.Unset
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
