package oidc

import (
	"strings"

	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
)

// rule is a condition that must be true. message explains a violation.
type rule struct {
	condition *cel.Expression
	message   string
}

// extra is an extra value of users.
type extra struct {
	key   string
	value *cel.Expression
}

// claimRules validates the rules about claims. It returns the expressions, and adds the claims with their values to required.
func (v *validator) claimRules(rules []ValidationRule, p field.Path, required map[string]string) (all []rule) {
	claims, expressions := map[string]bool{}, map[string]bool{}
	for i, r := range rules {
		at := p.Index(i)
		switch {
		case r.Claim != "" && r.Expression != "":
			v.add(field.Invalid(at, r.Claim, "claim and expression can't both be set"))
		case r.Claim == "" && r.Expression == "":
			v.add(field.Required(at, "claim or expression is required"))
		case r.Claim != "":
			if r.Message != "" {
				v.add(field.Invalid(at.Child("message"), r.Message, "may not be specified when claim is set"))
			}
			if claims[r.Claim] {
				v.add(field.Duplicate(at.Child("claim"), r.Claim))
			}
			claims[r.Claim], required[r.Claim] = true, r.RequiredValue
		default:
			if r.RequiredValue != "" {
				v.add(field.Invalid(at.Child("requiredValue"), r.RequiredValue, "may not be specified when expression is set"))
			}
			if expressions[r.Expression] {
				v.add(field.Duplicate(at.Child("expression"), r.Expression))
				continue
			}
			expressions[r.Expression] = true
			if e := v.expression(expr.Claims, r.Expression, at.Child("expression"), expr.Bool); e != nil {
				all = append(all, rule{e, r.Message})
			}
		}
	}
	return all
}

// userRules validates the rules about users.
func (v *validator) userRules(rules []UserRule, p field.Path) (all []rule) {
	seen := map[string]bool{}
	for i, r := range rules {
		at := p.Index(i).Child("expression")
		switch {
		case r.Expression == "":
			v.add(field.Required(at, ""))
		case seen[r.Expression]:
			v.add(field.Duplicate(at, r.Expression))
		default:
			seen[r.Expression] = true
			if e := v.expression(expr.User, r.Expression, at, expr.Bool); e != nil {
				all = append(all, rule{e, r.Message})
			}
		}
	}
	return all
}

// mapping validates a mapping and returns its expression, or nil if it has none.
func (v *validator) mapping(m Mapping, p field.Path, required bool) *cel.Expression {
	switch {
	case m.Expression != "" && m.Claim != "":
		v.add(field.Invalid(p, "", "claim and expression can't both be set"))
	case m.Expression == "" && m.Claim == "" && required:
		v.add(field.Required(p, "claim or expression is required"))
	case m.Expression != "":
		if m.Prefix != nil {
			v.add(field.Invalid(p.Child("prefix"), *m.Prefix, "may not be specified when expression is set"))
		}
		return v.expression(expr.Claims, m.Expression, p.Child("expression"), expr.Any)
	case m.Claim != "" && m.Prefix == nil:
		v.add(field.Required(p.Child("prefix"), "prefix is required when claim is set. It can be set to an empty string to disable prefixing"))
	}
	return nil
}

// extra validates the extra values of users.
func (v *validator) extra(m *ClaimMappings, p field.Path) (all []extra) {
	seen := map[string]bool{}
	for i, x := range m.Extra {
		at := p.Index(i)
		key := at.Child("key")
		v.add(field.DomainPrefixedPath(key, x.Key)...)
		if x.Key != strings.ToLower(x.Key) {
			v.add(field.Invalid(key, x.Key, "must be lowercase"))
		}
		if isReserved(x.Key) {
			v.add(field.Invalid(key, x.Key, "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"))
		}
		if seen[x.Key] {
			v.add(field.Duplicate(key, x.Key))
			continue
		}
		seen[x.Key] = true
		if x.ValueExpression == "" {
			v.add(field.Required(at.Child("valueExpression"), ""))
			continue
		}
		if e := v.expression(expr.Claims, x.ValueExpression, at.Child("valueExpression"), expr.Any); e != nil {
			all = append(all, extra{x.Key, e})
		}
	}
	return all
}

// isReserved reports whether the domain of a key belongs to Kubernetes.
func isReserved(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	for _, own := range []string{"kubernetes.io", "k8s.io"} {
		if strings.Contains(key, "/") && (domain == own || strings.HasSuffix(domain, "."+own)) {
			return true
		}
	}
	return false
}

// checkEmail requires that claims.email_verified is used if the user name depends on claims.email.
func (v *validator) checkEmail(x *issuer, p field.Path) {
	if x.username == nil || !x.username.Selects("email") {
		return
	}
	checks := []*cel.Expression{x.username}
	for _, r := range x.claimRules {
		checks = append(checks, r.condition)
	}
	for _, e := range x.extra {
		checks = append(checks, e.value)
	}
	for _, e := range checks {
		if e.Selects("email_verified") {
			return
		}
	}
	v.add(field.Invalid(p.Child("username", "expression"), x.username.String(), "claims.email_verified must be used in "+
		"claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when "+
		"claims.email is used in claimMappings.username.expression"))
}
