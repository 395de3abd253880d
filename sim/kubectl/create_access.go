package kubectl

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// verbsKnown are the verbs that no warning is given for.
var verbsKnown = strings.Fields("* get list watch create update patch delete deletecollection use bind escalate impersonate approve sign attest")

// createRole makes a Role or a ClusterRole.
func (c *call) createRole() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	cluster := c.word.name == "clusterrole"
	obj := made("rbac.authorization.k8s.io/v1", "Role", name)
	if cluster {
		obj["kind"] = "ClusterRole"
	}
	if selectors := c.list("aggregation-rule"); len(selectors) > 0 {
		labels, err := labelsOf(strings.Join(selectors, ","))
		if err != nil {
			return err
		}
		obj["aggregationRule"] = map[string]any{"clusterRoleSelectors": []any{map[string]any{"matchLabels": labels}}}
		return c.createMade(obj, "clusterrole")
	}
	verbs := unique(c.list("verb"))
	if slices.Contains(verbs, "*") {
		verbs = []string{"*"}
	}
	if len(verbs) == 0 {
		return fmt.Errorf("at least one verb must be specified")
	}
	urls := c.list("non-resource-url")
	var resources []string
	for _, r := range c.list("resource") {
		resources = append(resources, unique(strings.Split(r, ","))...)
	}
	if len(resources) == 0 && len(urls) == 0 {
		if cluster {
			return fmt.Errorf("one of resource or nonResourceURL must be specified")
		}
		return fmt.Errorf("at least one resource must be specified")
	}
	for _, v := range verbs {
		if !slices.Contains(verbsKnown, v) {
			c.complain("Warning: '%s' is not a standard resource verb", v)
		}
	}
	rules, err := c.rules(verbs, resources)
	if err != nil {
		return err
	}
	if len(urls) > 0 {
		rules = append(rules, map[string]any{"verbs": object.FromStrings(verbs), "nonResourceURLs": object.FromStrings(urls)})
	}
	obj["rules"] = rules
	return c.createMade(obj, strings.ToLower(obj.Kind()))
}

// rules returns a rule for each group of the resources.
func (c *call) rules(verbs, resources []string) ([]any, error) {
	var groups []string
	byGroup := map[string][]any{}
	for _, r := range resources {
		base, sub, hasSub := strings.Cut(r, "/")
		name, group := base, ""
		if base != "*" {
			m, err := c.find(base)
			if err != nil {
				return nil, toldError(err.Error())
			}
			name, group = m.resource, m.group
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
		if names := c.list("resource-name"); len(names) > 0 {
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

// createBinding makes a RoleBinding or a ClusterRoleBinding.
func (c *call) createBinding() error {
	name, err := c.nameArgument()
	if err != nil {
		return err
	}
	const api = "rbac.authorization.k8s.io"
	kind, role := "ClusterRole", c.text("clusterrole")
	obj := made(api+"/v1", "RoleBinding", name)
	if c.word.name == "clusterrolebinding" {
		obj["kind"] = "ClusterRoleBinding"
	} else if (role == "") == (c.text("role") == "") {
		return fmt.Errorf("exactly one of clusterrole or role must be specified")
	}
	if r := c.text("role"); r != "" {
		kind, role = "Role", r
	}
	subjects, err := c.subjects()
	if err != nil {
		return err
	}
	obj["roleRef"] = map[string]any{"apiGroup": api, "kind": kind, "name": role}
	if len(subjects) > 0 {
		obj["subjects"] = subjects
	}
	return c.createMade(obj, strings.ToLower(obj.Kind()))
}

// subjects returns whom --user, --group and --serviceaccount name.
func (c *call) subjects() (out []any, err error) {
	const api = "rbac.authorization.k8s.io"
	for _, u := range c.list("user") {
		out = append(out, map[string]any{"kind": "User", "apiGroup": api, "name": u})
	}
	for _, g := range c.list("group") {
		out = append(out, map[string]any{"kind": "Group", "apiGroup": api, "name": g})
	}
	for _, sa := range c.list("serviceaccount") {
		namespace, name, ok := strings.Cut(sa, ":")
		if !ok || namespace == "" || name == "" {
			return nil, fmt.Errorf("serviceaccount must be <namespace>:<name>")
		}
		out = append(out, map[string]any{"kind": "ServiceAccount", "name": name, "namespace": namespace})
	}
	return out, nil
}
