package batch

import (
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// judged is what the podFailurePolicy of a Job says of a pod that failed (KEP-3329).
type judged struct {
	action  string // FailJob, FailIndex, Ignore or Count; empty if no rule matches
	message string // of FailJob
}

// counts reports whether the failure counts towards the backoff limit.
func (v judged) counts() bool { return v.action != "Ignore" }

// judge applies the first rule of a policy, which may be nil, that matches a pod (matchPodFailurePolicy).
func judge(policy object.Object, p *pod) judged {
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
			return judged{action, fmt.Sprintf("%s matching %s rule at index %d", found, action, i)}
		default:
			return judged{action: action}
		}
	}
	return judged{}
}

// exitsWith returns the first of some exits that meets a requirement.
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

// conditioned returns the first condition that meets one of some patterns, or "".
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

// succeeds returns the first rule of a successPolicy, which may be nil, that indexes which have succeeded meet (KEP-3998).
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
