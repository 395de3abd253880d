// Package admissionregistration defines the kinds of admissionregistration.k8s.io: webhook configurations, admission
// policies and their bindings. Package cel compiles their expressions.
package admissionregistration

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
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
		validatingPolicyKind(), mutatingPolicyKind(),
		admissionBindingKind("validatingadmissionpolicybindings", validateValidatingBinding),
		admissionBindingKind("mutatingadmissionpolicybindings", validateMutatingBinding),
	}
}

// admissionKind returns a kind with the properties that all kinds of admissionregistration.k8s.io share.
func admissionKind(plural string, validate func(*resource.Context, field.Cursor), columns ...table.Column) kind.Kind {
	return kind.Kind{
		Storage: plural + ".admissionregistration.k8s.io",
		Strategy: resource.Strategy{
			Checks:                  resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			DenyUnconditionalUpdate: true, AnyFinalizers: true, Warn: warnStaticName,
		},
		Changed: kind.Semantically.Of("spec"),
		Validate: func(ctx *resource.Context, at field.Cursor) {
			validate(ctx, at)
			validateStaticName(ctx, at)
		},
		Columns: append(append([]table.Column{table.Name()}, columns...), table.Age()),
	}
}

// StaticSuffix is the end of the names that are reserved for objects from files (KEP-5793).
const StaticSuffix = ".static.k8s.io"

// ManifestKinds returns the kinds in the files of an admission plugin: configurations of webhooks, or policies and then their bindings.
func ManifestKinds(plugin string) []string {
	return map[string][]string{
		"ValidatingAdmissionWebhook": {"ValidatingWebhookConfiguration"},
		"MutatingAdmissionWebhook":   {"MutatingWebhookConfiguration"},
		"ValidatingAdmissionPolicy":  {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"},
		"MutatingAdmissionPolicy":    {"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"},
	}[plugin]
}

const reservedName = `names ending with "` + StaticSuffix + `" are reserved for static manifest-based configurations and cannot be managed via the API`

// validateStaticName rejects a new object with a reserved name, if objects from files are enabled (ValidateStaticSuffix).
func validateStaticName(ctx *resource.Context, at field.Cursor) {
	if name := at.Child("metadata", "name"); at.Old() == nil && strings.HasSuffix(name.String(), StaticSuffix) && ctx.Enabled(staticGate) {
		name.Invalid(name.String(), reservedName)
	}
}

// staticGate is the feature gate for objects from files.
const staticGate = "ManifestBasedAdmissionControlConfig"

// warnStaticName warns about a reserved name, unless validateStaticName rejects it.
func warnStaticName(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "" && strings.HasSuffix(obj.Name(), StaticSuffix) && (old != nil || !ctx.Enabled(staticGate)) {
		ctx.Warn("metadata.name: " + reservedName)
	}
}

func webhookKind(plural string) kind.Kind {
	k := admissionKind(plural, validateWebhooks,
		table.Text("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration").Count("webhooks"))
	k.Changed = kind.Literally.Of("webhooks")
	k.Defaults = kind.EveryVersion(func(obj object.Object) {
		for _, hook := range obj.Objects("webhooks") {
			defaultWebhook(hook, plural == "mutatingwebhookconfigurations")
		}
	})
	return k
}

func admissionPolicyKind(plural string, validate func(*resource.Context, field.Cursor), count table.Column) kind.Kind {
	k := admissionKind(plural, validate, count,
		table.Text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy").Cell(cellParamKind))
	k.Defaults = kind.EveryVersion(func(obj object.Object) {
		obj.SetDefault("Fail", "spec", "failurePolicy")
		defaultMatchResources(obj.At("spec", "matchConstraints"))
	})
	return k
}

func validatingPolicyKind() kind.Kind {
	k := admissionPolicyKind("validatingadmissionpolicies", validateValidatingPolicy, table.Text("Validations",
		"Validations indicates the number of validation rules defined in this configuration").Count("spec", "validations"))
	k.Strategy.HasStatus, k.Strategy.StatusKeeps, k.Strategy.ApplyCreates = true, resource.KeptForStatus, "status"
	k.Strategy.Checks.Subresources = map[string][]resource.Check{"status": {resource.CheckKind}}
	k.ValidateStatus = func(ctx *resource.Context, at field.Cursor) { validatePolicyStatus(ctx, at.Child("status")) }
	return k
}

func mutatingPolicyKind() kind.Kind {
	return admissionPolicyKind("mutatingadmissionpolicies", validateMutatingPolicy, table.Text("Mutations",
		"Mutation indicates the number of mutations rules defined in this configuration").Count("spec", "mutations"))
}

func admissionBindingKind(plural string, validate func(*resource.Context, field.Cursor)) kind.Kind {
	k := admissionKind(plural, validate,
		table.Text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to").At("spec", "policyName"),
		table.Text("ParamRef", "ParamRef indicates the param resource which sets the configuration param").Cell(cellParamRef))
	k.Defaults = map[string]func(object.Object){
		"": func(obj object.Object) { defaultMatchResources(obj.At("spec", "matchResources")) },
		"v1alpha1": func(obj object.Object) {
			defaultMatchResources(obj.At("spec", "matchResources"))
			if ref := obj.At("spec", "paramRef"); ref != nil {
				ref.SetDefault("Deny", "parameterNotFoundAction")
			}
		},
	}
	return k
}

func cellParamKind(obj object.Object) any {
	if kind := obj.At("spec", "paramKind"); kind != nil {
		return kind.String("apiVersion") + "/" + kind.String("kind")
	}
	return table.Unset
}

func cellParamRef(obj object.Object) any {
	ref := obj.At("spec", "paramRef")
	switch name, namespace := ref.String("name"), ref.String("namespace"); {
	case name != "" && namespace != "":
		return namespace + "/" + name
	case name != "":
		return "*/" + name
	case ref.Has("selector"):
		return gotext.SelectorString(ref.Map("selector"))
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

// validateSelectors checks the selectors of a webhook or a policy.
func validateSelectors(at field.Cursor, options selector.ValidateOptions) {
	kind.CheckSelector(at.Child("namespaceSelector"), options)
	kind.CheckSelector(at.Child("objectSelector"), options)
}
