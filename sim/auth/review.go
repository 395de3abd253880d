package auth

import (
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
	"github.com/kubesim/kubesim/sim/status"
)

// Review sets the results in a review object of authorization.k8s.io or authentication.k8s.io that ctx.User created. It does not
// change objects of other kinds. If the review is invalid, it returns an error.
func (a *Auth) Review(kind string, ctx *resource.Context, obj object.Object) *status.Status {
	switch kind {
	case "SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview":
		return a.reviewAccess(kind, ctx, obj)
	case "SelfSubjectRulesReview":
		return a.reviewRules(ctx, obj)
	case "TokenReview":
		return a.reviewToken(obj)
	case "SelfSubjectReview":
		obj["metadata"] = map[string]any{"creationTimestamp": object.Time(ctx.Now)}
		obj["status"] = map[string]any{"userInfo": ctx.User.Info()}
	}
	return nil
}

func (a *Auth) reviewAccess(kind string, ctx *resource.Context, obj object.Object) *status.Status {
	spec := obj.At("spec")
	at := Attributes{User: ctx.User}
	if kind != "SelfSubjectAccessReview" {
		at.User = resource.User{Name: spec.String("user"), UID: spec.String("uid"), Groups: spec.Strings("groups")}
	}
	if m := spec.At("resourceAttributes"); m != nil {
		at.IsResource = true
		at.Verb, at.Group, at.Version = m.String("verb"), m.String("group"), m.String("version")
		at.Resource, at.Subresource = m.String("resource"), m.String("subresource")
		at.Namespace, at.Name = m.String("namespace"), m.String("name")
		at.FieldSelector, at.LabelSelector = fieldSelectorOf(m.At("fieldSelector")), labelSelectorOf(m.At("labelSelector"))
	} else {
		at.Verb, at.Path = spec.String("nonResourceAttributes", "verb"), spec.String("nonResourceAttributes", "path")
	}
	at.By, _ = ctx.Asker.(resource.Author)
	d := a.May(at, ctx.Objects)
	answer := map[string]any{"allowed": d.Allowed}
	if d.Denied {
		answer["denied"] = true
	}
	if d.Reason != "" {
		answer["reason"] = d.Reason
	}
	problems := selectorProblems(spec.At("resourceAttributes"))
	if d.Err != nil {
		problems = append([]string{d.Err.Error()}, problems...)
	}
	if len(problems) > 0 {
		answer["evaluationError"] = strings.Join(problems, "; ")
	}
	obj["status"] = answer
	return nil
}

// fieldSelectorOf returns the requirements of a field selector in a review that are passed to authorizers, as text.
func fieldSelectorOf(s object.Object) string {
	if raw := s.String("rawSelector"); raw != "" {
		return raw
	}
	var parts []string
	for _, r := range s.Objects("requirements") {
		if isPassedOn("fieldSelector", r) {
			operator := map[string]string{"In": "=", "NotIn": "!="}[r.String("operator")]
			parts = append(parts, r.String("key")+operator+r.Strings("values")[0])
		}
	}
	return strings.Join(parts, ",")
}

// labelSelectorOf returns the requirements of a label selector in a review that are passed to authorizers, as text.
func labelSelectorOf(s object.Object) string {
	if raw := s.String("rawSelector"); raw != "" {
		return raw
	}
	var parts []string
	for _, r := range s.Objects("requirements") {
		key, values := r.String("key"), "("+strings.Join(r.Strings("values"), ",")+")"
		switch r.String("operator") {
		case "In":
			parts = append(parts, key+" in "+values)
		case "NotIn":
			parts = append(parts, key+" notin "+values)
		case "Exists":
			parts = append(parts, key)
		case "DoesNotExist":
			parts = append(parts, "!"+key)
		}
	}
	return strings.Join(parts, ",")
}

// selectorProblems returns the evaluation errors for selectors that are malformed or only partly passed to the authorizers.
// Selectors are not evaluated here, so they do not affect the decision.
func selectorProblems(asked object.Object) (problems []string) {
	for _, name := range []string{"fieldSelector", "labelSelector"} {
		s := asked.At(name)
		good, bad := 0, 0
		if raw := s.String("rawSelector"); raw != "" {
			if !parses(name, raw) {
				bad++
			}
		} else {
			for _, m := range s.Objects("requirements") {
				if isPassedOn(name, m) {
					good++
				} else {
					bad++
				}
			}
		}
		switch {
		case bad > 0 && good > 0:
			problems = append(problems, "spec.resourceAttributes."+name+" partially ignored due to parse error")
		case bad > 0:
			problems = append(problems, "spec.resourceAttributes."+name+" ignored due to parse error")
		}
	}
	return problems
}

func parses(name, raw string) bool {
	var err error
	if name == "fieldSelector" {
		_, err = selector.ParseFields(raw)
	} else {
		_, err = selector.ParseLabels(raw)
	}
	return err == nil
}

// isPassedOn reports whether a selector requirement is passed to authorizers. Field requirements with several values are not.
func isPassedOn(name string, r object.Object) bool {
	switch r.String("operator") {
	case "In", "NotIn":
		return name == "labelSelector" || len(r.List("values")) == 1
	case "Exists", "DoesNotExist":
		return name == "labelSelector"
	}
	return false
}

func (a *Auth) reviewRules(ctx *resource.Context, obj object.Object) *status.Status {
	namespace := obj.String("spec", "namespace")
	if namespace == "" {
		return status.BadRequest("no namespace on request")
	}
	rules, incomplete, problem := a.Rules(ctx.User, namespace, ctx.Objects)
	resources, urls := []any{}, []any{}
	for _, r := range rules {
		if len(r.Resources) > 0 {
			resources = append(resources, ruleObject(map[string][]string{"verbs": r.Verbs, "apiGroups": r.APIGroups,
				"resources": r.Resources, "resourceNames": r.ResourceNames}))
		}
		if len(r.NonResourceURLs) > 0 {
			urls = append(urls, ruleObject(map[string][]string{"verbs": r.Verbs, "nonResourceURLs": r.NonResourceURLs}))
		}
	}
	answer := map[string]any{"resourceRules": resources, "nonResourceRules": urls, "incomplete": incomplete}
	if problem != "" {
		answer["evaluationError"] = problem
	}
	obj["metadata"], obj["spec"], obj["status"] = map[string]any{}, map[string]any{}, answer
	return nil
}

func ruleObject(lists map[string][]string) map[string]any {
	m := map[string]any{}
	for name, list := range lists { // order does not matter
		if len(list) > 0 {
			m[name] = object.FromStrings(list)
		}
	}
	return m
}

func (a *Auth) reviewToken(obj object.Object) *status.Status {
	spec := obj.At("spec")
	if spec.String("token") == "" {
		return status.BadRequest("token is required for TokenReview in authentication")
	}
	answer := map[string]any{"user": map[string]any{}}
	obj["status"] = answer
	wanted := spec.Strings("audiences")
	if len(wanted) == 0 {
		wanted = a.options.Audiences
	}
	var v verdict
	switch text := Bearer("Bearer " + spec.String("token")); {
	case text != "":
		v = a.holder(text, wanted)
	case !a.mayBeAnonymous(""):
		return nil
	default: // treated as a request without a token
		v = verdict{user: resource.User{Name: anonymous, Groups: []string{unauthenticated}}, audiences: wanted}
	}
	if len(v.audiences) == 0 { // the authenticators that do not know the token report their error first
		answer["error"] = "invalid bearer token"
		if v.err != nil {
			answer["error"] = "[invalid bearer token, " + v.err.Error() + "]"
		}
		return nil
	}
	answer["authenticated"] = true
	answer["user"] = v.user.Info()
	answer["audiences"] = object.FromStrings(v.audiences)
	return nil
}
