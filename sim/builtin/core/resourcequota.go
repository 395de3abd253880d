package core

import (
	"slices"
	"strings"

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
			HasStatus: true, ReturnDeletedObject: true,
			Warn: warnQuota,
		},
		Validate: validateQuota, ValidateStatus: validateQuotaStatus,
		Defaults: kind.EveryVersion(func(obj object.Object) {
			podspec.RoundUp(obj.Map("spec", "hard"))
			podspec.RoundLists(obj.Map("status"), "hard", "used")
		}),
		Columns: []table.Column{table.Name(),
			table.Text("Request", "Request represents a minimum amount of cpu/memory that a container may consume.").Cell(quotaCell(false)),
			table.Text("Limit", "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.").Cell(quotaCell(true)),
			table.Age()},
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

// validateQuotaList checks the names and amounts of a map of resources.
func validateQuotaList(at field.Cursor) {
	for name, amount := range at.EachKey() {
		podspec.ResourceName(amount, name)
		if !strings.Contains(name, "/") && !isQuotaResource(name) {
			amount.Invalid(field.Enum(name), "must be a standard resource for quota")
		}
		podspec.ResourceQuantity(amount, name)
	}
}

func validateQuotaStatus(_ *resource.Context, at field.Cursor) {
	validateQuotaList(at.Child("status", "hard"))
	validateQuotaList(at.Child("status", "used"))
}

func validateQuota(ctx *resource.Context, at field.Cursor) {
	validateQuotaSpec(at.Child("spec"))
	if !at.Updates() {
		validateQuotaStatus(ctx, at)
		return
	}
	scopes := at.Child("spec", "scopes")
	scopes.InvalidIf(!slices.Equal(kind.SortedSet(at.Old().Strings("spec", "scopes")), kind.SortedSet(scopes.Strings())), field.TextImmutable)
}

func validateQuotaSpec(spec field.Cursor) {
	validateQuotaList(spec.Child("hard"))
	scopes, hard := spec.Child("scopes"), object.SortedKeys(spec.Child("hard").Object())
	for _, scope := range scopes.Strings() {
		scopes.InvalidIf(!slices.Contains(quotaScopes, scope), "unsupported scope")
		for range misfits(scope, hard) {
			scopes.Invalid(scopes.Value(), "unsupported scope applied to resource")
		}
	}
	conflictingScopes(scopes, scopes.Strings())
	if spec.Has("scopeSelector") {
		validateScopeSelector(spec, hard)
	}
}

var quotaScopes = []string{"Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass",
	"VolumeAttributesClass", "CrossNamespacePodAffinity"}

// misfits returns those of the given resources that a scope does not support.
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
	return slices.DeleteFunc(slices.Clone(hard), func(name string) bool { return !isQuotaResource(name) || slices.Contains(fitting, name) })
}

// conflictingScopes reports scopes that exclude each other. The error shows spec.scopes, even if the conflicting scopes are in the
// scope selector.
func conflictingScopes(at field.Cursor, scopes []string) {
	for _, pair := range [][2]string{{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}} {
		at.InvalidIf(slices.Contains(scopes, pair[0]) && slices.Contains(scopes, pair[1]), "conflicting scopes")
	}
}

func validateScopeSelector(spec field.Cursor, hard []string) {
	at := spec.Child("scopeSelector", "matchExpressions")
	var scopes []string
	for e := range at.Each() {
		scope := e.Child("scopeName").ReportAt(at.Child("scopeName"))
		if !slices.Contains(quotaScopes, scope.String()) {
			scope.InvalidEnum("unsupported scope")
		}
		for range misfits(scope.String(), hard) {
			at.Invalid(gotext.Value(gotext.ScopeSelector, spec.Child("scopeSelector").Object()), "unsupported scope applied to resource")
		}
		validateScopeOperator(e.ReportAt(at), scope.String())
		scopes = append(scopes, scope.String())
	}
	conflictingScopes(spec.Child("scopes").ReportAt(at), scopes)
}

func validateScopeOperator(e field.Cursor, scope string) {
	operator, values := e.Child("operator"), e.Child("values")
	if scope != "PriorityClass" && scope != "VolumeAttributesClass" && slices.Contains(quotaScopes, scope) && operator.String() != "Exists" {
		operator.InvalidEnum("must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, " +
			"ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity")
	}
	switch operator.String() {
	case "In", "NotIn":
		values.RequireIf(values.Len() == 0, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
	case "Exists", "DoesNotExist":
		values.InvalidIf(values.Len() > 0, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector")
	default:
		operator.InvalidEnum("not a valid selector operator")
	}
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

// quotaCell returns a function that formats the Limit cell, or the Request cell if limits is false.
func quotaCell(limits bool) func(object.Object) any {
	return func(obj object.Object) any {
		var texts []string
		hard, used := obj.Map("status", "hard"), obj.Map("status", "used")
		for _, name := range object.SortedKeys(hard) {
			if strings.HasPrefix(name, "limits.") == limits {
				texts = append(texts, name+": "+quantity.Of(used[name]).String()+"/"+quantity.Of(hard[name]).String())
			}
		}
		return strings.Join(texts, ", ")
	}
}
