package batch

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
)

// Limits of the policies of a Job (KEP-3329, KEP-3998).
const (
	maxFailureRules     = 20
	maxFailurePatterns  = 20
	maxExitCodes        = 255
	maxSuccessRules     = 20
	maxSucceededIndexes = 64 << 10
)

// validateFailurePolicy checks podFailurePolicy in the spec of a Job.
func validateFailurePolicy(spec field.Cursor) {
	var containers []string
	for _, list := range []string{"containers", "initContainers"} {
		containers = append(containers, kind.Texts(spec.Object().Objects("template", "spec", list), "name")...)
	}
	rules := spec.Child("podFailurePolicy", "rules")
	rules.MaxItems(maxFailureRules)
	for rule := range rules.Each() {
		action, codes, patterns := rule.Child("action"), rule.Child("onExitCodes"), rule.Child("onPodConditions")
		if action.String() != "FailIndex" {
			requiredOneOf(action, "Count", "FailIndex", "FailJob", "Ignore")
		} else if !spec.Has("backoffLimitPerIndex") {
			action.Invalid(field.Enum("FailIndex"), "requires the backoffLimitPerIndex to be set")
		}
		if codes.Has() {
			validateExitCodes(codes, containers)
		}
		patterns.MaxItems(maxFailurePatterns)
		for pattern := range patterns.Each() {
			pattern.Child("type").OrEmpty().Check(field.QualifiedName)
			requiredOneOf(pattern.Child("status"), "False", "True", "Unknown")
		}
		switch {
		case codes.Has() && patterns.Len() > 0:
			rule.Invalid(field.Omit, "specifying both OnExitCodes and OnPodConditions is not supported")
		case !codes.Has() && patterns.Len() == 0:
			rule.Invalid(field.Omit, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

// requiredOneOf checks that the value is one of the allowed ones. If the value is missing, the error lists them.
func requiredOneOf(at field.Cursor, allowed ...string) {
	if at.String() == "" {
		at.Missing(fmt.Sprintf("valid values: %q", allowed))
		return
	}
	at.OneOf(allowed...)
}

func validateExitCodes(at field.Cursor, containers []string) {
	operator, name, values := at.Child("operator"), at.Child("containerName"), at.Child("values")
	requiredOneOf(operator, "In", "NotIn")
	name.InvalidIf(name.Has() && !slices.Contains(containers, name.String()), "must be one of the container or initContainer names in the pod template")
	if values.Len() == 0 {
		values.Invalid(at.Object().List("values"), "at least one value is required")
	}
	values.MaxItems(maxExitCodes)
	ordered, last := true, int64(math.MinInt64)
	seen := map[int64]bool{}
	for value := range values.Each() {
		code := value.Int64()
		value.InvalidIf(code == 0 && operator.String() == "In", "must not be 0 for the In operator")
		if seen[code] {
			value.Duplicate(code)
		}
		ordered = ordered && last <= code
		seen[code], last = true, code
	}
	values.InvalidIf(!ordered, "must be ordered")
}

// validateSuccessPolicy checks successPolicy in the spec of a Job.
func validateSuccessPolicy(spec field.Cursor) {
	policy := spec.Child("successPolicy")
	if !policy.Has() {
		return
	}
	if spec.String("completionMode") != "Indexed" {
		policy.Invalid(gotext.Value(gotext.SuccessPolicy, policy.Object()), "requires indexed completion mode")
		return
	}
	rules := policy.Child("rules")
	rules.Required("at least one rules must be specified when the successPolicy is specified")
	rules.MaxItems(maxSuccessRules)
	for rule := range rules.Each() {
		validateSuccessRule(rule, spec.Int64("completions"))
	}
}

func validateSuccessRule(at field.Cursor, completions int64) {
	indexes, count := at.Child("succeededIndexes"), at.Child("succeededCount")
	at.RequireIf(!indexes.Has() && !count.Has(), "at least one of succeededCount or succeededIndexes must be specified")
	indexes.MaxBytes(maxSucceededIndexes)
	total, err := countIndexes(indexes.String(), completions)
	if err != nil {
		indexes.Invalid(indexes.String(), "error parsing succeededIndexes: "+err.Error())
	}
	count.NonNegative()
	count.Max(completions, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
	if indexes.Has() {
		count.Max(total,
			fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
	}
}

// countIndexes counts the indexes in a list such as 1,3-5,7. All of them must be less than completions.
func countIndexes(text string, completions int64) (int64, error) {
	if text == "" {
		return 0, nil
	}
	total, last := int64(0), int64(-1)
	for interval := range strings.SplitSeq(text, ",") {
		from, to, err := parseInterval(interval, completions)
		if err != nil {
			return 0, err
		}
		if last >= from {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, from)
		}
		total, last = total+to-from+1, to
	}
	return total, nil
}

func parseInterval(text string, completions int64) (from, to int64, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return 0, 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	if from, err = parseIndex(ends[0], completions); err != nil || len(ends) == 1 {
		return from, from, err
	}
	if to, err = parseIndex(ends[1], completions); err != nil {
		return 0, 0, err
	}
	if from >= to {
		return 0, 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", from, to)
	}
	return from, to, nil
}

func parseIndex(text string, completions int64) (int64, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("cannot convert string to integer for index: %q", text)
	}
	if int64(n) >= completions {
		return 0, fmt.Errorf("too large index: %q", text)
	}
	return int64(n), nil
}

// indexesOverlap returns an error if an index is in both lists. The error contains the first such index. Intervals that cannot be
// parsed are ignored.
func indexesOverlap(completed, failed string, completions int64) error {
	if completed == "" || failed == "" {
		return nil
	}
	for a := range strings.SplitSeq(failed, ",") {
		from, to, err := parseInterval(a, completions)
		if err != nil {
			continue
		}
		for b := range strings.SplitSeq(completed, ",") {
			start, end, err := parseInterval(b, completions)
			if err == nil && start <= to && from <= end {
				return errors.New("failedIndexes and completedIndexes overlap at index: " + strconv.FormatInt(max(start, from), 10))
			}
		}
	}
	return nil
}
