// Package resource has the kinds of resource.k8s.io, dynamic resource allocation: claims, their templates, device classes and slices.
package resource

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// docDevices is the definition name in front of the types of resource.k8s.io/v1.
const docDevices = "io.k8s.api.resource.v1."

// Kinds returns the kinds of resource.k8s.io.
func Kinds() []kind.Kind {
	return []kind.Kind{resourceClaimKind(), resourceClaimTemplateKind(), resourceSliceKind(), deviceClassKind(), taintRuleKind()}
}

// inRequests returns the path of a field of the device requests of a claim, and of a field of its constraints.
func inRequests(prefix, field, constraint string) []string {
	paths := []string{prefix + "devices.requests.*.exactly." + field, prefix + "devices.requests.*.firstAvailable.*." + field}
	if constraint != "" {
		paths = append(paths, prefix+"devices.constraints.*."+constraint)
	}
	return paths
}

func resourceClaimKind() kind.Kind {
	return kind.Kind{
		Storage: "resourceclaims.resource.k8s.io",
		Gates: []kind.Gate{
			{Name: "DRAConsumableCapacity", Fields: inRequests("spec.", "capacity", "distinctAttribute")},
			{Name: "DRADeviceTaints", Fields: inRequests("spec.", "tolerations", "")},
		},
		PlainStatus: true,
		Strategy: resource.Strategy{
			Quota:     claimQuota,
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
		Defaults: kind.EveryVersion(func(obj object.Object) {
			defaultClaimSpec(obj.At("spec"))
			for _, r := range obj.Objects("status", "allocation", "devices", "results") {
				defaultTolerations(r)
			}
		}),
		Columns: []table.Column{
			table.Name(), table.Text("State", "A summary of the current state (allocated, pending, reserved, etc.)."), table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellClaimState(obj), table.AgeCell(now, obj))
		},
	}
}

func resourceClaimTemplateKind() kind.Kind {
	validate := func(ctx *resource.Context, obj object.Object) field.ErrorList {
		return append(validateAdminAccess(ctx, obj.Namespace(), obj.At("spec", "spec")), validateClaimTemplate(ctx, obj)...)
	}
	return kind.Kind{
		Storage: "resourceclaimtemplates.resource.k8s.io",
		Gates: []kind.Gate{
			{Name: "DRAConsumableCapacity", Fields: inRequests("spec.spec.", "capacity", "distinctAttribute")},
			{Name: "DRADerivedAttributes", Fields: inRequests("spec.spec.", "derivedAttributes", "")},
			{Name: "DRADeviceTaints", Fields: inRequests("spec.spec.", "tolerations", "")},
		},
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true, Validate: validate,
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				return append(validateClaimTemplate(ctx, obj),
					immutableGo(field.Root("spec"), gotext.ResourceClaimTemplateSpec.In(ctx.Server.Minor), obj.At("spec"), old.At("spec"))...)
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) { defaultClaimSpec(obj.At("spec", "spec")) }),
		Columns:  []table.Column{table.Name(), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), table.AgeCell(now, obj))
		},
	}
}

func deviceClassKind() kind.Kind {
	return kind.Kind{
		Storage: "deviceclasses.resource.k8s.io",
		Gates: []kind.Gate{
			{Name: "DRAExtendedResource", Fields: []string{"spec.extendedResourceName"}},
		},
		Changed: kind.Semantically.Of("spec"),
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			ReturnsDeleted: true, NameRule: kind.SubdomainName,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList { return validateDeviceClass(obj) },
			ValidateUpdate: func(_ *resource.Context, obj, _ object.Object) field.ErrorList {
				return validateDeviceClass(obj)
			},
		},
		Columns: []table.Column{table.Name(), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), table.AgeCell(now, obj))
		},
	}
}

func resourceSliceKind() kind.Kind {
	return kind.Kind{
		Storage: "resourceslices.resource.k8s.io",
		Gates: []kind.Gate{
			{Name: "DRAConsumableCapacity", Fields: []string{"spec.devices.*.allowMultipleAllocations", "spec.devices.*.capacity.*.requestPolicy"}},
			{Name: "DRADeviceBindingConditions", Fields: []string{"spec.devices.*.bindsToNode", "spec.devices.*.bindingConditions", "spec.devices.*.bindingFailureConditions"}},
			{Name: "DRADeviceTaints", Fields: []string{"spec.devices.*.taints"}},
			{Name: "DRAListTypeAttributes", Fields: []string{"spec.devices.*.attributes.*.ints",
				"spec.devices.*.attributes.*.bools", "spec.devices.*.attributes.*.strings", "spec.devices.*.attributes.*.versions"}},
			{Name: "DRANodeAllocatableResources", Fields: []string{"spec.devices.*.nodeAllocatableResourceMappings", "spec.devices.*.nodeAllocatableResources"}},
			{Name: "DRADeviceCompatibilityGroups", Fields: []string{"spec.devices.*.consumesCounters.*.compatibilityGroups"}},
			{Name: "DRAOptionalNodeOperations", Fields: []string{"spec.skipNodeOperations"}},
			{Name: "DRAPartitionableDevicesType", Fields: []string{"spec.partitionTypeAttribute"}},
			{Name: "DRAPartitionableDevices", Fields: []string{"spec.perDeviceNodeSelection",
				"spec.sharedCounters", "spec.devices.*.consumesCounters", "spec.devices.*.nodeName", "spec.devices.*.nodeSelector", "spec.devices.*.allNodes"}},
		},
		Changed: sliceChanged,
		Strategy: resource.Strategy{
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
				return map[string]string{"spec.nodeName": obj.String("spec", "nodeName"), "spec.driver": obj.String("spec", "driver"),
					"spec.pool.name": obj.String("spec", "pool", "name")}
			},
		},
		Labels: kind.SameLabels("spec.nodeName", "spec.driver"),
		Since: map[int]func(k *kind.Kind){37: func(k *kind.Kind) {
			k.Labels = kind.SameLabels("spec.nodeName", "spec.driver", "spec.pool.name")
		}},
		Unknown: func(label string) string {
			return "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: " + label
		},
		Columns: []table.Column{
			table.Name(), table.Doc("Node", docDevices+"ResourceSliceSpec", "nodeName"), table.Doc("Driver", docDevices+"ResourceSliceSpec", "driver"),
			table.Doc("Pool", docDevices+"ResourcePool", "name"), table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("spec", "nodeName"), obj.String("spec", "driver"), obj.String("spec", "pool", "name"),
				table.AgeCell(now, obj))
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
		kind.SetEmpty(t, "operator", "Equal")
	}
}

func defaultDeviceCount(request object.Object) {
	kind.SetEmpty(request, "allocationMode", "ExactCount")
	if request.String("allocationMode") == "ExactCount" {
		kind.SetZero(request, "count", 1)
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
	changed := kind.Semantically.Of("spec")(typ)
	return func(obj, old object.Object) bool {
		asked := obj.Copy()
		devices, before := asked.Objects("spec", "devices"), old.Objects("spec", "devices")
		for i, d := range devices[:min(len(devices), len(before))] {
			taints, was := d.Objects("taints"), before[i].Objects("taints")
			for j, taint := range taints[:min(len(taints), len(was))] {
				kind.SetEmpty(taint, "timeAdded", was[j].String("timeAdded"))
			}
		}
		return changed(asked, old)
	}
}

// prepareSlice says when taints were added.
func prepareSlice(ctx *resource.Context, obj, _ object.Object) {
	for _, d := range obj.Objects("spec", "devices") {
		for _, taint := range d.Objects("taints") {
			kind.SetEmpty(taint, "timeAdded", object.Time(ctx.Now))
		}
	}
}
