package auth

import (
	"fmt"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// audience is the one audience that tokens of this server are for.
const audience = "https://kubernetes.default.svc"

// Review answers a review object of ctx.User in place: the kinds of authorization.k8s.io and authentication.k8s.io.
// kind is the object's kind; a kind that is no review is left as it is. It returns why a review cannot be answered.
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
		obj["status"] = map[string]any{"userInfo": userInfo(ctx.User)}
	}
	return nil
}

func (a *Auth) reviewAccess(kind string, ctx *resource.Context, obj object.Object) *status.Status {
	if errs := validateAccess(kind, obj); len(errs) > 0 {
		return status.Invalid(status.Resource{Group: "authorization.k8s.io"}, "", errs)
	}
	spec := object.Object(obj.Map("spec"))
	at := Attributes{User: ctx.User}
	if kind != "SelfSubjectAccessReview" {
		at.User = resource.User{Name: spec.String("user"), UID: spec.String("uid"), Groups: object.Strings(spec.List("groups"))}
	}
	if m := object.Object(spec.Map("resourceAttributes")); m != nil {
		at.IsResource = true
		at.Verb, at.Group, at.Version = m.String("verb"), m.String("group"), m.String("version")
		at.Resource, at.Subresource = m.String("resource"), m.String("subresource")
		at.Namespace, at.Name = m.String("namespace"), m.String("name")
	} else {
		at.Verb, at.Path = spec.String("nonResourceAttributes", "verb"), spec.String("nonResourceAttributes", "path")
	}
	allowed, reason := a.Authorize(at, ctx.Objects)
	answer := map[string]any{"allowed": allowed}
	if reason != "" {
		answer["reason"] = reason
	}
	obj["status"] = answer
	return nil
}

// validateAccess returns what is wrong with an access review.
func validateAccess(kind string, obj object.Object) field.ErrorList {
	var errs field.ErrorList
	spec, path := object.Object(obj.Map("spec")), field.Root("spec")
	res, other := spec.Map("resourceAttributes"), object.Object(spec.Map("nonResourceAttributes"))
	otherPath := path.Child("nonResourceAttributes")
	// the real server prints the Go struct of the value, whose keys are capitalised
	otherText := field.Raw(fmt.Sprintf(`{"Path":%s,"Verb":%s}`, object.JSON(other.String("path")), object.JSON(other.String("verb"))))
	switch {
	case res != nil && other != nil:
		errs = append(errs, field.Invalid(otherPath, otherText, "cannot be specified in combination with resourceAttributes"))
	case res == nil && other == nil:
		errs = append(errs, field.Invalid(path.Child("resourceAttributes"), nil,
			"exactly one of nonResourceAttributes or resourceAttributes must be specified"))
	}
	if kind != "SelfSubjectAccessReview" && spec.String("user") == "" && len(spec.List("groups")) == 0 {
		errs = append(errs, field.Invalid(path.Child("user"), "", "at least one of user or group must be specified"))
	}
	for _, name := range []string{"fieldSelector", "labelSelector"} {
		errs = append(errs, validateSelector(path.Child("resourceAttributes", name), res, name)...)
	}
	errs = append(errs, validateReviewMetadata(kind, obj)...)
	if kind == "LocalSubjectAccessReview" {
		if ns := object.Object(res).String("namespace"); res != nil && ns != obj.Namespace() {
			errs = append(errs, field.Invalid(path.Child("resourceAttributes", "namespace"), ns, "must match metadata.namespace"))
		}
		if other != nil {
			errs = append(errs, field.Invalid(otherPath, otherText, "disallowed on this kind of request"))
		}
	}
	return errs
}

func validateSelector(path field.Path, res map[string]any, name string) field.ErrorList {
	sel := object.Object(object.Object(res).Map(name))
	if sel == nil {
		return nil
	}
	raw, requirements := sel.String("rawSelector"), sel.List("requirements")
	switch {
	case raw != "" && len(requirements) > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw, "may not specified at the same time as requirements")}
	case raw == "" && len(requirements) == 0:
		return field.ErrorList{field.Required(path.Child("requirements"),
			fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path))}
	}
	return nil
}

func validateReviewMetadata(kind string, obj object.Object) field.ErrorList {
	rest := object.Object(object.Copy(obj.Metadata()).(map[string]any))
	rest.Remove("managedFields")
	detail := "must be empty"
	if kind == "LocalSubjectAccessReview" {
		rest.Remove("namespace")
		detail += " except for namespace"
	}
	if object.SemanticEqual(map[string]any(rest), map[string]any{}) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.Root("metadata"), obj.Metadata(), detail)}
}

func (a *Auth) reviewRules(ctx *resource.Context, obj object.Object) *status.Status {
	namespace := obj.String("spec", "namespace")
	if namespace == "" {
		return status.BadRequest("no namespace on request")
	}
	rules, problem := a.Rules(ctx.User, namespace, ctx.Objects)
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
	answer := map[string]any{"resourceRules": resources, "nonResourceRules": urls, "incomplete": false}
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
	spec := object.Object(obj.Map("spec"))
	if spec.String("token") == "" {
		return status.BadRequest("token is required for TokenReview in authentication")
	}
	answer := map[string]any{"user": map[string]any{}}
	obj["status"] = answer
	token := bearer("Bearer " + spec.String("token"))
	if token == "" {
		return nil
	}
	user, known := a.tokens[token]
	wanted := object.Strings(spec.List("audiences"))
	if !known || len(wanted) > 0 && !has(wanted, audience) {
		answer["error"] = "invalid bearer token"
		return nil
	}
	answer["authenticated"] = true
	answer["user"] = userInfo(user)
	answer["audiences"] = []any{audience}
	return nil
}

// userInfo returns the UserInfo of authentication.k8s.io/v1.
func userInfo(u resource.User) map[string]any {
	m := map[string]any{}
	if u.Name != "" {
		m["username"] = u.Name
	}
	if u.UID != "" {
		m["uid"] = u.UID
	}
	if len(u.Groups) > 0 {
		m["groups"] = object.FromStrings(u.Groups)
	}
	if len(u.Extra) > 0 {
		extra := map[string]any{}
		for key, values := range u.Extra { // order does not matter
			extra[key] = object.FromStrings(values)
		}
		m["extra"] = extra
	}
	return m
}
