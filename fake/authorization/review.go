package authorization

import (
	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

// specOf returns the spec of a SubjectAccessReview about a request (k8s.io/apiserver/plugin/pkg/authorizer/webhook).
func specOf(at auth.Attributes) map[string]any {
	spec := map[string]any{}
	setText(spec, "user", at.User.Name)
	setText(spec, "uid", at.User.UID)
	if len(at.User.Groups) > 0 {
		spec["groups"] = object.FromStrings(at.User.Groups)
	}
	if len(at.User.Extra) > 0 {
		extra := map[string]any{}
		for key, values := range at.User.Extra { // order does not matter
			extra[key] = object.FromStrings(values)
		}
		spec["extra"] = extra
	}
	if !at.IsResource {
		path := map[string]any{}
		setText(path, "path", at.Path)
		setText(path, "verb", at.Verb)
		spec["nonResourceAttributes"] = path
		return spec
	}
	resource := map[string]any{}
	setText(resource, "namespace", at.Namespace)
	setText(resource, "verb", at.Verb)
	setText(resource, "group", at.Group)
	setText(resource, "version", at.Version)
	setText(resource, "resource", at.Resource)
	setText(resource, "subresource", at.Subresource)
	setText(resource, "name", at.Name)
	if list := fieldRequirements(at.FieldSelector); len(list) > 0 {
		resource["fieldSelector"] = map[string]any{"requirements": list}
	}
	if list := labelRequirements(at.LabelSelector); len(list) > 0 {
		resource["labelSelector"] = map[string]any{"requirements": list}
	}
	spec["resourceAttributes"] = resource
	return spec
}

// setText sets a field unless the value is empty.
func setText(to map[string]any, name, value string) {
	if value != "" {
		to[name] = value
	}
}

// fieldRequirements returns the requirements of a field selector. A selector that cannot be parsed has none.
func fieldRequirements(text string) (list []any) {
	s, err := selector.ParseFields(text)
	if err != nil {
		return nil
	}
	for _, r := range s.Requirements() {
		operator := "In"
		if r.Operator == selector.NotEquals {
			operator = "NotIn"
		}
		list = append(list, map[string]any{"key": r.Label, "operator": operator, "values": []any{r.Value}})
	}
	return list
}

// operators are the operators of label selectors as reviews name them. Requirements with others are left out, so that the review is
// about more objects than the request.
var operators = map[selector.Operator]string{selector.Equals: "In", selector.DoubleEquals: "In", selector.In: "In",
	selector.NotEquals: "NotIn", selector.NotIn: "NotIn", selector.Exists: "Exists", selector.DoesNotExist: "DoesNotExist"}

// labelRequirements returns the requirements of a label selector. A selector that cannot be parsed has none.
func labelRequirements(text string) (list []any) {
	s, err := selector.ParseLabels(text)
	if err != nil {
		return nil
	}
	for _, r := range s.Requirements() {
		operator := operators[r.Operator]
		if operator == "" {
			continue
		}
		m := map[string]any{"key": r.Key, "operator": operator}
		if len(r.Values) > 0 {
			m["values"] = object.FromStrings(r.Values)
		}
		list = append(list, m)
	}
	return list
}

// reviewOf returns a SubjectAccessReview in a version as JSON. In v1beta1 the groups have another name.
func reviewOf(spec map[string]any, version string) []byte {
	if version == "v1beta1" {
		other := map[string]any{}
		for name, value := range spec { // order does not matter
			if name == "groups" {
				name = "group"
			}
			other[name] = value
		}
		spec = other
	}
	return append(object.JSON(map[string]any{"kind": reviewKind, "apiVersion": reviewGroup + "/" + version, "metadata": map[string]any{},
		"spec": spec, "status": map[string]any{"allowed": false}}), '\n')
}

const (
	reviewKind  = "SubjectAccessReview"
	reviewGroup = "authorization.k8s.io"
)
