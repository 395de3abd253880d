package kind

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/selector"
)

// Limits of a metav1.Condition.
const (
	maxConditionReason  = 1 << 10
	maxConditionMessage = 32 << 10
)

// CheckConditions checks a list of metav1.Condition (ValidateConditions in apimachinery's metav1/validation).
func CheckConditions(ctx *resource.Context, at field.Cursor) {
	seen := field.Seen{}
	for c := range at.Each() {
		name, status := c.Child("type").OrEmpty(), c.Child("status").OrEmpty()
		if ctx.Since(37) {
			c.With(name.String()).UniqueBy(seen, name.String())
			name = name.Required("is required")
		} else {
			name.Unique(seen)
		}
		name.Check(field.QualifiedName)
		if ctx.Since(37) {
			status = status.Required()
		}
		status.OneOf("False", "True", "Unknown")
		c.Child("observedGeneration").Min(0, "must be greater than or equal to zero")
		c.Child("lastTransitionTime").Required()
		c.Child("reason").Required().Check(field.ConditionReason).MaxBytes(maxConditionReason)
		c.Child("message").MaxBytes(maxConditionMessage)
	}
}

// NonNegative checks that the numbers in the named fields are not negative.
func NonNegative(at field.Cursor, names ...string) {
	for _, name := range names {
		at.Child(name).NonNegative()
	}
}

// Error details for NotAbove in the status of a workload.
const (
	AboveReplicas = "cannot be greater than status.replicas"
	AboveReady    = "cannot be greater than readyReplicas"
)

// NotAbove checks that none of the numbers in the named fields exceeds the number in the field limit.
func NotAbove(at field.Cursor, limit, detail string, names ...string) {
	for _, name := range names {
		at.Child(name).OrZero().Max(at.Int64(limit), detail)
	}
}

// ReplicaStatus checks the status of a ReplicaSet or a ReplicationController. A ReplicationController has no
// terminatingReplicas.
func ReplicaStatus(_ *resource.Context, all field.Cursor) {
	at := all.Child("status")
	NonNegative(at, "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration",
		"terminatingReplicas")
	NotAbove(at, "replicas", AboveReplicas, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
	NotAbove(at, "readyReplicas", AboveReady, "availableReplicas")
}

// CheckAlwaysRestarts checks the pod template of a kind that replaces its pods: restartPolicy must be Always, and
// activeDeadlineSeconds is not allowed.
func CheckAlwaysRestarts(template field.Cursor, kind string) {
	spec := template.Child("spec")
	spec.Child("restartPolicy").OrEmpty().OneOf("Always")
	spec.ForbidAny("activeDeadlineSeconds in "+kind+" is not Supported", "activeDeadlineSeconds")
}

// CheckAmountOrPercent checks an IntOrString, which must be a non-negative number or a percentage.
func CheckAmountOrPercent(at field.Cursor) {
	at.CheckEnum(field.Percent).NonNegative()
}

// CheckAtMost100Percent checks that a percentage is not greater than 100%.
func CheckAtMost100Percent(at field.Cursor) {
	if text := at.String(); len(field.Percent(text)) == 0 && AmountOf(at) > 100 {
		at.Invalid(field.Enum(text), "must not be greater than 100%")
	}
}

// AmountOf returns the number in an IntOrString, which may be followed by a percent sign. For any other string it returns 0.
func AmountOf(at field.Cursor) int64 {
	if n, ok := at.Int(); ok {
		return n
	}
	text := at.String()
	if len(field.Percent(text)) == 0 {
		text = strings.TrimSuffix(text, "%")
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

// InvalidAmount reports that an IntOrString is invalid. In the error, a missing value is 0.
func InvalidAmount(at field.Cursor, detail string) {
	at.OrZero().AsEnum().InvalidIf(true, detail)
}

// CheckAlone checks that a list that contains a wildcard has no other items.
func CheckAlone(at field.Cursor, what string) {
	list := at.Strings()
	at.InvalidIf(len(list) > 1 && slices.Contains(list, "*"), "if '*' is present, must not specify other "+what)
}

// ImmutablePointer is like ImmutableStruct, but for a pointer field, where a missing struct differs from an empty one.
func ImmutablePointer(at field.Cursor, goType gotext.Type) {
	if at.Updates() && (at.Has() != (at.Old() != nil) || !gotext.Same(goType, at.Object(), at.Old())) {
		at.Invalid(GoPointer(goType, at.Object()), field.TextImmutable)
	}
}

// ImmutableStruct checks that an update does not change a struct. Structs are compared the way the real server compares them in
// memory. The error prints the struct as its Go type.
func ImmutableStruct(at field.Cursor, goType gotext.Type) {
	InvalidStructIf(at, at.Updates() && !gotext.Same(goType, at.Object(), at.Old()), goType, field.TextImmutable)
}

// InvalidStructIf reports a struct if broken is true, and prints it as its Go type. The detail states the rule.
func InvalidStructIf(at field.Cursor, broken bool, goType gotext.Type, detail string) {
	if broken {
		at.Invalid(gotext.Value(goType, at.Object()), detail)
	}
}

// CheckUnion checks that exactly one of the members of a struct is set. Its errors have the wording of declarative
// validation (validate.Union).
func CheckUnion(at field.Cursor, members ...string) {
	set := slices.DeleteFunc(slices.Clone(members), func(name string) bool { return !at.Has(name) })
	all := "`" + strings.Join(members, "`, `") + "`"
	switch len(set) {
	case 0:
		at.Invalid("", "must specify one of: "+all)
	case 1:
	default:
		at.Invalid("{"+strings.Join(set, ", ")+"}", "must specify exactly one of: "+all)
	}
}

// CheckSelector checks a metav1.LabelSelector.
func CheckSelector(at field.Cursor, options selector.ValidateOptions) {
	if at.Has() {
		at.Report(selector.ValidateLabelSelector(at.Path(), at.Object(), options))
	}
}

// InvalidSelector reports that a metav1.LabelSelector is invalid. In the error, a missing selector is null.
func InvalidSelector(at field.Cursor, detail string) {
	if !at.Has() {
		at.Invalid(nil, detail)
	} else {
		at.Invalid(field.Raw(gotext.LabelSelector(at.Object())), detail)
	}
}

// AsStored returns the options for validating a selector. They allow invalid values if the stored selector is invalid.
func AsStored(at field.Cursor) selector.ValidateOptions {
	wrong := selector.ValidateLabelSelector(field.Path{}, at.Old(), selector.ValidateOptions{})
	return selector.ValidateOptions{AllowInvalidValues: len(wrong) > 0}
}

// CheckSelectorKept checks that an update does not change a metav1.LabelSelector.
func CheckSelectorKept(at field.Cursor) {
	if at.Updates() && (at.Has() != (at.Old() != nil) || at.Changed()) {
		InvalidSelector(at, field.TextImmutable)
	}
}

// WarnClaimSize warns about sizes in a PersistentVolumeClaim that are not a whole number of bytes. p is the path of the
// claim's spec in the warnings.
func WarnClaimSize(ctx *resource.Context, p field.Path, claim object.Object) {
	for _, list := range []string{"requests", "limits"} {
		if q := quantity.Of(claim.Map("spec", "resources", list)["storage"]); q.MilliValue()%1000 != 0 {
			ctx.Warn(fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Child("resources", list).Key("storage"), q))
		}
	}
}

// comparison determines how the API server compares a new value with the stored one.
type comparison bool

const (
	// Semantically is apiequality.Semantic.DeepEqual: empty and missing lists and maps are equal.
	Semantically comparison = false
	// Literally is reflect.DeepEqual: an empty list or map in the request differs from a missing one. Stored objects have
	// no empty lists or maps.
	Literally comparison = true
)

// Changes creates a Strategy.SpecChanged function. typ returns the type of the objects.
type Changes func(typ func() *schema.Type) func(obj, old object.Object) bool

// Of returns a Changes function that compares top-level fields.
func (c comparison) Of(names ...string) Changes {
	return func(typ func() *schema.Type) func(obj, old object.Object) bool {
		return func(obj, old object.Object) bool {
			for _, name := range names {
				value, before := obj[name], old[name]
				if c == Semantically && object.Equal(value, before) {
					continue // fast path: most updates do not change the field
				}
				if !c.sameField(typ().Field(name), value, before) {
					return true
				}
			}
			return false
		}
	}
}

// sameField compares two values of a field. A missing value of a non-pointer field equals the zero value of its type.
func (c comparison) sameField(f *schema.Field, value, old any) bool {
	if f.Pointer && (value == nil || old == nil) {
		return value == nil && old == nil
	}
	return c.same(f.Type, value, old)
}

func (c comparison) same(t *schema.Type, value, old any) bool {
	switch t.Kind {
	case schema.Struct:
		x, _ := value.(map[string]any)
		y, _ := old.(map[string]any)
		for i := range t.Fields {
			if f := &t.Fields[i]; !c.sameField(f, x[f.Name], y[f.Name]) {
				return false
			}
		}
		return true
	case schema.List:
		x, _ := value.([]any)
		y, _ := old.([]any)
		return !c.emptied(value, len(x)) && slices.EqualFunc(x, y, func(a, b any) bool {
			return (!t.ElemPointer || (a == nil) == (b == nil)) && c.same(t.Elem, a, b)
		})
	case schema.Map:
		x, _ := value.(map[string]any)
		y, _ := old.(map[string]any)
		return !c.emptied(value, len(x)) && maps.EqualFunc(x, y, func(a, b any) bool { return c.same(t.Elem, a, b) })
	case schema.Quantity:
		x, errX := quantity.Parse(textOrZero(value))
		y, errY := quantity.Parse(textOrZero(old))
		return errX == nil && errY == nil && x.Cmp(y) == 0
	case schema.Any:
		return object.Equal(value, old)
	}
	return object.Blank(value) && object.Blank(old) || object.Equal(value, old)
}

// emptied reports whether a value with n elements is an empty list or map and not missing, if the comparison distinguishes the two.
func (c comparison) emptied(value any, n int) bool { return c == Literally && value != nil && n == 0 }

func textOrZero(v any) string {
	if text, ok := v.(string); ok {
		return text
	}
	return "0"
}
