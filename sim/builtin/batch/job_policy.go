package batch

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Limits of the policies of a Job (KEP-3329, KEP-3998).
const (
	maxFailureRules     = 20
	maxFailurePatterns  = 20
	maxExitCodes        = 255
	maxSuccessRules     = 20
	maxSucceededIndexes = 64 << 10
)

// validateFailurePolicy checks the rules of spec.podFailurePolicy at p.
func validateFailurePolicy(p field.Path, spec object.Object) field.ErrorList {
	rules := spec.Objects("podFailurePolicy", "rules")
	var errs field.ErrorList
	if len(rules) > maxFailureRules {
		errs = append(errs, field.TooMany(p, len(rules), maxFailureRules))
	}
	var containers []string
	for _, list := range []string{"containers", "initContainers"} {
		for _, c := range spec.Objects("template", "spec", list) {
			containers = append(containers, c.String("name"))
		}
	}
	for i, rule := range rules {
		at := p.Index(i)
		errs = append(errs, validateFailureAction(at.Child("action"), rule.String("action"), spec.Has("backoffLimitPerIndex"))...)
		codes, patterns := rule.At("onExitCodes"), rule.Objects("onPodConditions")
		if codes != nil {
			errs = append(errs, validateExitCodes(at.Child("onExitCodes"), codes, containers)...)
		}
		errs = append(errs, validateFailurePatterns(at.Child("onPodConditions"), patterns)...)
		if codes != nil && len(patterns) > 0 {
			errs = append(errs, field.Invalid(at, field.Omit, "specifying both OnExitCodes and OnPodConditions is not supported"))
		}
		if codes == nil && len(patterns) == 0 {
			errs = append(errs, field.Invalid(at, field.Omit, "specifying one of OnExitCodes and OnPodConditions is required"))
		}
	}
	return errs
}

// requiredOneOf reports a missing value with the list of allowed ones, or one that is not among them.
func requiredOneOf(p field.Path, value string, allowed ...string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, fmt.Sprintf("valid values: %q", allowed))}
	}
	return field.MustBeOneOf(p, value, allowed...)
}

func validateFailureAction(p field.Path, action string, perIndex bool) field.ErrorList {
	if action == "FailIndex" {
		if perIndex {
			return nil
		}
		return field.ErrorList{field.Invalid(p, field.Enum(action), "requires the backoffLimitPerIndex to be set")}
	}
	return requiredOneOf(p, action, "Count", "FailIndex", "FailJob", "Ignore")
}

func validateFailurePatterns(p field.Path, patterns []object.Object) field.ErrorList {
	var errs field.ErrorList
	if len(patterns) > maxFailurePatterns {
		errs = append(errs, field.TooMany(p, len(patterns), maxFailurePatterns))
	}
	for i, pattern := range patterns {
		at := p.Index(i)
		errs = append(errs, field.Check(at.Child("type"), pattern.String("type"), field.QualifiedName)...)
		errs = append(errs, requiredOneOf(at.Child("status"), pattern.String("status"), "False", "True", "Unknown")...)
	}
	return errs
}

func validateExitCodes(p field.Path, codes object.Object, containers []string) field.ErrorList {
	errs := requiredOneOf(p.Child("operator"), codes.String("operator"), "In", "NotIn")
	if name := codes.String("containerName"); codes.Has("containerName") && !slices.Contains(containers, name) {
		errs = append(errs, field.Invalid(p.Child("containerName"), name, "must be one of the container or initContainer names in the pod template"))
	}
	values, at := codes.List("values"), p.Child("values")
	if len(values) == 0 {
		errs = append(errs, field.Invalid(at, values, "at least one value is required"))
	} else if len(values) > maxExitCodes {
		errs = append(errs, field.TooMany(at, len(values), maxExitCodes))
	}
	ordered, last := true, int64(0)
	seen := map[int64]bool{}
	for i, v := range values {
		code, _ := v.(int64)
		if code == 0 && codes.String("operator") == "In" {
			errs = append(errs, field.Invalid(at.Index(i), code, "must not be 0 for the In operator"))
		}
		if seen[code] {
			errs = append(errs, field.Duplicate(at.Index(i), code))
		}
		ordered = ordered && (i == 0 || last <= code)
		seen[code], last = true, code
	}
	if !ordered {
		errs = append(errs, field.Invalid(at, values, "must be ordered"))
	}
	return errs
}

// validateSuccessPolicy checks spec.successPolicy at p.
func validateSuccessPolicy(p field.Path, spec object.Object) field.ErrorList {
	policy := spec.At("successPolicy")
	if policy == nil {
		return nil
	}
	if spec.String("completionMode") != "Indexed" {
		return field.ErrorList{field.Invalid(p, gotext.Value("SuccessPolicy", policy), "requires indexed completion mode")}
	}
	rules, p := policy.Objects("rules"), p.Child("rules")
	var errs field.ErrorList
	if len(rules) == 0 {
		errs = append(errs, field.Required(p, "at least one rules must be specified when the successPolicy is specified"))
	}
	if len(rules) > maxSuccessRules {
		errs = append(errs, field.TooMany(p, len(rules), maxSuccessRules))
	}
	for i, rule := range rules {
		errs = append(errs, validateSuccessRule(p.Index(i), rule, spec.Int64("completions"))...)
	}
	return errs
}

func validateSuccessRule(p field.Path, rule object.Object, completions int64) field.ErrorList {
	var errs field.ErrorList
	indexed := rule.Has("succeededIndexes")
	n, counted := rule.Int("succeededCount")
	if !indexed && !counted {
		errs = append(errs, field.Required(p, "at least one of succeededCount or succeededIndexes must be specified"))
	}
	total := int64(0)
	if indexed {
		text, at := rule.String("succeededIndexes"), p.Child("succeededIndexes")
		if len(text) > maxSucceededIndexes {
			errs = append(errs, field.TooLong(at, maxSucceededIndexes))
		}
		var err error
		if total, err = countIndexes(text, completions); err != nil {
			errs = append(errs, field.Invalid(at, text, "error parsing succeededIndexes: "+err.Error()))
		}
	}
	if !counted {
		return errs
	}
	at := p.Child("succeededCount")
	errs = append(errs, field.NonNegative(n, at)...)
	if n > completions {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions)))
	}
	if indexed && n > total {
		errs = append(errs, field.Invalid(at, n, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total)))
	}
	return errs
}

// countIndexes counts the indexes in a text such as 1,3-5,7, all of which must be less than completions.
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

// indexesOverlap reports the first index in both lists; intervals that do not parse are passed over.
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
