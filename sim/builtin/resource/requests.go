package resource

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits of claims for devices (KEP-4381).
const (
	maxDeviceRequests    = 32
	maxFirstAvailable    = 8
	maxDeviceSelectors   = 32
	maxDeviceConstraints = 32
	maxDeviceConfigs     = 32
	maxSelectorSize      = 10 << 10
	maxParametersSize    = 10 << 10
	maxAttributeName     = 32
)

// requestNames are the names by which a claim's requests can be referred to: request and request/subrequest. Of requests
// with the same name the last one counts.
func requestNames(spec object.Object) []string {
	var names []string
	for _, r := range spec.Objects("devices", "requests") {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, r.String("name")+"/") })
		names = append(names, r.String("name"))
		for _, sub := range r.Objects("firstAvailable") {
			names = append(names, r.String("name")+"/"+sub.String("name"))
		}
	}
	return names
}

// validateClaimSpec checks the spec of a claim, or of a template for claims.
func validateClaimSpec(ctx *resource.Context, spec field.Cursor) {
	at, names := spec.Child("devices"), requestNames(spec.Object())
	requests := at.Child("requests").MaxItems(maxDeviceRequests)
	for request := range requests.Each() {
		validateDeviceRequest(ctx, request)
	}
	requests.UniqueItems("name")
	for constraint := range at.Child("constraints").MaxItems(maxDeviceConstraints).Each() {
		validateDeviceConstraint(ctx, constraint, names)
	}
	for config := range at.Child("config").MaxItems(maxDeviceConfigs).Each() {
		validateRequestRefs(config.Child("requests"), names)
		validateDeviceConfig(config)
	}
}

func validateDeviceRequest(ctx *resource.Context, at field.Cursor) {
	at.Child("name").OrEmpty().Check(field.DNS1123Label)
	exactly, first := at.Child("exactly"), at.Child("firstAvailable")
	switch {
	case !exactly.Has() && first.Len() == 0:
		at.Missing("exactly one of `exactly` or `firstAvailable` is required")
	case exactly.Has() && first.Len() > 0:
		at.Invalid(nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set")
	case exactly.Has():
		validateExactRequest(ctx, exactly)
	default:
		first = first.MaxItems(maxFirstAvailable)
		for sub := range first.Each() {
			sub.Child("name").OrEmpty().Check(field.DNS1123Label)
			validateExactRequest(ctx, sub)
		}
		first.UniqueItems("name")
	}
}

// validateExactRequest checks what a request and an alternative of a request have in common.
func validateExactRequest(ctx *resource.Context, at field.Cursor) {
	at.Child("deviceClassName").Required().Check(field.DNS1123Subdomain)
	validateDeviceSelectors(ctx, at.Child("selectors"))
	mode, count := at.Child("allocationMode"), at.Child("count").OrZero()
	switch mode.String() {
	case "All":
		count.InvalidIf(count.Int64() != 0, "must not be specified when allocationMode is 'All'")
	case "ExactCount":
		count.Positive()
	default:
		mode.NotSupported(mode.String(), "All", "ExactCount")
	}
	for toleration := range at.Each("tolerations") {
		validateDeviceToleration(toleration)
	}
}

// validateDeviceSelectors checks that there are expressions, and each of them.
func validateDeviceSelectors(ctx *resource.Context, at field.Cursor) {
	for s := range at.MaxItems(maxDeviceSelectors).Each() {
		if s.Child("cel").RequireIf(!s.Has("cel"), "").Has() {
			validateDeviceSelector(ctx, s.Child("cel", "expression"))
		}
	}
}

// validateDeviceSelector compiles an expression about a device.
func validateDeviceSelector(ctx *resource.Context, at field.Cursor) {
	expression := at.String()
	if len(expression) > maxSelectorSize {
		at.TooLong(maxSelectorSize)
		return
	}
	problem, complex := cel.CheckDeviceSelector(cel.Environment{Minor: ctx.Server.Minor, Stored: at.Updates() && !at.Changed()}, expression)
	switch {
	case problem != "":
		at.Invalid(expression, problem)
	case complex:
		at.Forbidden("too complex, exceeds cost limit")
	}
}

func validateDeviceConstraint(ctx *resource.Context, at field.Cursor, names []string) {
	validateRequestRefs(at.Child("requests"), names)
	for _, name := range []string{"matchAttribute", "distinctAttribute"} {
		if attribute := at.Child(name); attribute.Has() {
			validateAttributeName(attribute)
			attribute.InvalidIf(!strings.Contains(attribute.String(), "/"), "a fully qualified name must be a domain and a name separated by a slash")
			return
		}
	}
	if !ctx.Enabled("DRAConsumableCapacity") { // which brought distinctAttribute
		at.Child("matchAttribute").Missing("")
		return
	}
	at.Missing(`exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
}

func validateRequestRefs(at field.Cursor, names []string) {
	at = at.MaxItems(maxDeviceRequests)
	for ref := range at.Each() {
		validateRequestRef(ref, names)
	}
	at.UniqueItems()
}

func validateRequestRef(at field.Cursor, names []string) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	ref := at.String()
	if strings.Count(ref, "/") > 1 {
		at.Invalid(ref, detail)
		return
	}
	for part := range strings.SplitSeq(ref, "/") {
		at.With(part).Check(field.DNS1123Label)
	}
	at.InvalidIf(!slices.Contains(names, ref), detail)
}

// validateDeviceConfig checks the parameters for a driver.
func validateDeviceConfig(at field.Cursor) {
	opaque := at.Child("opaque")
	if opaque.RequireIf(!opaque.Has(), "").Has() {
		podspec.DriverName(opaque.Child("driver"))
		validateParameters(opaque.Child("parameters"))
	}
}

// validateParameters checks a JSON object that only its owner understands.
func validateParameters(at field.Cursor) {
	size := 0
	switch v := at.Value().(type) {
	case nil:
		at.Missing("")
		return
	case object.Raw:
		size = len(v)
	default:
		size = len(object.JSON(v))
	}
	if size > maxParametersSize {
		at.TooLong(maxParametersSize)
	} else if !kind.IsObject(at.Value()) {
		at.Invalid("<value omitted>", "must be a valid JSON object")
	}
}

func validateDeviceToleration(at field.Cursor) {
	at.Child("key").IfGiven().Check(field.QualifiedName)
	operator, value := at.Child("operator"), at.Child("value").OrEmpty()
	switch operator.String() {
	case "Exists":
		value.InvalidIf(value.String() != "", "must be empty for operator `Exists`")
	case "Equal":
		value.Check(field.LabelValue)
	default:
		operator.Required().OneOf("Equal", "Exists")
	}
	at.Child("effect").IfGiven().OneOf(deviceEffects...)
}

// deviceEffects are the effects of a device taint, in order.
var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

// validateAttributeName checks the name of an attribute or a capacity: a C identifier, which may have a domain in front.
func validateAttributeName(at field.Cursor) {
	domain, id, qualified := strings.Cut(at.String(), "/")
	if !qualified {
		id = domain
	}
	if strings.Contains(id, "/") {
		return
	}
	if qualified && domain == "" {
		at.Invalid("", "the domain must not be empty")
	} else if qualified {
		podspec.DriverName(at.With(domain))
	}
	if qualified && id == "" {
		at.Invalid("", "the name must not be empty")
		return
	}
	at.With(id).MaxBytes(maxAttributeName).Check(field.CIdentifier)
}
