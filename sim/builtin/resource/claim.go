package resource

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
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
	maxDriverName        = 63
	maxAttributeName     = 32
)

// adminLabel lets a namespace have claims with admin access (KEP-5018).
const adminLabel = "resource.kubernetes.io/admin-access"

func validateAdminAccess(ctx *resource.Context, namespace string, spec object.Object) field.ErrorList {
	for i, request := range spec.Objects("devices", "requests") {
		if request.True("exactly", "adminAccess") {
			return requireAdminNamespace(ctx, namespace, field.Root("spec").Child("devices", "requests").Index(i).Child("adminAccess"))
		}
	}
	return nil
}

func requireAdminNamespace(ctx *resource.Context, namespace string, p field.Path) field.ErrorList {
	if ns := ctx.Objects.Get("namespaces", "", namespace); ns != nil && ns.Labels()[adminLabel] == "true" {
		return nil
	}
	return field.ErrorList{field.Forbidden(p, "admin access to devices requires the `"+adminLabel+": true` label on the containing namespace")}
}

// validateEach checks a list of at most limit objects (-1: any number), and that none repeats another's key.
func validateEach(p field.Path, list []object.Object, limit int, key func(object.Object) string,
	check func(field.Path, object.Object) field.ErrorList) field.ErrorList {
	if limit >= 0 && len(list) > limit {
		return field.ErrorList{field.TooMany(p, len(list), limit)}
	}
	var errs field.ErrorList
	for i, o := range list {
		errs = append(errs, check(p.Index(i), o)...)
	}
	if key == nil {
		return errs
	}
	var keys []string
	for i, o := range list {
		k := key(o)
		if slices.Contains(keys, k) {
			errs = append(errs, field.Duplicate(p.Index(i), k))
		}
		keys = append(keys, k)
	}
	return errs
}

// validateNames is validateEach for strings.
func validateNames(p field.Path, names []string, limit int, check func(field.Path, string) field.ErrorList) field.ErrorList {
	if len(names) > limit {
		return field.ErrorList{field.TooMany(p, len(names), limit)}
	}
	var errs field.ErrorList
	for i, name := range names {
		errs = append(errs, check(p.Index(i), name)...)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			errs = append(errs, field.Duplicate(p.Index(i), name))
		}
	}
	return errs
}

func nameOf(o object.Object) string { return o.String("name") }

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

// validateClaimSpec checks the spec of a claim at p.
func validateClaimSpec(ctx *resource.Context, p field.Path, spec object.Object) field.ErrorList {
	p = p.Child("devices")
	names := requestNames(spec)
	errs := validateEach(p.Child("requests"), spec.Objects("devices", "requests"), maxDeviceRequests, nameOf, validateDeviceRequest)
	errs = append(errs, validateEach(p.Child("constraints"), spec.Objects("devices", "constraints"), maxDeviceConstraints, nil,
		func(p field.Path, c object.Object) field.ErrorList { return validateDeviceConstraint(ctx, p, c, names) })...)
	return append(errs, validateEach(p.Child("config"), spec.Objects("devices", "config"), maxDeviceConfigs, nil,
		func(p field.Path, c object.Object) field.ErrorList { return validateClaimConfig(p, c, names) })...)
}

func validateDeviceRequest(p field.Path, request object.Object) field.ErrorList {
	errs := field.Check(p.Child("name"), request.String("name"), field.DNS1123Label)
	exactly, first := request.At("exactly"), request.Objects("firstAvailable")
	switch {
	case exactly == nil && len(first) == 0:
		errs = append(errs, field.Required(p, "exactly one of `exactly` or `firstAvailable` is required"))
	case exactly != nil && len(first) > 0:
		errs = append(errs, field.Invalid(p, nil, "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set"))
	case exactly != nil:
		errs = append(errs, validateExactRequest(p.Child("exactly"), exactly)...)
	default:
		errs = append(errs, validateEach(p.Child("firstAvailable"), first, maxFirstAvailable, nameOf,
			func(p field.Path, sub object.Object) field.ErrorList {
				return append(field.Check(p.Child("name"), sub.String("name"), field.DNS1123Label), validateExactRequest(p, sub)...)
			})...)
	}
	return errs
}

// validateExactRequest checks what a request and an alternative of a request have in common.
func validateExactRequest(p field.Path, request object.Object) field.ErrorList {
	errs := validateDeviceClassName(p.Child("deviceClassName"), request.String("deviceClassName"))
	errs = append(errs, validateDeviceSelectors(p.Child("selectors"), request)...)
	mode, count := request.String("allocationMode"), request.Int64("count")
	switch mode {
	case "All":
		if count != 0 {
			errs = append(errs, field.Invalid(p.Child("count"), count, "must not be specified when allocationMode is 'All'"))
		}
	case "ExactCount":
		errs = append(errs, field.Positive(count, p.Child("count"))...)
	default:
		errs = append(errs, field.NotSupported(p.Child("allocationMode"), mode, "All", "ExactCount"))
	}
	for i, toleration := range request.Objects("tolerations") {
		errs = append(errs, validateDeviceToleration(p.Child("tolerations").Index(i), toleration)...)
	}
	return errs
}

func validateDeviceClassName(p field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return field.Check(p, name, field.DNS1123Subdomain)
}

// validateDeviceSelectors checks that there are expressions, and each of them.
func validateDeviceSelectors(p field.Path, o object.Object) field.ErrorList {
	return validateEach(p, o.Objects("selectors"), maxDeviceSelectors, nil, func(p field.Path, s object.Object) field.ErrorList {
		o := s.At("cel")
		if o == nil {
			return field.ErrorList{field.Required(p.Child("cel"), "")}
		}
		return validateDeviceSelector(p.Child("cel", "expression"), o.String("expression"))
	})
}

// validateDeviceSelector compiles an expression about a device.
func validateDeviceSelector(p field.Path, expression string) field.ErrorList {
	if len(expression) > maxSelectorSize {
		return field.ErrorList{field.TooLong(p, maxSelectorSize)}
	}
	problem, complex := cel.CheckDeviceSelector(expression)
	switch {
	case problem != "":
		return field.ErrorList{field.Invalid(p, expression, problem)}
	case complex:
		return field.ErrorList{field.Forbidden(p, "too complex, exceeds cost limit")}
	}
	return nil
}

func validateDeviceConstraint(ctx *resource.Context, p field.Path, c object.Object, names []string) field.ErrorList {
	errs := validateRequestRefs(p.Child("requests"), c.Strings("requests"), names)
	for _, name := range []string{"matchAttribute", "distinctAttribute"} {
		if c.Has(name) {
			return append(errs, validateAttributeRef(p.Child(name), c.String(name))...)
		}
	}
	if !ctx.Enabled("DRAConsumableCapacity") { // which brought distinctAttribute
		return append(errs, field.Required(p.Child("matchAttribute"), ""))
	}
	return append(errs, field.Required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`))
}

func validateClaimConfig(p field.Path, c object.Object, names []string) field.ErrorList {
	return append(validateRequestRefs(p.Child("requests"), c.Strings("requests"), names), validateDeviceConfig(p, c)...)
}

func validateRequestRefs(p field.Path, refs, names []string) field.ErrorList {
	return validateNames(p, refs, maxDeviceRequests, func(p field.Path, ref string) field.ErrorList {
		return validateRequestRef(p, ref, names)
	})
}

func validateRequestRef(p field.Path, ref string, names []string) field.ErrorList {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	if strings.Count(ref, "/") > 1 {
		return field.ErrorList{field.Invalid(p, ref, detail)}
	}
	var errs field.ErrorList
	for part := range strings.SplitSeq(ref, "/") {
		errs = append(errs, field.Check(p, part, field.DNS1123Label)...)
	}
	if !slices.Contains(names, ref) {
		errs = append(errs, field.Invalid(p, ref, detail))
	}
	return errs
}

// validateDeviceConfig checks the parameters for a driver.
func validateDeviceConfig(p field.Path, c object.Object) field.ErrorList {
	opaque, p := c.At("opaque"), p.Child("opaque")
	if opaque == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	errs := podspec.DriverName(field.CursorOn(p.Child("driver"), opaque.String("driver"))).Errors()
	return append(errs, validateParameters(p.Child("parameters"), opaque["parameters"])...)
}

// validateParameters checks a JSON object that only its owner understands.
func validateParameters(p field.Path, v any) field.ErrorList {
	if v == nil {
		return field.ErrorList{field.Required(p, "")}
	}
	size := len(object.JSON(v))
	if raw, ok := v.(object.Raw); ok {
		size = len(raw)
	}
	if size > maxParametersSize {
		return field.ErrorList{field.TooLong(p, maxParametersSize)}
	}
	if !kind.IsObject(v) {
		return field.ErrorList{field.Invalid(p, "<value omitted>", "must be a valid JSON object")}
	}
	return nil
}

func validateDeviceToleration(p field.Path, t object.Object) field.ErrorList {
	var errs field.ErrorList
	if key := t.String("key"); key != "" {
		errs = append(errs, field.Check(p.Child("key"), key, field.QualifiedName)...)
	}
	value := t.String("value")
	switch operator := t.String("operator"); operator {
	case "Exists":
		if value != "" {
			errs = append(errs, field.Invalid(p.Child("value"), value, "must be empty for operator `Exists`"))
		}
	case "Equal":
		errs = append(errs, field.Check(p.Child("value"), value, field.LabelValue)...)
	default:
		errs = append(errs, field.MustBeSetToOneOf(p.Child("operator"), operator, "Equal", "Exists")...)
	}
	if effect := t.String("effect"); effect != "" {
		errs = append(errs, field.MustBeOneOf(p.Child("effect"), effect, deviceEffects...)...)
	}
	return errs
}

// deviceEffects are the effects of a device taint, in order.
var deviceEffects = []string{"NoExecute", "NoSchedule", "None"}

// validateAttributeRef checks the full name of an attribute: a domain and a C identifier.
func validateAttributeRef(p field.Path, name string) field.ErrorList {
	errs := validateAttributeName(p, name)
	if !strings.Contains(name, "/") {
		errs = append(errs, field.Invalid(p, name, "a fully qualified name must be a domain and a name separated by a slash"))
	}
	return errs
}

func validateAttributeName(p field.Path, name string) field.ErrorList {
	var errs field.ErrorList
	parts := strings.Split(name, "/")
	if len(parts) > 2 {
		return nil
	}
	if len(parts) == 2 {
		if parts[0] == "" {
			errs = append(errs, field.Invalid(p, "", "the domain must not be empty"))
		} else {
			errs = append(errs, podspec.DriverName(field.CursorOn(p, parts[0])).Errors()...)
		}
		if parts[1] == "" {
			return append(errs, field.Invalid(p, "", "the name must not be empty"))
		}
	}
	id := parts[len(parts)-1]
	if len(id) > maxAttributeName {
		errs = append(errs, field.TooLong(p, maxAttributeName))
	}
	return append(errs, field.Check(p, id, field.CIdentifier)...)
}

func validateClaimTemplate(ctx *resource.Context, obj object.Object) field.ErrorList {
	p, meta := field.Root("spec").Child("metadata"), obj.At("spec", "metadata")
	errs := podspec.CheckAnnotations(field.CursorOn(p.Child("annotations"), meta.Map("annotations"))).Errors()
	errs = append(errs, field.CheckLabels(p.Child("labels"), object.StringMap(meta.Map("labels")))...)
	errs = append(errs, gotext.OnlyLabelsAndAnnotations(p, meta)...)
	return append(errs, validateClaimSpec(ctx, field.Root("spec").Child("spec"), obj.At("spec", "spec"))...)
}

func validateDeviceClass(obj object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	errs := validateDeviceSelectors(p.Child("selectors"), spec)
	errs = append(errs, validateEach(p.Child("config"), spec.Objects("config"), maxDeviceConfigs, nil, validateDeviceConfig)...)
	if name := spec.String("extendedResourceName"); spec.Has("extendedResourceName") && !podspec.IsExtendedResource(name) {
		errs = append(errs, field.Invalid(p.Child("extendedResourceName"), name, "must be a valid extended resource name"))
	}
	return errs
}
