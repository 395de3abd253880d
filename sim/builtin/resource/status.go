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

const (
	maxReservedFor      = 256
	maxAllocated        = 32
	maxDeviceConditions = 8
	maxBindings         = 4
	maxDeviceIPs        = 16
	maxInterfaceName    = 256
	maxHardwareAddress  = 128
)

func validateClaimUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource != "status" {
		return immutableGo(field.Root("spec"), "ResourceClaimSpec", obj.At("spec"), old.At("spec"))
	}
	errs := append(validateAdminStatus(ctx, obj, old), authorizeClaim(ctx, obj, old)...)
	return append(errs, validateClaimStatus(obj, old)...)
}

// immutableGo checks a struct that must stay as it was in memory: an empty one inside it is not a missing one.
func immutableGo(p field.Path, typeName string, o, old object.Object) field.ErrorList {
	if gotext.Same(typeName, o, old) {
		return nil
	}
	return field.ErrorList{field.Invalid(p, gotext.Value(typeName, o), field.TextImmutable)}
}

// validateShareID checks the UUID of a share of a device (RFC 9562), in its usual form.
func validateShareID(p field.Path, o object.Object) field.ErrorList {
	if !o.Has("shareID") {
		return nil
	}
	id := o.String("shareID")
	if problem := uuidProblem(id); problem != "" {
		return field.ErrorList{field.Invalid(p.Child("shareID"), id, "error validating uid: "+problem)}
	}
	if len(id) != 36 || id != strings.ToLower(id) {
		return field.ErrorList{field.Invalid(p.Child("shareID"), id,
			"uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")}
	}
	return nil
}

// uuidProblem says what is wrong with a UUID, which may be without hyphens, in braces, or a URN.
func uuidProblem(id string) string {
	const form = "invalid UUID format"
	switch len(id) {
	case 36:
	case 45:
		if !strings.EqualFold(id[:9], "urn:uuid:") {
			return fmt.Sprintf("invalid urn prefix: %q", id[:9])
		}
		id = id[9:]
	case 38:
		if id[0] != '{' || id[37] != '}' {
			return "invalid bracketed UUID format"
		}
		id = id[1:37]
	case 32:
		id = id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
	default:
		return fmt.Sprintf("invalid UUID length: %d", len(id))
	}
	for i, c := range []byte(id) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (c == '-') || !hyphen && !strings.ContainsRune("0123456789abcdefABCDEF", rune(c)) {
			return form
		}
	}
	return ""
}

// validateAdminStatus checks that a claim which gets devices with admin access may have them.
func validateAdminStatus(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	admin := func(o object.Object) int {
		return slices.IndexFunc(o.Objects("status", "allocation", "devices", "results"), func(r object.Object) bool {
			return r.True("adminAccess")
		})
	}
	i := admin(obj)
	if i < 0 || admin(old) >= 0 {
		return nil
	}
	return requireAdminNamespace(ctx, obj.Namespace(), field.Root("status").Child("allocation", "devices", "results").Index(i).Child("adminAccess"))
}

func validateClaimStatus(obj, old object.Object) field.ErrorList {
	status, before, p := obj.At("status"), old.At("status"), field.Root("status")
	reserved := status.Objects("reservedFor")
	errs := validateEach(p.Child("reservedFor"), reserved, maxReservedFor, func(o object.Object) string { return o.String("uid") },
		func(p field.Path, ref object.Object) field.ErrorList {
			var errs field.ErrorList
			for _, name := range []string{"resource", "name", "uid"} {
				errs = append(errs, field.MustBeSet(p.Child(name), ref.String(name))...)
			}
			return errs
		})
	allocated := allocatedDevices(obj)
	reported := status.Objects("devices")
	found := validateEach(p.Child("devices"), reported, -1, deviceID,
		func(p field.Path, d object.Object) field.ErrorList { return validateDeviceStatus(p, d, allocated) })
	for _, e := range found {
		for i, d := range reported {
			if e.Type == field.TypeDuplicate && e.Field.String() == p.Child("devices").Index(i).String() {
				e.Value = gotext.Value("SharedDeviceID", d)
			}
		}
	}
	errs = append(errs, found...)
	allocation := status.At("allocation")
	switch {
	case len(reserved) > 0 && allocation == nil:
		errs = append(errs, field.Forbidden(p.Child("reservedFor"), "may not be specified when `allocated` is not set"))
	case obj.DeletionTimestamp() != "" && reservesMore(reserved, before.Objects("reservedFor")):
		errs = append(errs, field.Forbidden(p.Child("reservedFor"), "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"))
	}
	if allocation == nil {
		return errs
	}
	if before.Has("allocation") {
		return append(errs, immutableGo(p.Child("allocation"), "AllocationResult", allocation, before.At("allocation"))...)
	}
	return append(errs, validateAllocation(p.Child("allocation"), allocation, requestNames(obj.At("spec")))...)
}

// reservesMore reports whether a claim is reserved for somebody new.
func reservesMore(reserved, old []object.Object) bool {
	for _, r := range reserved {
		if !slices.ContainsFunc(old, func(o object.Object) bool { return object.SemanticEqual(map[string]any(o), map[string]any(r)) }) {
			return true
		}
	}
	return false
}

func validateDeviceStatus(p field.Path, d object.Object, allocated []string) field.ErrorList {
	errs := podspec.DriverName(field.CursorOn(p.Child("driver"), d.String("driver"))).Errors()
	errs = append(errs, validatePoolName(p.Child("pool"), d.String("pool"))...)
	errs = append(errs, field.Check(p.Child("device"), d.String("device"), field.DNS1123Label)...)
	errs = append(errs, validateShareID(p, d)...)
	if !slices.Contains(allocated, deviceID(d)) {
		errs = append(errs, field.Invalid(p, gotext.Value("SharedDeviceID", d), "must be an allocated device in the claim"))
	}
	conditions := d.Objects("conditions")
	if len(conditions) > maxDeviceConditions {
		errs = append(errs, field.TooMany(p.Child("conditions"), len(conditions), maxDeviceConditions))
	}
	errs = append(errs, kind.ValidateConditions(p.Child("conditions"), conditions)...)
	if d.Has("data") {
		errs = append(errs, validateParameters(p.Child("data"), d["data"])...)
	}
	if network := d.At("networkData"); network != nil {
		errs = append(errs, validateNetworkData(p.Child("networkData"), network)...)
	}
	return errs
}

func validateNetworkData(p field.Path, network object.Object) field.ErrorList {
	var errs field.ErrorList
	if len(network.String("interfaceName")) > maxInterfaceName {
		errs = append(errs, field.TooLong(p.Child("interfaceName"), maxInterfaceName))
	}
	if len(network.String("hardwareAddress")) > maxHardwareAddress {
		errs = append(errs, field.TooLong(p.Child("hardwareAddress"), maxHardwareAddress))
	}
	return append(errs, validateNames(p.Child("ips"), network.Strings("ips"), maxDeviceIPs, func(p field.Path, ip string) field.ErrorList {
		return field.Check(p, ip, field.InterfaceAddress)
	})...)
}

// validatePoolName checks the name of a pool of devices: subdomains joined by slashes.
func validatePoolName(p field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	if len(name) > field.DNSSubdomainMax {
		errs = append(errs, field.TooLong(p, field.DNSSubdomainMax))
	}
	for part := range strings.SplitSeq(name, "/") {
		errs = append(errs, field.Check(p, part, field.DNS1123Subdomain)...)
	}
	return errs
}

func validateAllocation(p field.Path, allocation object.Object, names []string) field.ErrorList {
	devices := p.Child("devices")
	errs := validateEach(devices.Child("results"), allocation.Objects("devices", "results"), maxAllocated, nil,
		func(p field.Path, r object.Object) field.ErrorList { return validateAllocated(p, r, names) })
	errs = append(errs, validateEach(devices.Child("config"), allocation.Objects("devices", "config"), 2*maxDeviceConfigs, nil,
		func(p field.Path, c object.Object) field.ErrorList {
			errs := field.MustBeSetToOneOf(p.Child("source"), c.String("source"), "FromClaim", "FromClass")
			return append(errs, validateClaimConfig(p, c, names)...)
		})...)
	if s := allocation.At("nodeSelector"); s != nil {
		errs = append(errs, podspec.NodeSelector(field.CursorOn(p.Child("nodeSelector"), s), false).Errors()...)
	}
	return errs
}

func validateAllocated(p field.Path, r object.Object, names []string) field.ErrorList {
	errs := validateRequestRef(p.Child("request"), r.String("request"), names)
	errs = append(errs, podspec.DriverName(field.CursorOn(p.Child("driver"), r.String("driver"))).Errors()...)
	errs = append(errs, validatePoolName(p.Child("pool"), r.String("pool"))...)
	errs = append(errs, field.Check(p.Child("device"), r.String("device"), field.DNS1123Label)...)
	errs = append(errs, validateBindingConditions(p, r)...)
	return append(errs, validateShareID(p, r)...)
}

// validateBindingConditions checks the conditions a device must have before a pod is bound (KEP-5007).
func validateBindingConditions(p field.Path, device object.Object) field.ErrorList {
	var errs field.ErrorList
	lists := []string{"bindingConditions", "bindingFailureConditions"}
	wanted, failed := device.Strings(lists[0]), device.Strings(lists[1])
	for _, name := range lists {
		list := device.Strings(name)
		if len(list) > maxBindings {
			errs = append(errs, field.TooMany(p.Child(name), len(list), maxBindings))
			continue
		}
		for i, condition := range list {
			errs = append(errs, field.Check(p.Child(name).Index(i), condition, field.QualifiedName)...)
		}
	}
	for i, condition := range wanted {
		if slices.Contains(wanted[:i], condition) {
			errs = append(errs, field.Duplicate(p.Child(lists[0]).Index(i), condition))
		}
	}
	for i, condition := range failed {
		at := p.Child(lists[1]).Index(i)
		if slices.Contains(failed[:i], condition) {
			errs = append(errs, field.Duplicate(at, condition))
		}
		if slices.Contains(wanted, condition) {
			errs = append(errs, field.Invalid(at, condition, "bindingFailureConditions must not overlap with bindingConditions"))
		}
	}
	if len(wanted) == 0 && len(failed) > 0 {
		errs = append(errs, field.Invalid(p.Child(lists[0]), device.List(lists[0]), "bindingConditions are required to use bindingFailureConditions"))
	}
	if len(failed) == 0 && len(wanted) > 0 {
		errs = append(errs, field.Invalid(p.Child(lists[1]), device.List(lists[1]), "bindingFailureConditions are required to use bindingConditions"))
	}
	return errs
}
