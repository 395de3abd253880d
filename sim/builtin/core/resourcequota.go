package core

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func resourceQuotaKind() kind.Kind {
	return kind.Kind{
		Storage: "resourcequotas",
		Strategy: resource.Strategy{
			Quota:     resource.Quota{Each: []string{"resourcequotas"}},
			HasStatus: true, ReturnsDeleted: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return append(validateQuotaSpec(obj.At("spec")), validateQuotaStatus(obj)...)
			},
			ValidateUpdate: validateQuotaUpdate,
			Warn:           warnQuota,
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			podspec.RoundUp(obj.Map("spec", "hard"))
			podspec.RoundLists(obj.Map("status"), "hard", "used")
		}),
		Columns: []table.Column{table.Name(),
			table.Text("Request", "Request represents a minimum amount of cpu/memory that a container may consume."),
			table.Text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node."),
			table.Age()},
		Row: quotaRow,
	}
}

// quotaResources are the resources without a domain that a quota can limit (Kubernetes documentation, "Resource
// Quotas").
var quotaResources = append([]string{"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
	"requests.storage", "requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage"},
	podspec.IntegerResources...)

func isQuotaResource(name string) bool {
	return slices.Contains(quotaResources, name) || strings.HasPrefix(name, podspec.HugePagesPrefix) ||
		strings.HasPrefix(name, podspec.QuotaPrefix+podspec.HugePagesPrefix)
}

func validateQuotaResource(p field.Path, name string) field.ErrorList {
	errs := podspec.ResourceName(name, p)
	if !strings.Contains(name, "/") && !isQuotaResource(name) {
		errs = append(errs, field.Invalid(p, field.Enum(name), "must be a standard resource for quota"))
	}
	return errs
}

// validateQuotaList checks a map of resources.
func validateQuotaList(p field.Path, amounts map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, name := range object.SortedKeys(amounts) {
		errs = append(errs, validateQuotaResource(p.Key(name), name)...)
		errs = append(errs, podspec.ResourceQuantity(name, quantity.Of(amounts[name]), p.Key(name))...)
	}
	return errs
}

func validateQuotaStatus(obj object.Object) field.ErrorList {
	errs := validateQuotaList(field.Root("status.hard"), obj.Map("status", "hard"))
	return append(errs, validateQuotaList(field.Root("status.used"), obj.Map("status", "used"))...)
}

func validateQuotaSpec(spec object.Object) field.ErrorList {
	p := field.Root("spec")
	hard := object.SortedKeys(spec.Map("hard"))
	errs := validateQuotaList(p.Child("hard"), spec.Map("hard"))
	scopes := spec.Strings("scopes")
	at := p.Child("scopes")
	for _, scope := range scopes {
		if !slices.Contains(quotaScopes, scope) {
			errs = append(errs, field.Invalid(at, scopes, "unsupported scope"))
		}
		for range misfits(scope, hard) {
			errs = append(errs, field.Invalid(at, scopes, "unsupported scope applied to resource"))
		}
	}
	errs = append(errs, conflictingScopes(at, scopes, scopes)...)
	if spec.Has("scopeSelector") {
		errs = append(errs, validateScopeSelector(p.Child("scopeSelector", "matchExpressions"), spec, hard)...)
	}
	return errs
}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
	"VolumeAttributesClass", "CrossNamespacePodAffinity"}

// misfits returns the resources that a scope says nothing about.
func misfits(scope string, hard []string) []string {
	fitting := []string{"pods", "cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"}
	switch {
	case scope == "BestEffort":
		fitting = []string{"pods"}
	case scope == "VolumeAttributesClass":
		fitting = []string{"persistentvolumeclaims", "requests.storage"}
	case !slices.Contains(quotaScopes, scope):
		return nil
	}
	var out []string
	for _, name := range hard {
		if isQuotaResource(name) && !slices.Contains(fitting, name) {
			out = append(out, name)
		}
	}
	return out
}

// conflictingScopes reports scopes that exclude each other; shown is what the error prints: spec.scopes, also for those
// of the selector.
func conflictingScopes(p field.Path, scopes []string, shown any) field.ErrorList {
	var errs field.ErrorList
	for _, pair := range [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}} {
		if slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]) {
			errs = append(errs, field.Invalid(p, shown, "conflicting scopes"))
		}
	}
	return errs
}

func validateScopeSelector(p field.Path, spec object.Object, hard []string) field.ErrorList {
	var errs field.ErrorList
	var scopes []string
	for _, e := range spec.Objects("scopeSelector", "matchExpressions") {
		scope := e.String("scopeName")
		if !slices.Contains(quotaScopes, scope) {
			errs = append(errs, field.Invalid(p.Child("scopeName"), field.Enum(scope), "unsupported scope"))
		}
		for range misfits(scope, hard) {
			errs = append(errs, field.Invalid(p, gotext.Value("ScopeSelector", spec.At("scopeSelector")),
				"unsupported scope applied to resource"))
		}
		errs = append(errs, validateScopeOperator(p, scope, e)...)
		scopes = append(scopes, scope)
	}
	return append(errs, conflictingScopes(p, scopes, spec["scopes"])...)
}

func validateScopeOperator(p field.Path, scope string, e object.Object) field.ErrorList {
	var errs field.ErrorList
	op, values := e.String("operator"), e.Strings("values")
	named := scope != "PriorityClass" && scope != "VolumeAttributesClass" && slices.Contains(quotaScopes, scope)
	if named && op != "Exists" {
		errs = append(errs, field.Invalid(p.Child("operator"), field.Enum(op),
			"must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "+
				"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
	}
	switch op {
	case "In", "NotIn":
		if len(values) == 0 {
			errs = append(errs, field.Required(p.Child("values"), "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case "Exists", "DoesNotExist":
		if len(values) > 0 {
			errs = append(errs, field.Invalid(p.Child("values"), values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(p.Child("operator"), field.Enum(op), "not a valid selector operator"))
	}
	return errs
}

func validateQuotaUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return validateQuotaStatus(obj)
	}
	errs := validateQuotaSpec(obj.At("spec"))
	before, after := old.Strings("spec", "scopes"), obj.Strings("spec", "scopes")
	if !slices.Equal(kind.SortedSet(before), kind.SortedSet(after)) {
		var shown any = after
		if !obj.Has("spec", "scopes") {
			shown = nil
		}
		errs = append(errs, field.Invalid(field.Root("spec.scopes"), shown, field.TextImmutable))
	}
	return errs
}

func warnQuota(ctx *resource.Context, obj, old object.Object) {
	if old != nil {
		return
	}
	hard := obj.Map("spec", "hard")
	for _, name := range []string{"cpu", "memory", "storage", "ephemeral-storage"} {
		request, limit := "requests."+name, "limits."+name
		if _, ok := hard[request]; !ok && (name == "cpu" || name == "memory") {
			request = name
		}
		r, requested := hard[request]
		l, limited := hard[limit]
		if requested && limited && quantity.Of(r).Cmp(quantity.Of(l)) > 0 {
			ctx.Warn("ResourceQuota " + request + " (" + quantity.Of(r).String() + ") should be less than " + limit +
				" (" + quantity.Of(l).String() + ")")
		}
	}
}

func quotaRow(now time.Time, obj object.Object) resource.Row {
	var requests, limits []string
	hard, used := obj.Map("status", "hard"), obj.Map("status", "used")
	for _, name := range object.SortedKeys(hard) {
		text := name + ": " + quantity.Of(used[name]).String() + "/" + quantity.Of(hard[name]).String()
		if strings.HasPrefix(name, "limits.") {
			limits = append(limits, text)
		} else {
			requests = append(requests, text)
		}
	}
	return table.Row(obj.Name(), strings.Join(requests, ", "), strings.Join(limits, ", "), table.AgeCell(now, obj))
}
