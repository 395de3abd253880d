package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// criteria select the writes that a webhook or policy applies to (matchConstraints, matchResources and the fields of a webhook).
type criteria struct {
	namespaceSelector, objectSelector map[string]any
	rules, exclude                    []object.Object
	exact                             bool // matchPolicy Exact
	everything                        bool // there are no rules, so everything matches
}

func newCriteria(o object.Object, rules string) *criteria {
	c := &criteria{namespaceSelector: o.Map("namespaceSelector"), objectSelector: o.Map("objectSelector"),
		exact: o.String("matchPolicy") == "Exact"}
	c.rules, c.exclude = o.Objects(rules), o.Objects("excludeResourceRules")
	return c
}

// match returns the version of the resource in which a write matches the criteria, or nil if it does not match. If the write's
// namespace does not exist, it returns an error, but only if everything else matches.
func (c *criteria) match(a *Attributes, h *Server) (*resource.Definition, *status.Status) {
	inNamespace, s := matchNamespace(a, c.namespaceSelector)
	if !inNamespace && s == nil || !matchObject(a, c.objectSelector) {
		return nil, nil
	}
	if c.matchRules(a, h, c.exclude) != nil {
		return nil, nil
	}
	d := a.Definition
	if !c.everything || len(c.rules) > 0 {
		d = c.matchRules(a, h, c.rules)
	}
	if d == nil {
		return nil, nil
	}
	return d, s
}

func (c *criteria) matchRules(a *Attributes, h *Server, rules []object.Object) *resource.Definition {
	for _, rule := range rules {
		if matchRule(a, a.Definition, rule) {
			return a.Definition
		}
	}
	if c.exact || len(rules) == 0 {
		return nil
	}
	others := h.equivalents(a.Definition)
	for _, rule := range rules {
		for _, d := range others {
			if matchRule(a, d, rule) {
				return d
			}
		}
	}
	return nil
}

func has(o object.Object, field, value string) bool {
	list := o.Strings(field)
	return slices.Contains(list, "*") || slices.Contains(list, value)
}

func matchRule(a *Attributes, d *resource.Definition, rule object.Object) bool {
	if !has(rule, "operations", string(a.Operation)) || !has(rule, "apiGroups", d.Group) || !has(rule, "apiVersions", d.Version) {
		return false
	}
	clusterWide := d.Storage == namespaces || a.Namespace == ""
	if scope := rule.String("scope"); scope == "Cluster" && !clusterWide || scope == "Namespaced" && clusterWide {
		return false
	}
	names := rule.Strings("resourceNames")
	if len(names) > 0 && !slices.Contains(names, a.Name) {
		return false
	}
	return slices.ContainsFunc(rule.Strings("resources"), func(pattern string) bool {
		name, sub, _ := strings.Cut(pattern, "/")
		return (name == "*" || name == d.Resource) && (sub == "*" || sub == a.Subresource)
	})
}

// matchNamespace reports whether a namespace selector matches: the labels of the write's namespace or, if a namespace is written,
// those of that object. It returns an error if the namespace does not exist.
func matchNamespace(a *Attributes, s map[string]any) (bool, *status.Status) {
	sel, _ := selector.FromLabelSelector(s) // cannot fail: the selector has been validated
	if s == nil || sel.Empty() {
		return true, nil
	}
	if a.Definition.Storage == namespaces {
		obj := a.latest()
		if obj == nil {
			obj = a.Old
		}
		return sel.Matches(obj.Labels()), nil
	}
	if a.Namespace == "" || !a.Definition.Namespaced {
		return true, nil
	}
	namespace := a.Objects.Get(namespaces, "", a.Namespace)
	if namespace == nil {
		return false, status.NotFound(status.Resource{Resource: namespaces}, a.Namespace)
	}
	return sel.Matches(namespace.Labels()), nil
}

// matchObject reports whether an object selector matches the labels of the object before or after the write. The options of a
// CONNECT have no metadata, so no selector matches them.
func matchObject(a *Attributes, s map[string]any) bool {
	sel, _ := selector.FromLabelSelector(s) // cannot fail: the selector has been validated
	if a.Operation == Connect {
		return s == nil || sel.Empty()
	}
	obj := a.latest()
	return s == nil || sel.Empty() || obj != nil && sel.Matches(obj.Labels()) || a.Old != nil && sel.Matches(a.Old.Labels())
}
