package flowcontrol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/flowcontrol"
	"github.com/kubesim/kubesim/sim/object"
)

// schema is a FlowSchema.
type schema struct {
	name, level string
	precedence  int64
	uid         []string
	rules       []*rule
}

// rule is a PolicyRulesWithSubjects.
type rule struct {
	subjects  []*subject
	resources []*resourceRule
	paths     []*pathRule
}

// subject is a user, a group or a service account. The name "*" matches any name.
type subject struct{ kind, namespace, name string }

type resourceRule struct {
	verbs, groups, resources, namespaces []string
	clusterScope                         bool
}

type pathRule struct{ verbs, paths []string }

// mandatory returns a schema that every server has, without a uid.
func mandatory(name string) *schema {
	return schemaOf(object.Object{"metadata": map[string]any{"name": name}, "spec": map[string]any(flowcontrol.MandatorySchemas[name])})
}

func schemaOf(o object.Object) *schema {
	s := &schema{name: o.Name(), level: Level(o), uid: uidOf(o), precedence: o.Int64("spec", "matchingPrecedence")}
	for _, r := range o.Objects("spec", "rules") {
		made := &rule{}
		for _, x := range r.Objects("subjects") {
			made.subjects = append(made.subjects, subjectOf(x))
		}
		for _, x := range r.Objects("resourceRules") {
			made.resources = append(made.resources, &resourceRule{x.Strings("verbs"), x.Strings("apiGroups"),
				x.Strings("resources"), x.Strings("namespaces"), x.True("clusterScope")})
		}
		for _, x := range r.Objects("nonResourceRules") {
			made.paths = append(made.paths, &pathRule{x.Strings("verbs"), x.Strings("nonResourceURLs")})
		}
		s.rules = append(s.rules, made)
	}
	return s
}

func subjectOf(x object.Object) *subject {
	kind := x.String("kind")
	field := map[string]string{"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}[kind]
	return &subject{kind, x.String(field, "namespace"), x.String(field, "name")}
}

// matches reports whether one of the rules matches the request.
func (s *schema) matches(d *Digest) bool {
	return slices.ContainsFunc(s.rules, func(r *rule) bool { return r.matches(d) })
}

func (r *rule) matches(d *Digest) bool {
	switch {
	case !slices.ContainsFunc(r.subjects, func(s *subject) bool { return s.is(d) }):
		return false
	case d.IsResource:
		return slices.ContainsFunc(r.resources, func(x *resourceRule) bool { return x.matches(d) })
	}
	return slices.ContainsFunc(r.paths, func(x *pathRule) bool { return x.matches(d) })
}

func (s *subject) is(d *Digest) bool {
	switch s.kind {
	case "User":
		return s.name == "*" || s.name == d.User.Name
	case "Group":
		return s.name == "*" || slices.Contains(d.User.Groups, s.name)
	case "ServiceAccount":
		account, ok := strings.CutPrefix(d.User.Name, "system:serviceaccount:")
		namespace, name, named := strings.Cut(account, ":")
		return ok && named && namespace == s.namespace && (s.name == "*" || name == s.name)
	}
	return false
}

func (r *resourceRule) matches(d *Digest) bool {
	if !hasOrAll(r.verbs, d.Verb) || !r.names(d) || !hasOrAll(r.groups, d.Group) {
		return false
	}
	if d.Namespace == "" {
		return r.clusterScope
	}
	return hasOrAll(r.namespaces, d.Namespace)
}

// names reports whether the rule lists the resource or, if there is a subresource, resource/subresource.
func (r *resourceRule) names(d *Digest) bool {
	for _, name := range r.resources {
		if name == "*" && len(r.resources) == 1 {
			return true
		}
		if resource, sub, _ := strings.Cut(name, "/"); resource == d.Resource && sub == d.Subresource {
			return true
		}
	}
	return false
}

func (r *pathRule) matches(d *Digest) bool {
	if !hasOrAll(r.verbs, d.Verb) {
		return false
	}
	for _, path := range r.paths {
		if path == "*" || path == d.Path {
			return true
		}
		path = strings.TrimSuffix(strings.TrimSuffix(path, "*"), "/")
		if rest, ok := strings.CutPrefix(d.Path, path); ok && strings.HasPrefix(rest, "/") {
			return true
		}
	}
	return false
}

// hasOrAll reports whether a list contains s or consists only of "*".
func hasOrAll(list []string, s string) bool {
	return len(list) == 1 && list[0] == "*" || slices.Contains(list, s)
}

// Field managers that the API servers use when they write flow schemas and priority levels.
const (
	Producer = "api-priority-and-fairness-config-producer-v1"
	Consumer = "api-priority-and-fairness-config-consumer-v1"
)

// autoUpdate is the annotation that specifies whether a server may restore the spec of an object that it created.
const autoUpdate = "apf.kubernetes.io/autoupdate-spec"

// Dangling returns the Dangling condition of a FlowSchema. found reports whether its priority level is stored. If the FlowSchema
// already has this condition, changes is false (presyncFlowSchemaStatus).
func Dangling(schema object.Object, found bool) (condition map[string]any, changes bool) {
	status, reason, text := "True", "NotFound", "but there is no such object"
	if found {
		status, reason, text = "False", "Found", "and it exists"
	}
	message := fmt.Sprintf("This FlowSchema references the PriorityLevelConfiguration object named %q %s", Level(schema), text)
	for _, c := range schema.Objects("status", "conditions") {
		if c.String("type") == "Dangling" && c.String("status") == status && c.String("reason") == reason && c.String("message") == message {
			return nil, false
		}
	}
	return map[string]any{"type": "Dangling", "status": status, "reason": reason, "message": message}, true
}

// Level returns the name of the priority level to which a FlowSchema refers.
func Level(schema object.Object) string {
	return schema.String("spec", "priorityLevelConfiguration", "name")
}

// Revise restores the fields that API servers maintain in the objects that they create. It always restores the spec of a mandatory
// object. It restores the spec of any other object if the annotation allows that or, without an annotation, if the spec was never
// changed (ensurer.ReviseIfNeeded). Revise reports whether it changed anything.
func Revise(current, made object.Object) bool {
	said, err := strconv.ParseBool(current.Annotations()[autoUpdate])
	update := current.Name() == exempt || current.Name() == catchAll
	if !update {
		update = said && err == nil || err != nil && current.Generation() == 1
	}
	changed := false
	if err != nil || said != update {
		current.Set(strconv.FormatBool(update), "metadata", "annotations", autoUpdate)
		changed = true
	}
	if update && !object.SemanticEqual(current["spec"], made["spec"]) {
		current["spec"] = object.Copy(made["spec"])
		changed = true
	}
	return changed
}

// Unwanted reports whether an object's annotation says that servers have created it. Servers delete such an object if it is not one
// of their defaults.
func Unwanted(o object.Object) bool {
	said, err := strconv.ParseBool(o.Annotations()[autoUpdate])
	return err == nil && said
}
