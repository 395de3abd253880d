package resource

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// requestGates returns the feature gates of the fields in claim requests. prefix is the path of the claim's spec.
func requestGates(prefix string) []kind.Gate {
	inRequests := func(field string) []string {
		return []string{prefix + "devices.requests.*.exactly." + field, prefix + "devices.requests.*.firstAvailable.*." + field}
	}
	return []kind.Gate{
		{Name: "DRAAdminAccess", Fields: []string{prefix + "devices.requests.*.exactly.adminAccess"}},
		{Name: "DRAConsumableCapacity", Fields: append(inRequests("capacity"), prefix+"devices.constraints.*.distinctAttribute")},
		{Name: "DRADerivedAttributes", Fields: inRequests("derivedAttributes")},
		{Name: "DRADeviceTaints", Fields: inRequests("tolerations")},
		{Name: "DRAPrioritizedList", Fields: []string{prefix + "devices.requests.*.firstAvailable"}},
	}
}

// statusGates returns the feature gates of the fields in a claim's status.
func statusGates() []kind.Gate {
	const result = "status.allocation.devices.results.*."
	return []kind.Gate{
		{Name: "DRAAdminAccess", Fields: []string{result + "adminAccess"}},
		{Name: "DRAConsumableCapacity", Fields: []string{result + "shareID", result + "consumedCapacity", "status.devices.*.shareID"}},
		{Name: "DRADeviceBindingConditions", Fields: []string{result + "bindingConditions", result + "bindingFailureConditions"}},
		{Name: "DRAResourceClaimDeviceStatus", Fields: []string{"status.devices"}},
	}
}

func resourceClaimKind() kind.Kind {
	return kind.Kind{
		Storage:     "resourceclaims.resource.k8s.io",
		Gates:       append(requestGates("spec."), statusGates()...),
		PlainStatus: true,
		Strategy: resource.Strategy{
			Quota:     claimQuota,
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			HasStatus: true, StatusKeeps: resource.KeptForStatus, ReturnDeletedObject: true,
			PrepareForUpdate: func(ctx *resource.Context, obj, old object.Object) {
				if ctx.Subresource == "status" {
					dropDeallocated(obj, old)
				}
			},
		},
		Validate: validateClaim, ValidateStatus: validateClaimStatus,
		Defaults: map[string]func(object.Object){
			"":        func(obj object.Object) { defaultClaim(obj, exactRequests) },
			"v1beta1": func(obj object.Object) { defaultClaim(obj, flatRequests) },
		},
		Convert: claimConversion("spec"),
		Columns: []table.Column{
			table.Name(), table.Text("State", "A summary of the current state (allocated, pending, reserved, etc.).").Cell(cellClaimState), table.Age(),
		},
	}
}

func defaultClaim(obj object.Object, requests func(object.Object) []object.Object) {
	defaultClaimSpec(obj.At("spec"), requests)
	for _, r := range obj.Objects("status", "allocation", "devices", "results") {
		defaultTolerations(r)
	}
}

// defaultClaimSpec sets the defaults of each request: the allocation mode, the number of devices, and the tolerations. requests
// returns the parts of a request that have these fields.
func defaultClaimSpec(spec object.Object, requests func(object.Object) []object.Object) {
	for _, request := range spec.Objects("devices", "requests") {
		for _, r := range requests(request) {
			kind.SetEmpty(r, "ExactCount", "allocationMode")
			if r.String("allocationMode") == "ExactCount" {
				kind.SetZero(r, 1, "count")
			}
		}
		for _, r := range append(requests(request), request) {
			defaultTolerations(r)
		}
	}
}

func exactRequests(request object.Object) []object.Object {
	all := request.Objects("firstAvailable")
	if exactly := request.At("exactly"); exactly != nil {
		all = append(all, exactly)
	}
	return all
}

func defaultTolerations(request object.Object) {
	for _, t := range request.Objects("tolerations") {
		kind.SetEmpty(t, "Equal", "operator")
	}
}

func validateClaim(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	if at.Updates() {
		declaredImmutable(ctx, spec, gotext.ResourceClaimSpec, field.TextImmutable)
		return
	}
	validateAdminAccess(ctx, at.Object().Namespace(), spec)
	validateClaimSpec(ctx, spec)
}

// adminLabel is the label of namespaces that may contain claims with admin access (KEP-5018).
const adminLabel = "resource.kubernetes.io/admin-access"

func validateAdminAccess(ctx *resource.Context, namespace string, spec field.Cursor) {
	for request := range spec.Each("devices", "requests") {
		if request.True("exactly", "adminAccess") {
			requireAdminNamespace(ctx, namespace, request.Child("adminAccess"))
			return
		}
	}
}

func requireAdminNamespace(ctx *resource.Context, namespace string, at field.Cursor) {
	ns := ctx.Objects.Get("namespaces", "", namespace)
	at.ForbidIf(ns.Labels()[adminLabel] != "true", "admin access to devices requires the `"+adminLabel+": true` label on the containing namespace")
}

func cellClaimState(obj object.Object) any {
	var states []string
	deleted, allocated := obj.DeletionTimestamp() != "", obj.Has("status", "allocation")
	if deleted {
		states = append(states, "deleted")
	}
	if !allocated && !deleted {
		states = append(states, "pending")
	}
	if allocated {
		states = append(states, "allocated")
		if len(obj.List("status", "reservedFor")) > 0 {
			states = append(states, "reserved")
		}
	}
	return strings.Join(states, ",")
}

// deviceID returns the ID of an allocated device: driver/pool/device, followed by /share if the device is shared.
func deviceID(o object.Object) string {
	id := o.String("driver") + "/" + o.String("pool") + "/" + o.String("device")
	if share := o.String("shareID"); share != "" {
		id += "/" + share
	}
	return id
}

func allocatedDevices(obj object.Object) []string {
	var ids []string
	for _, result := range obj.Objects("status", "allocation", "devices", "results") {
		ids = append(ids, deviceID(result))
	}
	return ids
}

// dropDeallocated removes the status of devices that are no longer allocated to the claim.
func dropDeallocated(obj, old object.Object) {
	before, now := allocatedDevices(old), allocatedDevices(obj)
	var kept []any
	for _, d := range obj.Objects("status", "devices") {
		if id := deviceID(d); !slices.Contains(before, id) || slices.Contains(now, id) {
			kept = append(kept, map[string]any(d))
		}
	}
	if len(kept) > 0 {
		obj.Set(kept, "status", "devices")
	} else {
		obj.Remove("status", "devices")
	}
}
