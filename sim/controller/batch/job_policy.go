package batch

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// policyResult is the result of a Job's podFailurePolicy for a failed pod (KEP-3329).
type policyResult struct {
	action  string // FailJob, FailIndex, Ignore or Count; empty if no rule matches
	message string // message of the condition, for FailJob
}

// counts reports whether the failure counts towards the backoff limit.
func (v policyResult) counts() bool { return v.action != "Ignore" }

// judge applies the first rule of a policy that matches a pod (matchPodFailurePolicy). The policy may be nil.
func judge(policy object.Object, p *pod) policyResult {
	for i, rule := range policy.Objects("rules") {
		action := rule.String("action")
		found := ""
		if codes := rule.Map("onExitCodes"); codes != nil {
			if x, ok := exitsWith(p.exits, codes); ok {
				found = fmt.Sprintf("Container %s for pod %s failed with exit code %d", x.container, p.Key(), x.code)
			}
		} else if kind := conditioned(p.conditions, rule.Objects("onPodConditions")); kind != "" {
			found = fmt.Sprintf("Pod %s has condition %s", p.Key(), kind)
		}
		switch {
		case found == "":
		case action == "FailJob":
			return policyResult{action, fmt.Sprintf("%s matching %s rule at index %d", found, action, i)}
		default:
			return policyResult{action: action}
		}
	}
	return policyResult{}
}

// exitsWith returns the first exit that meets a requirement, and reports whether there is one.
func exitsWith(exits []exit, required object.Object) (exit, bool) {
	values, in := required.List("values"), required.String("operator") == "In"
	only, named := required.Get("containerName")
	for _, x := range exits {
		if (!named || only == x.container) && slices.Contains(values, any(x.code)) == in {
			return x, true
		}
	}
	return exit{}, false
}

// conditioned returns the type of the first condition that matches a pattern, or "".
func conditioned(conditions [][2]string, patterns []object.Object) string {
	for _, c := range conditions {
		for _, p := range patterns {
			if c == [2]string{p.String("type"), p.String("status")} {
				return c[0]
			}
		}
	}
	return ""
}

// succeeds returns the number of the first rule of a successPolicy that the succeeded indexes meet (KEP-3998). It returns false if
// they meet none. policy may be nil.
func succeeds(policy object.Object, completions int, done indexes) (rule int, met bool) {
	if len(done) == 0 {
		return 0, false
	}
	for i, rule := range policy.Objects("rules") {
		count, counted := rule.Int("succeededCount")
		enough := func(n int) bool { return counted && int64(n) >= count }
		if !rule.Has("succeededIndexes") {
			if enough(done.count()) {
				return i, true
			}
			continue
		}
		wanted := parseIndexes(rule.String("succeededIndexes"), completions)
		if n := wanted.common(done); len(wanted) > 0 && (n == wanted.count() || enough(n)) {
			return i, true
		}
	}
	return 0, false
}
