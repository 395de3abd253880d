package podspec

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/selector"
)

func (r *Rules) readinessGates() field.ErrorList {
	var errs field.ErrorList
	for i, gate := range r.Spec.Objects("readinessGates") {
		errs = append(errs, field.Check(r.Path.Child("readinessGates").Index(i).Child("conditionType"), gate.String("conditionType"), field.QualifiedName)...)
	}
	return errs
}

func (r *Rules) schedulingGates() field.ErrorList {
	p := r.Path.Child("schedulingGates")
	var errs field.ErrorList
	var seen []string
	for i, gate := range r.Spec.Objects("schedulingGates") {
		name := gate.String("name")
		errs = append(errs, field.Check(p.Index(i), name, field.QualifiedName)...)
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(p.Index(i), name))
		}
		seen = append(seen, name)
	}
	return errs
}

func (r *Rules) tolerations() field.ErrorList {
	return r.ValidateTolerations(r.Spec.Objects("tolerations"), r.Path.Child("tolerations"))
}

// ValidateTolerations checks tolerations at p.
func (r *Rules) ValidateTolerations(list []object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for i, t := range list {
		at, key, op, effect := p.Index(i), t.String("key"), t.String("operator"), t.String("effect")
		if key != "" {
			errs = append(errs, field.Check(at.Child("key"), key, field.QualifiedName)...)
		} else if op != "Exists" {
			errs = append(errs, field.Invalid(at.Child("operator"), field.Enum(op),
				"operator must be Exists when `key` is empty, which means \"match all values and all keys\""))
		}
		if t.Has("tolerationSeconds") && effect != "NoExecute" {
			errs = append(errs, field.Invalid(at.Child("effect"), field.Enum(effect), "effect must be 'NoExecute' when `tolerationSeconds` is set"))
		}
		errs = append(errs, r.tolerationValue(op, t.String("value"), at)...)
		if effect != "" {
			errs = append(errs, field.MustBeOneOf(at.Child("effect"), effect, "NoSchedule", "PreferNoSchedule", "NoExecute")...)
		}
	}
	return errs
}

// tolerationValue checks the value of a toleration, which depends on its operator. Lt and Gt wait for a gate (KEP-5471).
func (r *Rules) tolerationValue(op, value string, p field.Path) field.ErrorList {
	at := p.Child("operator")
	switch op {
	case "Equal", "":
		if msgs := field.LabelValue(value); len(msgs) > 0 {
			return field.ErrorList{field.Invalid(at, value, strings.Join(msgs, ";"))}
		}
	case "Exists":
		if value != "" {
			return field.ErrorList{field.Invalid(at, value, "value must be empty when `operator` is 'Exists'")}
		}
	case "Lt", "Gt":
		if !r.Allow.comparisonTolerations {
			return field.ErrorList{field.NotSupported(at, field.Enum(op), "Equal", "Exists", "Lt", "Gt")}
		}
		errs := field.Check(p.Child("value"), value, field.DecimalInteger)
		if _, err := strconv.ParseInt(value, 10, 64); err != nil {
			errs = append(errs, field.Invalid(p.Child("value"), value, err.Error()))
		}
		return errs
	default:
		return field.ErrorList{field.NotSupported(at, field.Enum(op), "Equal", "Exists")}
	}
	return nil
}

// topologySpread checks how the pods of a kind spread over the cluster (KEP-895).
func (r *Rules) topologySpread() field.ErrorList {
	p, list := r.Path.Child("topologySpreadConstraints"), r.Spec.Objects("topologySpreadConstraints")
	var errs field.ErrorList
	for i, c := range list {
		at, key, action := p.Index(i), c.String("topologyKey"), c.String("whenUnsatisfiable")
		errs = append(errs, field.Positive(c.Int64("maxSkew"), at.Child("maxSkew"))...)
		if key == "" {
			errs = append(errs, field.Required(at.Child("topologyKey"), "can not be empty"))
		}
		errs = append(errs, field.MustBeOneOf(at.Child("whenUnsatisfiable"), action, "DoNotSchedule", "ScheduleAnyway")...)
		if slices.ContainsFunc(list[i+1:], func(o object.Object) bool {
			return o.String("topologyKey") == key && o.String("whenUnsatisfiable") == action
		}) {
			errs = append(errs, field.Duplicate(at.Child("{topologyKey, whenUnsatisfiable}"), "{"+key+", "+action+"}"))
		}
		if n, ok := c.Int("minDomains"); ok {
			errs = append(errs, field.Positive(n, at.Child("minDomains"))...)
			if action != "DoNotSchedule" {
				errs = append(errs, field.Invalid(at.Child("minDomains"), n, "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "+action))
			}
		}
		for _, name := range []string{"nodeAffinityPolicy", "nodeTaintsPolicy"} {
			if c.Has(name) {
				errs = append(errs, field.MustBeOneOf(at.Child(name), c.String(name), "Honor", "Ignore")...)
			}
		}
		errs = append(errs, r.spreadSelector(c, at)...)
	}
	return errs
}

func (r *Rules) spreadSelector(c object.Object, p field.Path) field.ErrorList {
	keys, s := c.Strings("matchLabelKeys"), c.Map("labelSelector")
	var errs field.ErrorList
	if r.Allow.spreadKeys {
		errs = legacyMatchLabelKeys(p.Child("matchLabelKeys"), keys, s)
	} else {
		errs = matchLabelKeys(p, keys, nil, s)
	}
	if r.Allow.spreadSelector {
		return errs
	}
	return append(errs, selector.ValidateLabelSelector(p.Child("labelSelector"), s, selector.ValidateOptions{})...)
}

// matchLabelKeys checks the keys whose values are taken from the pod's labels into the selector s (KEP-3633). The server
// has merged them already, so that a key may be in the selector once.
func matchLabelKeys(p field.Path, match, mismatch []string, s map[string]any) field.ErrorList {
	errs := labelKeys(p.Child("matchLabelKeys"), match, s)
	errs = append(errs, labelKeys(p.Child("mismatchLabelKeys"), mismatch, s)...)
	seen := object.SortedKeys(object.Object(s).Map("matchLabels"))
	for _, e := range object.Object(s).Objects("matchExpressions") {
		key := e.String("key")
		if i := lastIndex(match, key); i >= 0 && slices.Contains(seen, key) {
			errs = append(errs, field.Invalid(p.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
		}
		seen = append(seen, key)
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			errs = append(errs, field.Invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys"))
		}
	}
	return errs
}

func lastIndex(list []string, value string) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i] == value {
			return i
		}
	}
	return -1
}

func labelKeys(p field.Path, keys []string, s map[string]any) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	if s == nil {
		return field.ErrorList{field.Forbidden(p, "must not be specified when labelSelector is not set")}
	}
	var errs field.ErrorList
	for i, key := range keys {
		errs = append(errs, field.Check(p.Index(i), key, field.QualifiedName)...)
	}
	return errs
}

// legacyMatchLabelKeys is the rule for objects from the time when the keys were not merged into the selector.
func legacyMatchLabelKeys(p field.Path, keys []string, s map[string]any) field.ErrorList {
	if len(keys) == 0 {
		return nil
	}
	var errs field.ErrorList
	if s == nil {
		errs = append(errs, field.Forbidden(p, "must not be specified when labelSelector is not set"))
	}
	used := object.SortedKeys(object.Object(s).Map("matchLabels"))
	for _, e := range object.Object(s).Objects("matchExpressions") {
		used = append(used, e.String("key"))
	}
	for i, key := range keys {
		errs = append(errs, field.Check(p.Index(i), key, field.QualifiedName)...)
		if slices.Contains(used, key) {
			errs = append(errs, field.Invalid(p.Index(i), key, "exists in both matchLabelKeys and labelSelector"))
		}
	}
	return errs
}
