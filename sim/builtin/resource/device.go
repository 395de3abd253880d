package resource

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits of the devices in a slice.
const (
	maxConsumedSets      = 2
	maxDeviceTaints      = 16
	maxDeviceAttributes  = 32
	maxAttributeValue    = 64
	maxAttributeValues   = 48 // of a device, with the items of lists
	maxAttributeKeyShown = podspec.DriverNameMax + 1 + maxAttributeName
	maxBindings          = 4
)

// validateDevice checks a device in a slice. old is the device with the same name in the stored slice. ownNodes reports whether the
// slice lets each device select its own nodes.
func validateDevice(ctx *resource.Context, at field.Cursor, old object.Object, ownNodes bool) {
	at.Child("name").OrEmpty().Check(field.DNS1123Label)
	attributes, capacity := at.Child("attributes"), at.Child("capacity")
	if n := attributes.Len() + capacity.Len(); n > maxDeviceAttributes {
		at.Invalid(n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxDeviceAttributes))
	}
	if n := attributeValues(attributes.Object()); n > maxAttributeValues {
		at.Invalid(n, fmt.Sprintf("the total number of attribute values must not exceed %d", maxAttributeValues))
	}
	for name, a := range attributes.EachKey() {
		validateAttributeName(attributes.With(name), byDriver)
		validateAttribute(ctx, a.ReportAt(attributes.Key(shortened(name))))
	}
	for name, c := range capacity.EachKey() {
		validateAttributeName(capacity.With(name), byDriver)
		validateDeviceCapacity(ctx, c.ReportAt(capacity.Key(shortened(name))), at.True("allowMultipleAllocations"))
	}
	if taints := at.Child("taints"); old == nil || !object.SemanticEqual(old["taints"], taints.Value()) {
		for taint := range taints.MaxItems(maxDeviceTaints).Each() {
			validateDeviceTaint(ctx, taint)
		}
	}
	validateCounterSets(ctx, atMost(ctx, at.Child("consumesCounters"), maxConsumedSets), "counterSet")
	validateDeviceNodes(at, ownNodes)
	validateBindingConditions(ctx, at)
}

func validateDeviceTaint(ctx *resource.Context, at field.Cursor) {
	at.Child("key").OrEmpty().Check(field.QualifiedName)
	at.Child("value").OrEmpty().Check(field.LabelValue)
	declared(ctx, at.Child("effect"), func(c field.Cursor) field.Cursor { return c.Required().OneOf(deviceEffects...) })
}

// validateDeviceNodes checks the nodes of a device, which are set only if the slice requires it (ownNodes).
func validateDeviceNodes(at field.Cursor, ownNodes bool) {
	const oneOf = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	if !ownNodes {
		if at.Has("nodeName") || at.Has("nodeSelector") || at.Has("allNodes") {
			at.Invalid(nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
		}
		return
	}
	set := validateNodeChoice(at, "must not be empty")
	validateOneChoice(at, append(set, validateFlags(at, "allNodes")...), oneOf, oneOf)
}

// shortened returns a key for use in the path of an error. If the key is too long, dots replace its middle.
func shortened(key string) string {
	if len(key) <= maxAttributeKeyShown {
		return key
	}
	const dots = "..."
	rest := maxAttributeKeyShown - len(dots)
	return key[:(rest+1)/2] + dots + key[len(key)-rest/2:]
}

// attributeTypes are the fields of an attribute, exactly one of which is set. The lists are behind the gate DRAListTypeAttributes.
var attributeTypes = []string{"int", "bool", "string", "version", "ints", "bools", "strings", "versions"}

// attributeValues returns the number of values of attributes. Each item of a list counts.
func attributeValues(attributes object.Object) (total int) {
	for name := range attributes { // order does not matter
		n := 0
		for _, list := range []string{"bools", "ints", "strings", "versions"} {
			n += len(attributes.List(name, list))
		}
		total += max(n, 1)
	}
	return total
}

// validateAttribute checks that an attribute has exactly one value or list of values.
func validateAttribute(ctx *resource.Context, at field.Cursor) {
	n := 0
	for _, name := range []string{"bool", "int", "string", "version"} {
		if value := at.Child(name); value.Has() {
			n++
			validateAttributeValue(value, name)
		}
	}
	for _, name := range []string{"bools", "ints", "strings", "versions"} {
		list := at.Child(name)
		if !list.Has() {
			continue
		}
		n++
		list.InvalidIf(list.Len() == 0, "must not be empty if specified")
		for item := range list.Each() {
			validateAttributeValue(item, strings.TrimSuffix(name, "s"))
		}
	}
	switch {
	case n == 1:
	case ctx.Since(37):
		declared(ctx, at, func(c field.Cursor) field.Cursor { return oneValue(c) })
	case n == 0:
		at.Invalid("", "exactly one value must be specified")
	default:
		at.Invalid(gotext.Value(gotext.DeviceAttribute, at.Object()), "exactly one value must be specified")
	}
}

func validateAttributeValue(at field.Cursor, typ string) {
	at.InvalidIf(typ == "version" && !kind.IsSemver(at.String()), "must be a string compatible with semver.org spec 2.0.0")
	at.MaxBytes(maxAttributeValue)
}

// oneValue reports that an attribute has no value or several values. The error has the wording of declarative validation.
func oneValue(at field.Cursor) field.Cursor {
	members := "`" + strings.Join(attributeTypes, "`, `") + "`"
	set := slices.DeleteFunc(slices.Clone(attributeTypes), func(kind string) bool { return !at.Has(kind) })
	if len(set) == 0 {
		return at.Invalid("", "must specify one of: "+members)
	}
	return at.Invalid("{"+strings.Join(set, ", ")+"}", "must specify exactly one of: "+members)
}

// validateBindingConditions checks the conditions that a device must meet before a pod is bound (KEP-5007).
func validateBindingConditions(ctx *resource.Context, at field.Cursor) {
	wanted, failed := at.Child("bindingConditions"), at.Child("bindingFailureConditions")
	for _, list := range []field.Cursor{wanted, failed} {
		atMost(ctx, list, maxBindings).CheckEach(field.QualifiedName)
	}
	wanted.UniqueItems()
	seen := field.Seen{}
	for condition := range failed.Each() {
		condition.Unique(seen).InvalidIf(slices.Contains(wanted.Strings(), condition.String()),
			"bindingFailureConditions must not overlap with bindingConditions")
	}
	wanted.InvalidIf(wanted.Len() == 0 && failed.Len() > 0, "bindingConditions are required to use bindingFailureConditions")
	failed.InvalidIf(failed.Len() == 0 && wanted.Len() > 0, "bindingFailureConditions are required to use bindingConditions")
}
