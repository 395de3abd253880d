package builtin

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// pointer returns the value at the path for the text of an error; a nil pointer prints as null.
func pointer(o object.Object, path ...string) any {
	v, _ := o.Get(path...)
	return enumValue(v)
}

// enumValue returns v as errors print it where the Go type is a named string.
func enumValue(v any) any {
	if s, ok := v.(string); ok {
		return field.Enum(s)
	}
	return v
}

// immutable checks that the value at p is the one it had.
func immutable(p field.Path, value, old any) field.ErrorList {
	if object.SemanticEqual(value, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, enumValue(value), field.TextImmutable)}
}

// immutableRaw is immutable for a value that is kept as it was written: spaces and the order of keys count.
func immutableRaw(p field.Path, value, old any) field.ErrorList {
	if object.Equal(value, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, value, field.TextImmutable)}
}

// isObject reports whether a value, as it is or as it was written, is a JSON object.
func isObject(v any) bool {
	raw, ok := v.(object.Raw)
	if ok {
		return strings.HasPrefix(string(raw), "{")
	}
	_, ok = v.(map[string]any)
	return ok
}

// immutableText is immutable for a field that is no pointer in memory: a missing value is the empty text.
func immutableText(p field.Path, value, old any) field.ErrorList {
	if value == nil {
		value = ""
	}
	return immutable(p, value, old)
}

// checkName applies the rule of another kind's names.
func checkName(p field.Path, name string, rule field.NameRule) field.ErrorList {
	return field.Messages(p, name, rule(name, false))
}

// warnAll adds warnings to the answer.
func warnAll(ctx *resource.Context, warnings []string) {
	for _, text := range warnings {
		ctx.Warn(text)
	}
}

// sortedSet returns the strings in order, each once.
func sortedSet(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// unsupportedLabel is the text of a 400 for a field selector label of most kinds that have labels of their own.
func unsupportedLabel(label string) string { return "field label not supported: " + label }

// sameLabels maps field selector labels to fields of the same name, for every version of a kind.
func sameLabels(labels ...string) map[string]map[string]string {
	out := make(map[string]string, len(labels))
	for _, l := range labels {
		out[l] = l
	}
	return map[string]map[string]string{"": out}
}

// everyVersion is the defaults of a kind that has the same ones in all versions.
func everyVersion(f func(object.Object)) map[string]func(object.Object) {
	return map[string]func(object.Object){"": f}
}
