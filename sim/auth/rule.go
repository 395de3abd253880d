package auth

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
)

// Rule is one rule of a Role or ClusterRole (PolicyRule of rbac.authorization.k8s.io/v1).
type Rule struct {
	Verbs, APIGroups, Resources, ResourceNames, NonResourceURLs []string
}

// Needed returns the smallest rule that allows a request for all object names. It has no resource names, because such a rule would
// not allow create or list.
func Needed(at Attributes) Rule {
	if !at.IsResource {
		return Rule{Verbs: []string{at.Verb}, NonResourceURLs: []string{at.Path}}
	}
	name := at.Resource
	if at.Subresource != "" {
		name += "/" + at.Subresource
	}
	return Rule{Verbs: []string{at.Verb}, APIGroups: []string{at.Group}, Resources: []string{name}}
}

// rulesOf returns the rules of a Role or ClusterRole.
func rulesOf(role object.Object) []Rule {
	list := role.Objects("rules")
	rules := make([]Rule, 0, len(list))
	for _, r := range list {
		rules = append(rules, Rule{
			Verbs:           r.Strings("verbs"),
			APIGroups:       r.Strings("apiGroups"),
			Resources:       r.Strings("resources"),
			ResourceNames:   r.Strings("resourceNames"),
			NonResourceURLs: r.Strings("nonResourceURLs"),
		})
	}
	return rules
}

// Allows reports whether the rule alone allows the request.
func (r Rule) Allows(at Attributes) bool {
	if !hasOrAll(r.Verbs, at.Verb) {
		return false
	}
	if !at.IsResource {
		return coversURL(r.NonResourceURLs, at.Path)
	}
	return hasOrAll(r.APIGroups, at.Group) && r.matchesResource(at.Resource, at.Subresource) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, at.Name))
}

// matchesResource reports whether the rule's resources match. They may have the forms *, deployments, deployments/scale and
// */scale.
func (r Rule) matchesResource(resource, subresource string) bool {
	if subresource == "" {
		return hasOrAll(r.Resources, resource)
	}
	return hasOrAll(r.Resources, resource+"/"+subresource) || slices.Contains(r.Resources, "*/"+subresource)
}

// covers reports whether r grants everything that sub grants. sub must have exactly one verb, and one resource or path.
func (r Rule) covers(sub Rule) bool {
	if !hasOrAll(r.Verbs, sub.Verbs[0]) {
		return false
	}
	if len(sub.NonResourceURLs) > 0 {
		return coversURL(r.NonResourceURLs, sub.NonResourceURLs[0])
	}
	resource, subresource, _ := strings.Cut(sub.Resources[0], "/")
	return hasOrAll(r.APIGroups, sub.APIGroups[0]) && r.matchesResource(resource, subresource) &&
		(len(r.ResourceNames) == 0 || len(sub.ResourceNames) > 0 && slices.Contains(r.ResourceNames, sub.ResourceNames[0]))
}

// Split splits r into rules that each have one group, resource, verb and name, or one path and verb.
func (r Rule) Split() []Rule {
	var out []Rule
	for _, group := range r.APIGroups {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				one := Rule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}}
				for _, name := range r.ResourceNames {
					named := one
					named.ResourceNames = []string{name}
					out = append(out, named)
				}
				if len(r.ResourceNames) == 0 {
					out = append(out, one)
				}
			}
		}
	}
	for _, url := range r.NonResourceURLs {
		for _, verb := range r.Verbs {
			out = append(out, Rule{NonResourceURLs: []string{url}, Verbs: []string{verb}})
		}
	}
	return out
}

// String returns r in the format that messages about privilege escalation use.
func (r Rule) String() string {
	var parts []string
	for _, f := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(f.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", f.name, f.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func hasOrAll(list []string, s string) bool {
	return slices.Contains(list, s) || slices.Contains(list, "*")
}

// coversURL reports whether one of the urls equals path or, if it ends in *, is a prefix of it.
func coversURL(urls []string, path string) bool {
	return slices.ContainsFunc(urls, func(u string) bool {
		return u == path || strings.HasSuffix(u, "*") && strings.HasPrefix(path, strings.TrimRight(u, "*"))
	})
}
