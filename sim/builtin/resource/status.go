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
	maxDeviceIPs        = 16
	maxInterfaceName    = 256
	maxHardwareAddress  = 128
)

// validateClaimStatus checks the status of a claim: its allocation, its consumers, and the device status that drivers publish.
func validateClaimStatus(ctx *resource.Context, all field.Cursor) {
	at, obj := all.Child("status"), all.Object()
	reserved, devices, allocation := at.Child("reservedFor"), at.Child("devices"), at.Child("allocation")
	validateAdminStatus(ctx, obj.Namespace(), at)
	authorizeClaim(ctx, at)
	entries := atMost(ctx, reserved, maxReservedFor)
	for ref := range entries.Each() {
		ref.Require("resource", "name", "uid")
	}
	uniqueBy(ctx, entries, "uid")
	allocated, seen := allocatedDevices(obj), field.Seen{}
	for d := range devices.Each() {
		validateDeviceStatus(ctx, d, allocated)
	}
	for d := range devices.Each() {
		if seen.Again(deviceID(d.Object())) {
			declared(ctx, d, func(c field.Cursor) field.Cursor {
				if ctx.Since(37) {
					return c.Duplicate(c.Value())
				}
				return c.Duplicate(gotext.Value(gotext.SharedDeviceID, c.Object()))
			})
		}
	}
	switch {
	case reserved.Len() > 0 && !allocation.Has():
		reserved.Forbidden("may not be specified when `allocated` is not set")
	case obj.DeletionTimestamp() != "" && reservesMore(at.Object().Objects("reservedFor"), at.Old().Objects("reservedFor")):
		reserved.Forbidden("new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
	}
	switch {
	case !allocation.Has():
	case allocation.Old() != nil:
		declaredImmutable(ctx, allocation, gotext.AllocationResult, "field cannot be modified once set")
	default:
		validateAllocation(ctx, allocation, requestNames(obj.At("spec")))
	}
}

// validateAdminStatus checks a new allocation of devices with admin access. The namespace must allow admin access.
func validateAdminStatus(ctx *resource.Context, namespace string, at field.Cursor) {
	if slices.ContainsFunc(at.Old().Objects("allocation", "devices", "results"), func(r object.Object) bool { return r.True("adminAccess") }) {
		return
	}
	for result := range at.Each("allocation", "devices", "results") {
		if result.True("adminAccess") {
			requireAdminNamespace(ctx, namespace, result.Child("adminAccess"))
			return
		}
	}
}

// reservesMore reports whether an update adds a consumer to a claim.
func reservesMore(reserved, old []object.Object) bool {
	return slices.ContainsFunc(reserved, func(r object.Object) bool {
		return !slices.ContainsFunc(old, func(o object.Object) bool { return object.SemanticEqual(map[string]any(o), map[string]any(r)) })
	})
}

func validateDeviceStatus(ctx *resource.Context, at field.Cursor, allocated []string) {
	podspec.DriverName(at.Child("driver"))
	validatePoolName(at.Child("pool"))
	at.Child("device").OrEmpty().Check(field.DNS1123Label)
	validateShareID(ctx, at.Child("shareID"))
	kind.InvalidStructIf(at, !slices.Contains(allocated, deviceID(at.Object())), gotext.SharedDeviceID,
		"must be an allocated device in the claim")
	at.Child("conditions").MaxItems(maxDeviceConditions)
	kind.CheckConditions(ctx, at.Child("conditions"))
	if at.Has("data") {
		validateParameters(at.Child("data"))
	}
	network := at.Child("networkData")
	declared(ctx, network.Child("interfaceName"), func(c field.Cursor) field.Cursor { return c.MaxBytes(maxInterfaceName) })
	declared(ctx, network.Child("hardwareAddress"), func(c field.Cursor) field.Cursor { return c.MaxBytes(maxHardwareAddress) })
	ips := atMost(ctx, network.Child("ips"), maxDeviceIPs)
	uniqueBy(ctx, ips.CheckEach(field.InterfaceAddress))
}

func validateAllocation(ctx *resource.Context, at field.Cursor, names []string) {
	for r := range atMost(ctx, at.Child("devices", "results"), maxAllocated).Each() {
		validateRequestRef(r.Child("request").OrEmpty(), names)
		driverName(ctx, r.Child("driver"))
		declared(ctx, r.Child("pool"), poolRule(ctx))
		r.Child("device").OrEmpty().Check(field.DNS1123Label)
		validateBindingConditions(ctx, r)
		validateShareID(ctx, r.Child("shareID"))
	}
	for config := range atMost(ctx, at.Child("devices", "config"), 2*maxDeviceConfigs).Each() {
		declared(ctx, config.Child("source"), func(c field.Cursor) field.Cursor { return c.Required().OneOf("FromClaim", "FromClass") })
		validateRequestRefs(ctx, config.Child("requests"), names)
		validateDeviceConfig(ctx, config)
	}
	if s := at.Child("nodeSelector"); s.Has() {
		podspec.NodeSelector(s, false)
	}
}

// declaredImmutable checks that an update does not change a struct. Since 1.37, a tag on the type declares this rule, and the error
// message differs.
func declaredImmutable(ctx *resource.Context, at field.Cursor, t gotext.Type, text string) {
	if !ctx.Since(37) {
		kind.ImmutableStruct(at, t)
	} else if at.Updates() && !gotext.Same(t, at.Object(), at.Old()) {
		at.Declared(true, func(c field.Cursor) field.Cursor { return c.Invalid(nil, text) })
	}
}

// validateShareID checks the UUID of a device share (RFC 9562), which must be in canonical form.
func validateShareID(ctx *resource.Context, at field.Cursor) {
	id := at.String()
	problem, usual := uuidProblem(id), len(id) == 36 && id == strings.ToLower(id)
	switch {
	case !at.Has() || problem == "" && usual:
	case ctx.Since(37):
		declared(ctx, at, func(c field.Cursor) field.Cursor {
			return c.Invalid(id, "must be a lowercase UUID in 8-4-4-4-12 format")
		})
	case problem != "":
		at.Invalid(id, "error validating uid: "+problem)
	default:
		at.Invalid(id, "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters")
	}
}

// uuidProblem returns a description of the error in a UUID, or "" if it is valid. The UUID may lack hyphens, be in braces, or be a
// URN.
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
