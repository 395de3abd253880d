package generate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/kubectl/client"
	"github.com/kubesim/kubesim/sim/kubectl/flags"
	"github.com/kubesim/kubesim/sim/object"
)

// verbsKnown lists the standard verbs. Other verbs cause a warning.
var verbsKnown = strings.Fields("* get list watch create update patch delete deletecollection use bind escalate impersonate approve sign attest")

// urlVerbs lists the verbs of rules for URLs (validNonResourceVerbs).
var urlVerbs = strings.Fields("* get post put delete patch head options")

// rbac is the API group of roles and bindings.
const rbac = "rbac.authorization.k8s.io"

func role(in *Input) (object.Object, error) {
	return in.withRules(made(rbac+"/v1", "Role", in.Name), "at least one resource must be specified")
}

func clusterRole(in *Input) (object.Object, error) {
	obj := made(rbac+"/v1", "ClusterRole", in.Name)
	if selectors := in.List("aggregation-rule"); len(selectors) > 0 {
		if in.Given("verb") || in.Given("resource") || in.Given("resource-name") || in.Given("non-resource-url") {
			return nil, fmt.Errorf("aggregation rule must be specified without nonResourceURLs, verbs, resources or resourceNames")
		}
		labels, err := Labels(strings.Join(selectors, ","))
		if err != nil {
			return nil, err
		}
		obj["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": labels}}}
		return obj, nil
	}
	return in.withRules(obj, "one of resource or nonResourceURL must be specified")
}

// withRules returns a role with the rules that the flags specify. If they name no resource, it returns an error with the text in
// missing.
func (in *Input) withRules(obj object.Object, missing string) (object.Object, error) {
	verbs := unique(in.List("verb"))
	if slices.Contains(verbs, "*") {
		verbs = []string{"*"}
	}
	if len(verbs) == 0 {
		return nil, fmt.Errorf("at least one verb must be specified")
	}
	urls := in.List("non-resource-url")
	var resources []string
	for _, r := range in.List("resource") {
		resources = append(resources, unique(strings.Split(r, ","))...)
	}
	if len(resources) == 0 && len(urls) == 0 {
		return nil, errors.New(missing)
	}
	for _, v := range verbs {
		if len(urls) > 0 && !slices.Contains(urlVerbs, v) {
			return nil, fmt.Errorf("invalid verb: '%s' for nonResourceURL", v)
		}
		if len(resources) > 0 && !slices.Contains(verbsKnown, v) {
			fmt.Fprintf(in.Warnings, "Warning: '%s' is not a standard resource verb\n", v)
		}
	}
	rules, err := in.rules(verbs, resources)
	if err != nil {
		return nil, err
	}
	if len(urls) > 0 {
		for _, u := range urls {
			if u != "*" && !strings.HasPrefix(u, "/") {
				return nil, fmt.Errorf("nonResourceURL should start with /")
			}
			if strings.Contains(strings.TrimSuffix(u, "*"), "*") {
				return nil, fmt.Errorf("nonResourceURL only supports wildcard matches when '*' is at the end")
			}
		}
		rules = append(rules, map[string]any{"verbs": object.FromStrings(verbs), "nonResourceURLs": object.FromStrings(urls)})
	}
	obj["rules"] = rules
	return obj, nil
}

// rules returns one rule for each API group of the resources. It returns an error if the server does not know a resource.
func (in *Input) rules(verbs, resources []string) ([]any, error) {
	var groups []string
	byGroup := map[string][]any{}
	for _, r := range resources {
		base, sub, hasSub := strings.Cut(r, "/")
		name, group := base, ""
		if base != "*" {
			m, err := in.Server.Find(base)
			if err != nil {
				return nil, client.PlainError(err.Error())
			}
			name, group = m.Resource, m.Group
		}
		if hasSub {
			name += "/" + sub
		}
		if !slices.Contains(groups, group) {
			groups = append(groups, group)
		}
		byGroup[group] = append(byGroup[group], name)
	}
	slices.Sort(groups)
	var out []any
	for _, g := range groups {
		rule := map[string]any{"apiGroups": []any{g}, "resources": byGroup[g], "verbs": object.FromStrings(verbs)}
		if names := in.List("resource-name"); len(names) > 0 {
			rule["resourceNames"] = object.FromStrings(names)
		}
		out = append(out, rule)
	}
	return out, nil
}

func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

func clusterRoleBinding(in *Input) (object.Object, error) {
	return in.withSubjects(made(rbac+"/v1", "ClusterRoleBinding", in.Name))
}

func roleBinding(in *Input) (object.Object, error) {
	if (in.Text("clusterrole") == "") == (in.Text("role") == "") {
		return nil, fmt.Errorf("exactly one of clusterrole or role must be specified")
	}
	return in.withSubjects(made(rbac+"/v1", "RoleBinding", in.Name))
}

// withSubjects returns a binding with the role and subjects that the flags name.
func (in *Input) withSubjects(obj object.Object) (object.Object, error) {
	kind, role := "ClusterRole", in.Text("clusterrole")
	if r := in.Text("role"); r != "" {
		kind, role = "Role", r
	}
	subjects, err := Subjects(in.Set)
	if err != nil {
		return nil, err
	}
	obj["roleRef"] = map[string]any{"apiGroup": rbac, "kind": kind, "name": role}
	if len(subjects) > 0 {
		obj["subjects"] = subjects
	}
	return obj, nil
}

// Subjects returns the subjects that --user, --group and --serviceaccount name. It returns an error if a service account does not
// have the form NAMESPACE:NAME.
func Subjects(f *flags.Set) (out []any, err error) {
	for _, u := range f.List("user") {
		out = append(out, map[string]any{"kind": "User", "apiGroup": rbac, "name": u})
	}
	for _, g := range f.List("group") {
		out = append(out, map[string]any{"kind": "Group", "apiGroup": rbac, "name": g})
	}
	for _, sa := range f.List("serviceaccount") {
		namespace, name, ok := strings.Cut(sa, ":")
		if !ok || namespace == "" || name == "" {
			return nil, fmt.Errorf("serviceaccount must be <namespace>:<name>")
		}
		out = append(out, map[string]any{"kind": "ServiceAccount", "name": name, "namespace": namespace})
	}
	return out, nil
}
