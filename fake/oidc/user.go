package oidc

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/kubesim/kubesim/sim/auth"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/object"
)

// credentialID is the key of the extra value that identifies the token of a user.
const credentialID = "authentication.kubernetes.io/credential-id"

// user returns the user of a token (k8s.io/apiserver/plugin/pkg/authenticator/token/oidc.AuthenticateToken).
func (x *issuer) user(claims map[string]json.RawMessage) (*auth.User, error) {
	if err := x.checkDistributed(claims); err != nil {
		return nil, err
	}
	values := map[string]any{}
	for name, text := range claims { // order does not matter: it fills a map
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("oidc: parse claims: %w", err)
		}
		values[name] = v
	}
	u := &auth.User{}
	var err error
	if u.Name, err = x.name(claims, values); err != nil {
		return nil, err
	}
	if u.Groups, err = x.groupsOf(claims, values); err != nil {
		return nil, err
	}
	if u.UID, err = x.uidOf(claims, values); err != nil {
		return nil, err
	}
	if u.Extra, err = x.extraOf(claims, values); err != nil {
		return nil, err
	}
	if err := x.checkRequired(claims); err != nil {
		return nil, err
	}
	if err := check(x.claimRules, values); err != nil {
		return nil, fmt.Errorf("oidc: error evaluating claim validation expression: %w", err)
	}
	info := map[string]any{"username": u.Name, "uid": u.UID, "groups": object.FromStrings(u.Groups), "extra": extraValues(u.Extra)}
	if err := check(x.userRules, info); err != nil {
		return nil, fmt.Errorf("oidc: error evaluating user info validation rule: %w", err)
	}
	return u, nil
}

// checkDistributed returns an error for a token whose groups are at another address. kubesim does not request them.
func (x *issuer) checkDistributed(claims map[string]json.RawMessage) error {
	name := x.config.ClaimMappings.Groups.Claim
	var sources map[string]string
	if claims[name] != nil || json.Unmarshal(claims["_claim_names"], &sources) != nil || sources[name] == "" {
		return nil //nolint:nilerr // the claim has another type, so it names no sources
	}
	return fmt.Errorf("oidc: could not expand distributed claims: kubesim does not request the claim %q from another server", name)
}

func extraValues(extra map[string][]string) map[string]any {
	all := map[string]any{}
	for key, values := range extra { // order does not matter: it fills a map
		all[key] = object.FromStrings(values)
	}
	return all
}

// textOf decodes a claim that must be a string.
func textOf(claims map[string]json.RawMessage, name string) (text string, err error) {
	value, ok := claims[name]
	if !ok {
		return "", errors.New("claim not present")
	}
	return text, json.Unmarshal(value, &text)
}

// name returns the name of the user.
func (x *issuer) name(claims map[string]json.RawMessage, values map[string]any) (string, error) {
	if x.username != nil {
		v, problem := x.username.Eval(values)
		name, ok := v.(string)
		switch {
		case problem != nil:
			return "", fmt.Errorf("oidc: error evaluating username claim expression: %s", problem.Text)
		case !ok:
			return "", errors.New("oidc: error evaluating username claim expression: username claim expression must return a string")
		case name == "":
			return "", errors.New("oidc: empty username via CEL expression is not allowed")
		}
		return name, nil
	}
	m := x.config.ClaimMappings.Username
	name, err := textOf(claims, m.Claim)
	if err != nil {
		return "", fmt.Errorf("oidc: parse username claims %q: %w", m.Claim, err)
	}
	if text, ok := claims["email_verified"]; ok && m.Claim == "email" {
		verified := false
		if err := json.Unmarshal(text, &verified); err != nil {
			return "", fmt.Errorf("oidc: parse 'email_verified' claim: %w", err)
		}
		if !verified {
			return "", errors.New("oidc: email not verified")
		}
	}
	return prefixed(m, name), nil
}

// prefixed returns a value with the prefix of a mapping.
func prefixed(m Mapping, value string) string {
	if m.Prefix != nil {
		return *m.Prefix + value
	}
	return value
}

// groupsOf returns the groups of the user.
func (x *issuer) groupsOf(claims map[string]json.RawMessage, values map[string]any) ([]string, error) {
	m := x.config.ClaimMappings.Groups
	if text, ok := claims[m.Claim]; ok && m.Claim != "" {
		var groups audience // a string, or a list of strings
		if err := json.Unmarshal(text, &groups); err != nil {
			return nil, fmt.Errorf("oidc: parse groups claim %q: %w", m.Claim, err)
		}
		for i, group := range groups {
			groups[i] = prefixed(m, group)
		}
		return groups, nil
	}
	if x.groups == nil {
		return nil, nil
	}
	groups, err := list(x.groups, values)
	if err != nil {
		return nil, fmt.Errorf("oidc: error evaluating group claim expression: %w", err)
	}
	return groups, nil
}

// uidOf returns the uid of the user, or "".
func (x *issuer) uidOf(claims map[string]json.RawMessage, values map[string]any) (string, error) {
	if name := x.config.ClaimMappings.UID.Claim; name != "" {
		uid, err := textOf(claims, name)
		if err != nil {
			return "", fmt.Errorf("oidc: parse uid claim %q: %w", name, err)
		}
		return uid, nil
	}
	if x.uid == nil {
		return "", nil
	}
	v, problem := x.uid.Eval(values)
	if problem != nil {
		return "", fmt.Errorf("oidc: error evaluating uid claim expression: %s", problem.Text)
	}
	uid, ok := v.(string)
	if !ok {
		return "", errors.New("oidc: error evaluating uid claim expression: uid claim expression must return a string")
	}
	return uid, nil
}

// extraOf returns the extra values of the user.
func (x *issuer) extraOf(claims map[string]json.RawMessage, values map[string]any) (map[string][]string, error) {
	all := map[string][]string{}
	if id, err := textOf(claims, "jti"); err == nil && id != "" {
		all[credentialID] = []string{"JTI=" + id}
	}
	for _, e := range x.extra {
		texts, err := list(e.value, values)
		if err != nil {
			return nil, fmt.Errorf("oidc: error evaluating extra claim expression: %s: %w", e.value, err)
		}
		if len(texts) > 0 {
			all[e.key] = texts
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all, nil
}

// list evaluates an expression that returns a string or a list of strings. It omits empty strings.
func list(e *cel.Expression, values map[string]any) ([]string, error) {
	v, problem := e.Eval(values)
	if problem != nil {
		return nil, errors.New(problem.Text)
	}
	var items []any
	switch v := v.(type) {
	case nil:
	case string:
		items = []any{v}
	case []any:
		items = v
	default:
		return nil, errors.New("expression must return a string or a list of strings")
	}
	var texts []string
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			return nil, errors.New("expression must return a string or a list of strings")
		}
		if text != "" {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// checkRequired checks that the required claims have the required values.
func (x *issuer) checkRequired(claims map[string]json.RawMessage) error {
	for _, name := range object.SortedKeys(x.required) {
		if _, ok := claims[name]; !ok {
			return fmt.Errorf("oidc: required claim %s not present in ID token", name)
		}
		value, err := textOf(claims, name)
		if err != nil {
			return fmt.Errorf("oidc: parse claim %s: %w", name, err)
		}
		if want := x.required[name]; value != want {
			return fmt.Errorf("oidc: required claim %s value does not match. Got = %s, want = %s", name, value, want)
		}
	}
	return nil
}

// check evaluates rules, each of which must be true.
func check(rules []rule, values map[string]any) error {
	for _, r := range rules {
		v, problem := r.condition.Eval(values)
		if problem != nil {
			return errors.New(problem.Text)
		}
		if v != true {
			return fmt.Errorf("validation expression '%s' failed: %s", r.condition, r.message)
		}
	}
	return nil
}
