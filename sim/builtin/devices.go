package builtin

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// docDevices is the definition name in front of the types of resource.k8s.io/v1.
const docDevices = "io.k8s.api.resource.v1."

func deviceKinds() []kind {
	return []kind{resourceClaimKind(), resourceClaimTemplateKind(), resourceSliceKind(), deviceClassKind()}
}

// inRequests returns the path of a field of the device requests of a claim, and of a field of its constraints.
func inRequests(prefix, field, constraint string) []string {
	paths := []string{prefix + "devices.requests.*.exactly." + field, prefix + "devices.requests.*.firstAvailable.*." + field}
	if constraint != "" {
		paths = append(paths, prefix+"devices.constraints.*."+constraint)
	}
	return paths
}

func resourceClaimKind() kind {
	return kind{
		storage: "resourceclaims.resource.k8s.io",
		gates: []gate{
			{name: "DRAConsumableCapacity", fields: inRequests("spec.", "capacity", "distinctAttribute")},
			{name: "DRADeviceTaints", fields: inRequests("spec.", "tolerations", "")},
		},
		plainStatus: true,
		strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true, ReturnsDeleted: true,
			PrepareForUpdate: func(ctx *resource.Context, obj, old object.Object) {
				if ctx.Subresource == "status" {
					dropDeallocated(obj, old)
				}
			},
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				spec, p := obj.At("spec"), field.Root("spec")
				return append(validateAdminAccess(ctx, obj.Namespace(), spec), validateClaimSpec(ctx, p, spec)...)
			},
			ValidateUpdate: validateClaimUpdate,
		},
		defaults: everyVersion(func(obj object.Object) {
			defaultClaimSpec(obj.At("spec"))
			for _, r := range obj.Objects("status", "allocation", "devices", "results") {
				defaultTolerations(r)
			}
		}),
		columns: []column{
			colName(), colText("State", "A summary of the current state (allocated, pending, reserved, etc.)."), colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellClaimState(obj), cellAge(now, obj))
		},
	}
}

func resourceClaimTemplateKind() kind {
	validate := func(ctx *resource.Context, obj object.Object) field.ErrorList {
		return append(validateAdminAccess(ctx, obj.Namespace(), obj.At("spec", "spec")), validateClaimTemplate(ctx, obj)...)
	}
	return kind{
		storage: "resourceclaimtemplates.resource.k8s.io",
		gates: []gate{
			{name: "DRAConsumableCapacity", fields: inRequests("spec.spec.", "capacity", "distinctAttribute")},
			{name: "DRADeviceTaints", fields: inRequests("spec.spec.", "tolerations", "")},
		},
		strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true, Validate: validate,
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return append(validateClaimTemplate(ctx, obj),
					immutableGo(field.Root("spec"), "ResourceClaimTemplateSpec", obj.At("spec"), old.At("spec"))...)
			},
		},
		defaults: everyVersion(func(obj object.Object) { defaultClaimSpec(obj.At("spec", "spec")) }),
		columns:  []column{colName(), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellAge(now, obj))
		},
	}
}

func deviceClassKind() kind {
	return kind{
		storage: "deviceclasses.resource.k8s.io",
		gates: []gate{
			{name: "DRAExtendedResource", fields: []string{"spec.extendedResourceName"}},
		},
		changed: semantically.of("spec"),
		strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true, NameRule: subdomainName,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList { return validateDeviceClass(obj) },
			ValidateUpdate: func(_ *resource.Context, obj, _ object.Object) field.ErrorList {
				return validateDeviceClass(obj)
			},
		},
		columns: []column{colName(), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellAge(now, obj))
		},
	}
}

func resourceSliceKind() kind {
	return kind{
		storage: "resourceslices.resource.k8s.io",
		gates: []gate{
			{name: "DRAConsumableCapacity", fields: []string{"spec.devices.*.allowMultipleAllocations", "spec.devices.*.capacity.*.requestPolicy"}},
			{name: "DRADeviceBindingConditions", fields: []string{"spec.devices.*.bindsToNode", "spec.devices.*.bindingConditions", "spec.devices.*.bindingFailureConditions"}},
			{name: "DRADeviceTaints", fields: []string{"spec.devices.*.taints"}},
			{name: "DRAListTypeAttributes", fields: []string{"spec.devices.*.attributes.*.ints",
				"spec.devices.*.attributes.*.bools", "spec.devices.*.attributes.*.strings", "spec.devices.*.attributes.*.versions"}},
			{name: "DRANodeAllocatableResources", fields: []string{"spec.devices.*.nodeAllocatableResourceMappings"}},
			{name: "DRAPartitionableDevices", fields: []string{"spec.perDeviceNodeSelection",
				"spec.sharedCounters", "spec.devices.*.consumesCounters", "spec.devices.*.nodeName", "spec.devices.*.nodeSelector", "spec.devices.*.allNodes"}},
		},
		changed: sliceChanged,
		strategy: resource.Strategy{
			ReturnsDeleted: true, CountsAsked: true,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) { prepareSlice(ctx, obj, nil) },
			PrepareForUpdate: prepareSlice,
			Validate:         func(_ *resource.Context, obj object.Object) field.ErrorList { return validateResourceSlice(obj, nil) },
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateResourceSlice(obj, old)
			},
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				if driver := obj.String("spec", "driver"); driver != strings.ToLower(driver) {
					ctx.Warn(`spec.driver: driver names should be lowercase; "` + driver + `" contains uppercase characters`)
				}
			},
			Fields: func(obj object.Object) map[string]string {
				return map[string]string{"spec.nodeName": obj.String("spec", "nodeName"), "spec.driver": obj.String("spec", "driver")}
			},
		},
		labels: sameLabels("spec.nodeName", "spec.driver"),
		unknown: func(label string) string {
			return "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: " + label
		},
		columns: []column{
			colName(), colDoc("Node", docDevices+"ResourceSliceSpec", "nodeName"), colDoc("Driver", docDevices+"ResourceSliceSpec", "driver"),
			colDoc("Pool", docDevices+"ResourcePool", "name"), colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), obj.String("spec", "nodeName"), obj.String("spec", "driver"), obj.String("spec", "pool", "name"),
				cellAge(now, obj))
		},
	}
}

// defaultClaimSpec fills in how many devices each request wants.
func defaultClaimSpec(spec object.Object) {
	for _, request := range spec.Objects("devices", "requests") {
		if exactly := request.At("exactly"); exactly != nil {
			defaultDeviceCount(exactly)
			defaultTolerations(exactly)
		}
		for _, sub := range request.Objects("firstAvailable") {
			defaultDeviceCount(sub)
			defaultTolerations(sub)
		}
	}
}

func defaultTolerations(request object.Object) {
	for _, t := range request.Objects("tolerations") {
		setEmpty(t, "operator", "Equal")
	}
}

func defaultDeviceCount(request object.Object) {
	setEmpty(request, "allocationMode", "ExactCount")
	if request.String("allocationMode") == "ExactCount" {
		setZero(request, "count", 1)
	}
}

func cellClaimState(obj object.Object) string {
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

// deviceID names an allocated device: driver/pool/device, and /share if the device is shared.
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

// dropDeallocated drops the status of devices that the claim had and has no more.
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

// sliceChanged compares specs; a taint that does not say since when it is there is as old as the one it replaces.
func sliceChanged(typ func() *schema.Type) func(obj, old object.Object) bool {
	changed := semantically.of("spec")(typ)
	return func(obj, old object.Object) bool {
		asked := obj.Copy()
		devices, before := asked.Objects("spec", "devices"), old.Objects("spec", "devices")
		for i, d := range devices[:min(len(devices), len(before))] {
			taints, was := d.Objects("taints"), before[i].Objects("taints")
			for j, taint := range taints[:min(len(taints), len(was))] {
				setEmpty(taint, "timeAdded", was[j].String("timeAdded"))
			}
		}
		return changed(asked, old)
	}
}

// prepareSlice says when taints were added.
func prepareSlice(ctx *resource.Context, obj, _ object.Object) {
	for _, d := range obj.Objects("spec", "devices") {
		for _, taint := range d.Objects("taints") {
			setEmpty(taint, "timeAdded", object.Time(ctx.Now))
		}
	}
}
