package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Escalation returns a 403 if a write would grant more rights than its user has. The first argument describes the write, which has
// already been authorized; old is nil for a create. If the resource is neither a role nor a binding, Escalation returns nil. The
// check does not apply to users with the verb escalate on the role or bind on the role that a binding refers to (RBAC, "Privilege
// escalation prevention and bootstrapping"). If that role does not exist, Escalation returns a 404.
func (a *Auth) Escalation(at Attributes, obj, old object.Object, objects resource.Reader) *status.Status {
	if at.Group != rbacGroup || at.Subresource != "" || a.chain[0].Type == alwaysAllow ||
		slices.Contains(at.User.Groups, masters) || onlyCollectorFields(obj, old) {
		return nil
	}
	switch at.Resource {
	case "roles", "clusterroles":
		return a.escalatingRole(at, obj, old, objects)
	case "rolebindings", "clusterrolebindings":
		return a.escalatingBinding(at, obj, objects)
	}
	return nil
}

func (a *Auth) escalatingRole(at Attributes, obj, old object.Object, objects resource.Reader) *status.Status {
	at.Verb, at.Version = "escalate", "*"
	if a.May(at, objects).Allowed {
		return nil
	}
	res := status.Resource{Group: at.Group, Resource: at.Resource}
	if why := a.missing(at, rulesOf(obj), objects); why != "" {
		return status.Forbidden(res, obj.Name(), why)
	}
	if at.Resource == "clusterroles" && (aggregates(obj) || aggregates(old)) {
		all := []string{"*"}
		everything := []Rule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
		if a.missing(at, everything, objects) != "" {
			return status.Forbidden(res, obj.Name(), "must have cluster-admin privileges to use the aggregationRule")
		}
	}
	return nil
}

func aggregates(role object.Object) bool {
	return len(role.List("aggregationRule", "clusterRoleSelectors")) > 0
}

func (a *Auth) escalatingBinding(at Attributes, obj object.Object, objects resource.Reader) *status.Status {
	kind, name := obj.String("roleRef", "kind"), obj.String("roleRef", "name")
	bind := Attributes{By: at.By, User: at.User, Verb: "bind", Namespace: at.Namespace, IsResource: true,
		Group: obj.String("roleRef", "apiGroup"), Version: "*", Name: name}
	switch kind {
	case "ClusterRole":
		bind.Resource = "clusterroles"
	case "Role":
		bind.Resource = "roles"
	}
	if bind.Resource != "" {
		if a.May(bind, objects).Allowed {
			return nil
		}
	}
	rules, none := roleRules(kind, at.Namespace, name, objects)
	unnamed := status.NameParameter(name)
	switch {
	case kind == "Role" && at.Namespace == "":
		return status.BadRequest("Namespace parameter required.") // the real server's lookup of the role returns this error
	case bind.Resource != "" && unnamed != nil:
		return unnamed
	case none != nil && bind.Resource == "":
		return status.Plain("%s", none.granted())
	case none != nil:
		return status.NotFound(status.Resource{Group: at.Group, Resource: at.Resource}, name) // the error names the resource of the binding, not of the role
	}
	if why := a.missing(at, rules, objects); why != "" {
		return status.Forbidden(status.Resource{Group: at.Group, Resource: at.Resource}, obj.Name(), why)
	}
	return nil
}

// missing returns an error text that lists the rules which the user of the request does not hold in its namespace, or "" if the
// user holds all of them.
func (a *Auth) missing(at Attributes, rules []Rule, objects resource.Reader) string {
	held, wrong := a.rulesOf(at.User, at.Namespace, objects)
	var lacking []Rule
	for _, r := range rules {
		for _, one := range r.Split() {
			if !slices.ContainsFunc(held, func(r Rule) bool { return r.covers(one) }) {
				lacking = append(lacking, one)
			}
		}
	}
	if len(lacking) == 0 {
		return ""
	}
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		at.User.Name, at.User.Groups, strings.Join(describe(lacking), "\n"))
	if len(wrong) > 0 {
		var errs []string
		for _, none := range wrong {
			errs = append(errs, none.granted())
		}
		text += "; resolution errors: [" + field.Aggregate(errs) + "]"
	}
	return text
}

// describe returns the text of each rule, sorted. It merges rules for the same resource into one with all their verbs.
func describe(rules []Rule) []string {
	at := map[string]int{}
	var merged []Rule
	for _, r := range rules {
		if len(r.NonResourceURLs) == 0 {
			key := fmt.Sprintf("%q", [][]string{r.APIGroups, r.Resources, r.ResourceNames})
			if i, ok := at[key]; ok {
				merged[i].Verbs = append(merged[i].Verbs, r.Verbs...)
				continue
			}
			at[key] = len(merged)
		}
		merged = append(merged, r)
	}
	texts := make([]string, len(merged))
	for i, r := range merged {
		texts[i] = r.String()
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// onlyCollectorFields reports whether an update changes nothing but the fields that the garbage collector changes.
func onlyCollectorFields(obj, old object.Object) bool {
	return old != nil && object.SemanticEqual(withoutCollectorFields(obj), withoutCollectorFields(old))
}

func withoutCollectorFields(o object.Object) map[string]any {
	c := o.Copy()
	c.Remove("metadata", "ownerReferences")
	c.Remove("metadata", "finalizers")
	c.Remove("metadata", "managedFields")
	return c
}
