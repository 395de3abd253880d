package resource

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// Limits of ResourceSlices.
const (
	maxDevices           = 128
	maxDevicesAdvanced   = 64 // with taints or counters
	maxCounterSets       = 8
	maxCountersPerSet    = 32
	maxConsumedSets      = 2
	maxDeviceTaints      = 16
	maxDeviceAttributes  = 32
	maxAttributeValue    = 64
	maxAttributeKeyShown = maxDriverName + 1 + maxAttributeName
)

func validateResourceSlice(obj, old object.Object) field.ErrorList {
	spec, before, p := obj.At("spec"), old.At("spec"), field.Root("spec")
	errs := podspec.DriverName(field.CursorOn(p.Child("driver"), spec.String("driver"))).Errors()
	errs = append(errs, validatePool(p.Child("pool"), spec.At("pool"))...)
	if old != nil {
		for _, path := range [][]string{{"pool", "name"}, {"driver"}, {"nodeName"}} {
			v, _ := spec.Get(path...)
			was, _ := before.Get(path...)
			if path[0] == "nodeName" {
				errs = append(errs, kind.Immutable(p.Child(path...), v, was)...)
			} else {
				errs = append(errs, kind.ImmutableText(p.Child(path...), v, was)...)
			}
		}
	}
	errs = append(errs, validateSliceNodes(p, spec)...)
	if spec["sharedCounters"] != nil && spec["devices"] != nil {
		errs = append(errs, field.Invalid(p, "", "only one of `sharedCounters` or `devices` is allowed"))
	}
	was := map[string]object.Object{}
	for _, d := range before.Objects("devices") {
		was[d.String("name")] = d
	}
	devices, limit := spec.Objects("devices"), maxDevices
	for _, d := range devices {
		if len(d.List("taints"))+len(d.List("consumesCounters")) > 0 {
			limit = maxDevicesAdvanced
		}
	}
	errs = append(errs, validateEach(p.Child("devices"), devices, limit, nameOf, func(p field.Path, d object.Object) field.ErrorList {
		return validateDevice(p, d, was[d.String("name")], spec.True("perDeviceNodeSelection"))
	})...)
	return append(errs, validateEach(p.Child("sharedCounters"), spec.Objects("sharedCounters"), maxCounterSets, nameOf,
		func(p field.Path, set object.Object) field.ErrorList { return validateCounterSet(p, "name", set) })...)
}

func validatePool(p field.Path, pool object.Object) field.ErrorList {
	errs := validatePoolName(p.Child("name"), pool.String("name"))
	errs = append(errs, field.Positive(pool.Int64("resourceSliceCount"), p.Child("resourceSliceCount"))...)
	if n := pool.Int64("generation"); n < 0 {
		errs = append(errs, field.Invalid(p.Child("generation"), n, "must be greater than or equal to zero"))
	}
	return errs
}

// validateSliceNodes checks that a slice says in exactly one way which nodes its devices are for.
func validateSliceNodes(p field.Path, spec object.Object) field.ErrorList {
	const oneOf = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	errs, set := validateNodeChoice(p, spec, "must be either unset or set to a non-empty string")
	if terms := spec.List("nodeSelector", "nodeSelectorTerms"); spec.Has("nodeSelector") && len(terms) != 1 {
		at := p.Child("nodeSelector", "nodeSelectorTerms")
		errs = append(errs, field.Invalid(at, gotext.Values("NodeSelectorTerm", terms), "must have exactly one node selector term"))
	}
	for _, name := range []string{"allNodes", "perDeviceNodeSelection"} {
		if spec.True(name) {
			set = append(set, "`"+name+"`")
		} else if spec.Has(name) {
			errs = append(errs, field.Invalid(p.Child(name), false, "must be either unset or set to true"))
		}
	}
	return append(errs, validateOneChoice(p, set, oneOf, oneOf+", but multiple fields are set")...)
}

// validateNodeChoice checks nodeName and nodeSelector, and returns which of them are set.
func validateNodeChoice(p field.Path, o object.Object, empty string) (errs field.ErrorList, set []string) {
	if name := o.String("nodeName"); name != "" {
		set = append(set, "`nodeName`")
		errs = append(errs, field.Check(p.Child("nodeName"), name, field.DNS1123Subdomain)...)
	} else if o.Has("nodeName") {
		errs = append(errs, field.Invalid(p.Child("nodeName"), name, empty))
	}
	if s := o.At("nodeSelector"); s != nil {
		set = append(set, "`nodeSelector`")
		errs = append(errs, podspec.NodeSelector(field.CursorOn(p.Child("nodeSelector"), s), false).Errors()...)
	}
	return errs, set
}

func validateOneChoice(p field.Path, set []string, none, several string) field.ErrorList {
	switch len(set) {
	case 0:
		return field.ErrorList{field.Required(p, none)}
	case 1:
		return nil
	}
	return field.ErrorList{field.Invalid(p, "{"+strings.Join(set, ", ")+"}", several)}
}

func validateDevice(p field.Path, d, old object.Object, ownNodes bool) field.ErrorList {
	errs := field.Check(p.Child("name"), d.String("name"), field.DNS1123Label)
	attributes, capacity := d.Map("attributes"), d.Map("capacity")
	if n := len(attributes) + len(capacity); n > maxDeviceAttributes {
		errs = append(errs, field.Invalid(p, n, fmt.Sprintf("the total number of attributes and capacities must not exceed %d", maxDeviceAttributes)))
	}
	for _, name := range object.SortedKeys(attributes) {
		errs = append(errs, validateAttributeName(p.Child("attributes"), name)...)
		errs = append(errs, validateAttribute(p.Child("attributes").Key(shortened(name)), object.Object(attributes).At(name))...)
	}
	for _, name := range object.SortedKeys(capacity) {
		errs = append(errs, validateAttributeName(p.Child("capacity"), name)...)
		errs = append(errs, validateDeviceCapacity(p.Child("capacity").Key(shortened(name)), object.Object(capacity).At(name), d.True("allowMultipleAllocations"))...)
	}
	if old == nil || !object.SemanticEqual(old["taints"], d["taints"]) {
		errs = append(errs, validateEach(p.Child("taints"), d.Objects("taints"), maxDeviceTaints, nil, validateDeviceTaint)...)
	}
	errs = append(errs, validateEach(p.Child("consumesCounters"), d.Objects("consumesCounters"), maxConsumedSets,
		func(o object.Object) string { return o.String("counterSet") },
		func(p field.Path, set object.Object) field.ErrorList { return validateCounterSet(p, "counterSet", set) })...)
	errs = append(errs, validateDeviceNodes(p, d, ownNodes)...)
	return append(errs, validateBindingConditions(p, d)...)
}

// validateDeviceNodes checks which nodes a device is for, where the slice leaves that to its devices.
func validateDeviceNodes(p field.Path, d object.Object, ownNodes bool) field.ErrorList {
	const oneOf = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	if !ownNodes {
		if d.Has("nodeName") || d.Has("nodeSelector") || d.Has("allNodes") {
			return field.ErrorList{field.Invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")}
		}
		return nil
	}
	errs, set := validateNodeChoice(p, d, "must not be empty")
	if d.True("allNodes") {
		set = append(set, "`allNodes`")
	} else if d.Has("allNodes") {
		errs = append(errs, field.Invalid(p.Child("allNodes"), false, "must be either unset or set to true"))
	}
	return append(errs, validateOneChoice(p, set, oneOf, oneOf)...)
}

// shortened returns a key for a path, with the middle left out if it is too long.
func shortened(key string) string {
	if len(key) <= maxAttributeKeyShown {
		return key
	}
	const dots = "..."
	rest := maxAttributeKeyShown - len(dots)
	return key[:(rest+1)/2] + dots + key[len(key)-rest/2:]
}

// validateAttribute checks that an attribute has one value, of one type.
func validateAttribute(p field.Path, a object.Object) field.ErrorList {
	var errs field.ErrorList
	n := 0
	for _, kind := range []string{"bool", "int", "string", "version"} {
		if !a.Has(kind) {
			continue
		}
		n++
		text := a.String(kind)
		if kind == "version" && !isSemver(text) {
			errs = append(errs, field.Invalid(p.Child(kind), text, "must be a string compatible with semver.org spec 2.0.0"))
		}
		if len(text) > maxAttributeValue {
			errs = append(errs, field.TooLong(p.Child(kind), maxAttributeValue))
		}
	}
	switch n {
	case 0:
		errs = append(errs, field.Invalid(p, "", "exactly one value must be specified"))
	case 1:
	default:
		errs = append(errs, field.Invalid(p, gotext.Value("DeviceAttribute", a), "exactly one value must be specified"))
	}
	return errs
}

// isSemver checks a version of Semantic Versioning 2.0.0, §2, §9 and §10.
func isSemver(v string) bool {
	v, build, hasBuild := strings.Cut(v, "+")
	v, pre, hasPre := strings.Cut(v, "-")
	numbers := strings.Split(v, ".")
	ok := len(numbers) == 3
	for _, n := range numbers {
		ok = ok && isDigits(n) && (n == "0" || n[0] != '0')
	}
	if hasPre {
		for id := range strings.SplitSeq(pre, ".") {
			ok = ok && isSemverIdentifier(id) && (!isDigits(id) || id == "0" || id[0] != '0')
		}
	}
	if hasBuild {
		for id := range strings.SplitSeq(build, ".") {
			ok = ok && isSemverIdentifier(id)
		}
	}
	return ok
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isSemverIdentifier(s string) bool {
	for _, c := range s {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-') {
			return false
		}
	}
	return s != ""
}

func validateDeviceTaint(p field.Path, taint object.Object) field.ErrorList {
	errs := field.Check(p.Child("key"), taint.String("key"), field.QualifiedName)
	errs = append(errs, field.Check(p.Child("value"), taint.String("value"), field.LabelValue)...)
	return append(errs, field.MustBeSetToOneOf(p.Child("effect"), taint.String("effect"), deviceEffects...)...)
}

// validateCounterSet checks a set of counters, or what a device takes from one; field holds its name.
func validateCounterSet(p field.Path, nameField string, set object.Object) field.ErrorList {
	var errs field.ErrorList
	if name := set.String(nameField); name == "" {
		errs = append(errs, field.Required(p.Child(nameField), ""))
	} else {
		errs = append(errs, field.Check(p.Child(nameField), name, field.DNS1123Label)...)
	}
	counters, p := set.Map("counters"), p.Child("counters")
	switch {
	case len(counters) == 0:
		errs = append(errs, field.Required(p, ""))
	case len(counters) > maxCountersPerSet:
		errs = append(errs, field.TooMany(p, len(counters), maxCountersPerSet))
	default:
		for _, name := range object.SortedKeys(counters) {
			errs = append(errs, field.Check(p, name, field.DNS1123Label)...)
		}
	}
	return errs
}
