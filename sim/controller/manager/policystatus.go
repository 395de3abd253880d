package manager

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

const (
	validatingPolicies = "validatingadmissionpolicies.admissionregistration.k8s.io"
	policyStatus       = "validatingadmissionpolicy-status"

	// checkedMax is the maximum number of kinds against which a rule of a policy is checked.
	checkedMax = 10
)

// checkers returns the controllers that require CEL.
func checkers() []func() controller.Controller {
	if !cel.Supported {
		return nil
	}
	return []func() controller.Controller{PolicyStatus}
}

// PolicyStatus sets the type checking warnings in the status of a ValidatingAdmissionPolicy. They list the expressions with type
// errors for the kinds that the policy matches (pkg/controller/validatingadmissionpolicystatus,
// plugin/policy/validating.TypeChecker).
func PolicyStatus() controller.Controller {
	return controller.Account("validatingadmissionpolicy-status-controller", "validatingadmissionpolicy-status-controller",
		controller.Func(checkPolicy), controller.Watch{Resource: validatingPolicies, Keys: func(_ *controller.Client, c *commit.Commit) []controller.Key {
			if c.Deleted() {
				return nil
			}
			return []controller.Key{{Name: c.Name}}
		}})
}

func checkPolicy(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
	policy := api.Get(validatingPolicies, "", key.Name)
	if policy == nil || policy.Generation() <= policy.Int64("status", "observedGeneration") {
		return 0, nil
	}
	checking := map[string]any{}
	if warnings := warningsOf(api, policy); len(warnings) > 0 {
		checking["expressionWarnings"] = warnings
	}
	_, failed := api.As(policyStatus).Apply(validatingPolicies, "status", key, object.Object{"status": map[string]any{
		"observedGeneration": policy.Generation(), "typeChecking": checking}})
	return 0, failed
}

// checked is a kind that a policy matches, with a compiler of expressions for that kind.
type checked struct {
	kind     schema.GVK
	compiler *cel.Compiler
}

// warningsOf returns the type checking warnings for the expressions of a policy.
func warningsOf(api *controller.Client, policy object.Object) (warnings []any) {
	kinds := checkedKinds(api, policy)
	warn := func(path, expression string) {
		var texts []string
		for _, k := range kinds {
			if text := k.compiler.Problems(expression); text != "" {
				texts = append(texts, fmt.Sprintf("%v: %s\n", k.kind, text))
			}
		}
		if texts != nil {
			warnings = append(warnings, map[string]any{"fieldRef": path, "warning": strings.Join(texts, "\n")})
		}
	}
	for i, v := range policy.Objects("spec", "validations") {
		path := fmt.Sprintf("spec.validations[%d].", i)
		warn(path+"expression", v.String("expression"))
		if message := v.String("messageExpression"); message != "" {
			warn(path+"messageExpression", message)
		}
	}
	return warnings
}

// checkedKinds returns the kinds that a policy matches, sorted.
func checkedKinds(api *controller.Client, policy object.Object) (all []checked) {
	types := expr.Types{}
	stamp := fmt.Sprint(api.Now().Nanosecond())
	if ref := policy.At("spec", "paramKind"); ref != nil {
		if d := api.OfKind(ref.String("apiVersion"), ref.String("kind")); d != nil {
			types.Params, types.ParamsName = schemaOf(api, d), d.Kind+stamp
		}
	}
	for _, d := range namedResources(api, policy) {
		types.Object, types.ObjectName = schemaOf(api, d), d.Kind+stamp
		if types.Object == nil {
			continue
		}
		c := cel.NewCompiler(expr.Environment{Minor: api.Profile().Minor, Stored: true},
			expr.Declarations{Params: policy.Has("spec", "paramKind"), Authorizer: true, Types: &types})
		for _, v := range policy.Objects("spec", "variables") {
			_ = c.Variable(v.String("name"), v.String("expression")) // if it fails, later expressions treat the variable's type as unknown
		}
		all = append(all, checked{d.GVK, c})
	}
	return all
}

// namedResources returns the resources that the rules of a policy name, sorted by group, version and kind. It ignores rules with
// *.
func namedResources(api *controller.Client, policy object.Object) (all []*resource.Definition) {
	anything := func(s string) bool { return strings.Contains(s, "*") }
	for _, rule := range policy.Objects("spec", "matchConstraints", "resourceRules") {
		groups, versions := rule.Strings("apiGroups"), rule.Strings("apiVersions")
		if slices.ContainsFunc(groups, anything) || slices.ContainsFunc(versions, anything) {
			continue
		}
		var named []*resource.Definition
		for _, d := range api.Resources() {
			if slices.Contains(groups, d.Group) && slices.Contains(rule.Strings("resources"), d.Resource) {
				for _, version := range versions {
					if x := api.OfKind(strings.TrimPrefix(d.Group+"/"+version, "/"), d.Kind); x != nil && !slices.Contains(named, x) {
						named = append(named, x)
					}
				}
			}
		}
		slices.SortFunc(named, func(a, b *resource.Definition) int {
			return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Resource, b.Resource))
		})
		for _, d := range named[:min(len(named), checkedMax)] {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	slices.SortFunc(all, func(a, b *resource.Definition) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// schemaOf returns the OpenAPI schema of a kind, or nil if it is unknown.
func schemaOf(api *controller.Client, d *resource.Definition) map[string]any {
	if !d.Custom {
		if d.Type == nil {
			return nil
		}
		return d.Type().OpenAPI()
	}
	definition := api.Get("customresourcedefinitions.apiextensions.k8s.io", "", d.Resource+"."+d.Group)
	for _, v := range definition.Objects("spec", "versions") {
		s := v.Map("schema", "openAPIV3Schema")
		if v.String("name") != d.Version || s == nil {
			continue
		}
		properties := maps.Clone(object.Object(s).Map("properties"))
		if properties == nil {
			properties = map[string]any{}
		}
		text := map[string]any{"type": "string"}
		properties["apiVersion"], properties["kind"] = text, text
		properties["metadata"] = api.Definition(namespaces).Type().Field("metadata").Type.OpenAPI()
		s = maps.Clone(s)
		s["properties"] = properties
		return s
	}
	return nil
}
