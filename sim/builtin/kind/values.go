package kind

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Pointer returns the value at the path for the text of an error; a nil pointer prints as null.
func Pointer(o object.Object, path ...string) any {
	v, _ := o.Get(path...)
	return EnumValue(v)
}

// EnumValue returns v as errors print it where the Go type is a named string.
func EnumValue(v any) any {
	if s, ok := v.(string); ok {
		return field.Enum(s)
	}
	return v
}

// Immutable checks that the value at p is the one it had.
func Immutable(p field.Path, value, old any) field.ErrorList {
	if object.SemanticEqual(value, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, EnumValue(value), field.TextImmutable)}
}

// ImmutableRaw is immutable for a value that is kept as it was written: spaces and the order of keys count.
func ImmutableRaw(p field.Path, value, old any) field.ErrorList {
	if object.Equal(value, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, value, field.TextImmutable)}
}

// IsObject reports whether a value, as it is or as it was written, is a JSON object.
func IsObject(v any) bool {
	raw, ok := v.(object.Raw)
	if ok {
		return strings.HasPrefix(string(raw), "{")
	}
	_, ok = v.(map[string]any)
	return ok
}

// ImmutableText is immutable for a field that is no pointer in memory: a missing value is the empty text.
func ImmutableText(p field.Path, value, old any) field.ErrorList {
	if value == nil {
		value = ""
	}
	return Immutable(p, value, old)
}

// ValidateName applies the rule of another kind's names.
func ValidateName(p field.Path, name string, rule field.NameRule) field.ErrorList {
	return field.Messages(p, name, rule(name, false))
}

// WarnAll adds warnings to the answer.
func WarnAll(ctx *resource.Context, warnings []string) {
	for _, text := range warnings {
		ctx.Warn(text)
	}
}

// SortedSet returns the strings in order, each once.
func SortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// UnsupportedLabel is the text of a 400 for a field selector label of most kinds that have labels of their own.
func UnsupportedLabel(label string) string { return "field label not supported: " + label }

// SameLabels maps field selector labels to fields of the same name, for every version of a kind.
func SameLabels(labels ...string) map[string]map[string]string {
	out := make(map[string]string, len(labels))
	for _, l := range labels {
		out[l] = l
	}
	return map[string]map[string]string{"": out}
}

// EveryVersion is the defaults of a kind that has the same ones in all versions.
func EveryVersion(f func(object.Object)) map[string]func(object.Object) {
	return map[string]func(object.Object){"": f}
}

// keyOrder is the order of the fields of the v1 types for metrics and conditions; it fits all of them.
var keyOrder = []string{"type", "status", "lastTransitionTime", "reason", "message", "object", "pods", "resource", "containerResource",
	"external", "kind", "name", "apiVersion", "target", "metricName", "metricSelector", "targetAverageUtilization", "targetValue",
	"targetAverageValue", "currentAverageUtilization", "currentValue", "currentAverageValue", "container", "selector", "averageValue",
	"matchLabels", "matchExpressions", "key", "operator", "values"}

// AppendOrdered prints a value with its keys in keyOrder.
func AppendOrdered(b []byte, v any) []byte {
	switch v := v.(type) {
	case []any:
		b = append(b, '[')
		for i, x := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendOrdered(b, x)
		}
		return append(b, ']')
	case map[string]any:
		keys := object.SortedKeys(v)
		slices.SortStableFunc(keys, func(x, y string) int { return slices.Index(keyOrder, x) - slices.Index(keyOrder, y) })
		b = append(b, '{')
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(object.AppendString(b, k), ':')
			if k == "matchLabels" {
				b = object.AppendJSON(b, v[k])
			} else {
				b = AppendOrdered(b, v[k])
			}
		}
		return append(b, '}')
	}
	return object.AppendJSON(b, v)
}

// KeepOld gives obj the old value of top-level fields.
func KeepOld(obj, old object.Object, names ...string) {
	for _, name := range names {
		if v, ok := old[name]; ok {
			obj[name] = object.Copy(v)
		} else {
			delete(obj, name)
		}
	}
}

// Decoded returns the bytes of a []byte field.
func Decoded(v any) []byte {
	text, _ := v.(string)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}

// ValidateAlone checks that a list with a wildcard has nothing else.
func ValidateAlone(p field.Path, list []any, what string) field.ErrorList {
	if len(list) > 1 && slices.Contains(object.Strings(list), "*") {
		return field.ErrorList{field.Invalid(p, list, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

// SetEmpty sets a string field that is absent or "".
func SetEmpty(o object.Object, name, value string) {
	if o.String(name) == "" {
		o[name] = value
	}
}

// SetZero sets a number field that is absent or 0.
func SetZero(o object.Object, name string, value int64) {
	if o.Int64(name) == 0 {
		o[name] = value
	}
}

// ValidateConditions checks a list of metav1.Condition.
func ValidateConditions(p field.Path, conditions []object.Object) field.ErrorList {
	var errs field.ErrorList
	var seen []string
	for i, c := range conditions {
		at, name := p.Index(i), c.String("type")
		if slices.Contains(seen, name) {
			errs = append(errs, field.Duplicate(at.Child("type"), name))
		}
		seen = append(seen, name)
		errs = append(errs, validateMetaCondition(at, c)...)
	}
	return errs
}

func validateMetaCondition(p field.Path, c object.Object) field.ErrorList {
	errs := field.Check(p.Child("type"), c.String("type"), field.QualifiedName)
	errs = append(errs, field.MustBeOneOf(p.Child("status"), c.String("status"), "False", "True", "Unknown")...)
	if n := c.Int64("observedGeneration"); n < 0 {
		errs = append(errs, field.Invalid(p.Child("observedGeneration"), n, "must be greater than or equal to zero"))
	}
	errs = append(errs, field.MustBeSet(p.Child("lastTransitionTime"), c.String("lastTransitionTime"))...)
	if reason, at := c.String("reason"), p.Child("reason"); reason == "" {
		errs = append(errs, field.Required(at, ""))
	} else {
		errs = append(errs, field.Check(at, reason, field.ConditionReason)...)
		if len(reason) > maxConditionReason {
			errs = append(errs, field.TooLong(at, maxConditionReason))
		}
	}
	if len(c.String("message")) > maxConditionMessage {
		errs = append(errs, field.TooLong(p.Child("message"), maxConditionMessage))
	}
	return errs
}

// SubdomainName is the rule for names of kinds that do not check a generateName, and count bytes.
func SubdomainName(name string, prefix bool) []string {
	if prefix {
		return nil
	}
	msgs := field.DNS1123Subdomain(name)
	if len(name) > field.DNSSubdomainMax {
		msgs[0] = field.BytesText(field.DNSSubdomainMax)
	}
	return msgs
}

// CheckOrRequire applies a rule to a string that must not be empty.
func CheckOrRequire(p field.Path, value string, rule func(string) []string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return field.Check(p, value, rule)
}

// GoPointer returns a struct for the text of an error, or null.
func GoPointer(t gotext.Type, o object.Object) any {
	if o == nil {
		return nil
	}
	return gotext.Value(t, o)
}

// NonNegatives checks that the numbers in o, if they are there, are not negative.
func NonNegatives(p field.Path, o object.Object, names ...string) field.ErrorList {
	var errs field.ErrorList
	for _, name := range names {
		errs = append(errs, field.NonNegative(o.Int64(name), p.Child(name))...)
	}
	return errs
}

// SelectorValue is a metav1.LabelSelector for the text of an error; nil prints null.
func SelectorValue(s map[string]any) any {
	if s == nil {
		return nil
	}
	return field.Raw(gotext.LabelSelector(s))
}

// ImmutableSelector checks that the metav1.LabelSelector at p is the one it was.
func ImmutableSelector(p field.Path, s, old map[string]any) field.ErrorList {
	if (s == nil) == (old == nil) && object.SemanticEqual(s, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, SelectorValue(s), field.TextImmutable)}
}

// IntOrString returns an IntOrString for the text of an error; an absent one is 0.
func IntOrString(v any) any {
	if v == nil {
		return int64(0)
	}
	return EnumValue(v)
}

// ValidateAmountOrPercent checks an IntOrString: a number that is not negative, or a percentage.
func ValidateAmountOrPercent(p field.Path, v any) field.ErrorList {
	if s, ok := v.(string); ok {
		return field.Messages(p, IntOrString(v), field.Percent(s))
	}
	n, _ := v.(int64)
	return field.NonNegative(n, p)
}

// PercentOf returns the number of a percentage.
func PercentOf(v any) (int, bool) {
	s, ok := v.(string)
	if !ok || len(field.Percent(s)) > 0 {
		return 0, false
	}
	n, _ := strconv.Atoi(strings.TrimSuffix(s, "%"))
	return n, true
}

// ValidateAtMost100Percent checks that a percentage is one of a whole.
func ValidateAtMost100Percent(p field.Path, v any) field.ErrorList {
	if n, ok := PercentOf(v); ok && n > 100 {
		return field.ErrorList{field.Invalid(p, IntOrString(v), "must not be greater than 100%")}
	}
	return nil
}
