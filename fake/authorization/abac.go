package authorization

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/auth"
)

// policies are the lines of a policy file (Kubernetes documentation, "Using ABAC Authorization"). They implement auth.Authorizer.
type policies []policy

// policy is the spec of a Policy of abac.authorization.kubernetes.io/v1beta1. The user or group "*" is the group of all authenticated
// users.
type policy struct {
	User            string `json:"user"`
	Group           string `json:"group"`
	Readonly        bool   `json:"readonly"`
	APIGroup        string `json:"apiGroup"`
	Resource        string `json:"resource"`
	Namespace       string `json:"namespace"`
	NonResourcePath string `json:"nonResourcePath"`
}

// allAuthenticated is the group of all authenticated users.
const allAuthenticated = "system:authenticated"

// readPolicies reads a policy file. The error contains the number of the line that cannot be read
// (pkg/auth/authorizer/abac.NewFromFile).
func readPolicies(name string) (policies, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := policies{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		p, err := parsePolicy([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("error reading policy file %s, line %d: %s: %w", name, n, lines.Text(), err)
		}
		all = append(all, p)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("error reading policy file %s: %w", name, err)
	}
	return all, nil
}

// parsePolicy parses a line: a Policy, or the same fields without a kind (abac/v0), where a missing field matches everything.
func parsePolicy(text []byte) (policy, error) {
	var line struct {
		Kind       string `json:"kind"`
		APIVersion string `json:"apiVersion"`
		Spec       policy `json:"spec"`
		policy
	}
	if err := json.Unmarshal(text, &line); err != nil {
		return policy{}, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	p := line.Spec
	if line.Kind != "Policy" || line.APIVersion != "abac.authorization.kubernetes.io/v1beta1" {
		p = line.policy.upgraded()
	}
	if p.User == "*" || p.Group == "*" {
		p.User, p.Group = "", allAuthenticated
	}
	return p, nil
}

// upgraded returns a policy without a version in the form of v1beta1 (pkg/apis/abac/v0.Convert_v0_Policy_To_abac_Policy).
func (p policy) upgraded() policy {
	if p.User == "" && p.Group == "" {
		p.Group = allAuthenticated
	}
	if p.NonResourcePath = ""; p.Namespace == "" && p.Resource == "" {
		p.NonResourcePath = "*"
	}
	if p.Namespace == "" {
		p.Namespace = "*"
	}
	if p.Resource == "" {
		p.Resource = "*"
	}
	p.APIGroup = "*"
	return p
}

// Authorize implements auth.Authorizer.
func (all policies) Authorize(at auth.Attributes, _ auth.Waiter) auth.Decision {
	for _, p := range all {
		if p.matchesUser(at.User) && (!p.Readonly || slices.Contains(readVerbs, at.Verb)) && p.matches(at) {
			return auth.Decision{Allowed: true}
		}
	}
	return auth.Decision{Reason: "No policy matched."}
}

var readVerbs = []string{"get", "list", "watch"}

func (p policy) matchesUser(u auth.User) bool {
	return (p.User != "" || p.Group != "") && (p.User == "" || p.User == u.Name) && (p.Group == "" || slices.Contains(u.Groups, p.Group))
}

// matches reports whether the policy is about the resource or path of a request.
func (p policy) matches(at auth.Attributes) bool {
	if !at.IsResource {
		prefix, open := strings.CutSuffix(p.NonResourcePath, "*")
		return p.NonResourcePath == at.Path || open && strings.HasPrefix(at.Path, prefix)
	}
	is := func(pattern, value string) bool { return pattern == "*" || pattern == value }
	return is(p.Namespace, at.Namespace) && is(p.Resource, at.Resource) && is(p.APIGroup, at.Group)
}

// RulesFor implements auth.Authorizer.
func (all policies) RulesFor(u auth.User, namespace string) (rules []auth.Rule, incomplete bool, err error) {
	for _, p := range all {
		if !p.matchesUser(u) || p.Namespace != "*" && p.Namespace != namespace {
			continue
		}
		verbs := []string{"*"}
		if p.Readonly {
			verbs = readVerbs
		}
		if p.Resource != "" {
			rules = append(rules, auth.Rule{Verbs: verbs, APIGroups: []string{p.APIGroup}, Resources: []string{p.Resource}})
		}
		if p.NonResourcePath != "" {
			rules = append(rules, auth.Rule{Verbs: verbs, NonResourceURLs: []string{p.NonResourcePath}})
		}
	}
	return rules, false, nil
}

// ForServer implements auth.Authorizer.
func (all policies) ForServer() auth.Authorizer { return all }
