package resource

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/cel"
	"github.com/kubesim/kubesim/sim/cel/expr"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits of ResourceClaims (KEP-4381).
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

// requestNames returns the names of a claim's requests, in the forms request and request/subrequest. If several requests have
// the same name, it omits the subrequests of all but the last one. Names with a slash cannot be referred to, so it omits them.
func requestNames(spec object.Object) []string {
	var names []string
	for _, r := range spec.Objects("devices", "requests") {
		names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, r.String("name")+"/") })
		if strings.Contains(r.String("name"), "/") {
			continue
		}
		names = append(names, r.String("name"))
		for _, sub := range r.Objects("firstAvailable") {
			names = append(names, r.String("name")+"/"+sub.String("name"))
		}
	}
	return names
}

// validateClaimSpec checks the spec of a claim or of a claim template.
func validateClaimSpec(ctx *resource.Context, spec field.Cursor) {
	at, names := spec.Child("devices"), requestNames(spec.Object())
	requests := atMost(ctx, at.Child("requests"), maxDeviceRequests)
	for request := range requests.Each() {
		validateDeviceRequest(ctx, request)
	}
	uniqueBy(ctx, requests, "name")
	for constraint := range atMost(ctx, at.Child("constraints"), maxDeviceConstraints).Each() {
		validateDeviceConstraint(ctx, constraint, names)
	}
	for config := range atMost(ctx, at.Child("config"), maxDeviceConfigs).Each() {
		validateRequestRefs(ctx, config.Child("requests"), names)
		validateDeviceConfig(ctx, config)
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
		at.OnlyDeclared(func() {
			validateExactRequest(ctx, exactly, false)
			validateAlternatives(ctx, first)
		})
	case exactly.Has():
		validateExactRequest(ctx, exactly, false)
	default:
		validateAlternatives(ctx, first)
	}
}

// validateAlternatives checks a prioritised list.
func validateAlternatives(ctx *resource.Context, first field.Cursor) {
	first = atMost(ctx, first, maxFirstAvailable)
	for sub := range first.Each() {
		sub.Child("name").OrEmpty().Check(field.DNS1123Label)
		validateExactRequest(ctx, sub, true)
	}
	uniqueBy(ctx, first, "name")
}

// validateExactRequest checks the rules that requests and their alternatives share. Since 1.37 the type of an alternative
// declares that the class is required.
func validateExactRequest(ctx *resource.Context, at field.Cursor, alternative bool) {
	at.Child("deviceClassName").Declared(alternative && ctx.Since(37), func(c field.Cursor) field.Cursor {
		return c.Required().Check(field.DNS1123Subdomain)
	})
	validateDeviceSelectors(ctx, at.Child("selectors"))
	mode, count := at.Child("allocationMode"), at.Child("count").OrZero()
	switch mode.String() {
	case "All":
		count.InvalidIf(count.Int64() != 0, "must not be specified when allocationMode is 'All'")
	case "ExactCount":
		count.Positive()
	default:
		declared(ctx, mode, func(c field.Cursor) field.Cursor { return c.NotSupported(c.String(), "All", "ExactCount") })
	}
	for toleration := range at.Each("tolerations") {
		validateDeviceToleration(ctx, toleration)
	}
}

// validateDeviceSelectors checks the number of selectors and the expression of each.
func validateDeviceSelectors(ctx *resource.Context, at field.Cursor) {
	for s := range atMost(ctx, at, maxDeviceSelectors).Each() {
		if s.Child("cel").RequireIf(!s.Has("cel"), "").Has() {
			validateDeviceSelector(ctx, s.Child("cel", "expression"))
		}
	}
}

// validateDeviceSelector compiles a CEL expression that selects devices.
func validateDeviceSelector(ctx *resource.Context, at field.Cursor) {
	expression := at.String()
	if len(expression) > maxSelectorSize {
		at.TooLong(maxSelectorSize)
		return
	}
	problem, complex := cel.CheckDeviceSelector(expr.Environment{Minor: ctx.Server.Minor, Stored: at.Updates() && !at.Changed()}, expression)
	switch {
	case problem != nil && problem.Internal:
		at.Internal(problem)
	case problem != nil:
		at.Invalid(expression, problem.Text)
	case complex:
		at.Forbidden("too complex, exceeds cost limit")
	}
}

func validateDeviceConstraint(ctx *resource.Context, at field.Cursor, names []string) {
	validateRequestRefs(ctx, at.Child("requests"), names)
	given := 0
	for _, name := range []string{"matchAttribute", "distinctAttribute"} {
		attribute := at.Child(name)
		if !attribute.Has() {
			continue
		}
		if given++; given > 1 && !ctx.Since(37) { // only the declarative rule also checks the second attribute
			return
		}
		declared(ctx, attribute, func(c field.Cursor) field.Cursor {
			validateAttributeName(c, attributeRule(ctx))
			return c.InvalidIf(!strings.Contains(c.String(), "/"), "a fully qualified name must be a domain and a name separated by a slash")
		})
	}
	if given > 0 {
		return
	}
	if !ctx.Enabled("DRAConsumableCapacity") { // without the gate that added distinctAttribute
		at.Child("matchAttribute").Missing("")
		return
	}
	at.Missing(`exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
}

func validateRequestRefs(ctx *resource.Context, at field.Cursor, names []string) {
	at = atMost(ctx, at, maxDeviceRequests)
	for ref := range at.Each() {
		validateRequestRef(ref, names)
	}
	uniqueBy(ctx, at)
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

// validateDeviceConfig checks the configuration for a driver.
func validateDeviceConfig(ctx *resource.Context, at field.Cursor) {
	opaque := at.Child("opaque")
	if opaque.RequireIf(!opaque.Has(), "").Has() {
		driverName(ctx, opaque.Child("driver"))
		validateParameters(opaque.Child("parameters"))
	}
}

// validateParameters checks that the parameters for a driver are a JSON object.
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

func validateDeviceToleration(ctx *resource.Context, at field.Cursor) {
	declared(ctx, at.Child("key").IfGiven(), func(c field.Cursor) field.Cursor { return c.Check(field.QualifiedName) })
	operator, value := at.Child("operator"), at.Child("value").OrEmpty()
	switch operator.String() {
	case "Exists":
		value.InvalidIf(value.String() != "", "must be empty for operator `Exists`")
	case "Equal":
		value.Check(field.LabelValue)
	default:
		declared(ctx, operator, func(c field.Cursor) field.Cursor { return c.Required().OneOf("Equal", "Exists") })
	}
	declared(ctx, at.Child("effect").IfGiven(), func(c field.Cursor) field.Cursor { return c.OneOf(deviceEffects...) })
}

// deviceEffects are the effects of a device taint, sorted.
var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

// nameRule contains the rules for the name of an attribute or a capacity: the rule for its optional domain, and the
// errors for an empty domain or name.
type nameRule struct {
	domain           func(field.Cursor) field.Cursor
	noDomain, noName string
}

// byDriver is the handwritten rule: the domain must be a driver name.
var byDriver = nameRule{podspec.DriverName, "the domain must not be empty", "the name must not be empty"}

// byTag is the declarative rule of 1.37 (validate.ResourceFullyQualifiedName): the domain must be a prefix without
// upper-case letters.
var byTag = nameRule{prefix, "prefix must not be empty", "name must not be empty"}

func prefix(at field.Cursor) field.Cursor {
	return at.MaxBytes(podspec.DriverNameMax).Check(func(domain string) []string {
		msgs := field.DNS1123Subdomain(domain)
		for i := range msgs {
			msgs[i] = "prefix: " + msgs[i]
		}
		return msgs
	})
}

// attributeRule returns the rule for the name of an attribute in a constraint.
func attributeRule(ctx *resource.Context) nameRule {
	if ctx.Since(37) {
		return byTag
	}
	return byDriver
}

// validateAttributeName checks the name of an attribute or a capacity: a C identifier with an optional domain.
func validateAttributeName(at field.Cursor, rule nameRule) {
	domain, id, qualified := strings.Cut(at.String(), "/")
	if !qualified {
		id = domain
	}
	if strings.Contains(id, "/") {
		return
	}
	if qualified && domain == "" {
		at.Invalid("", rule.noDomain)
	} else if qualified {
		rule.domain(at.With(domain))
	}
	if qualified && id == "" {
		at.Invalid("", rule.noName)
		return
	}
	at.With(id).MaxBytes(maxAttributeName).Check(field.CIdentifier)
}
