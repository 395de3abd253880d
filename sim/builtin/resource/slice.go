package resource

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// Limits of ResourceSlices.
const (
	maxDevices         = 128
	maxDevicesAdvanced = 64 // if there are taints or counters
	maxCounterSets     = 8
	maxCountersPerSet  = 32
)

func resourceSliceKind() kind.Kind {
	const spec = docDevices + "ResourceSliceSpec"
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
			ReturnDeletedObject: true, CountsAsked: true, Index: "spec.nodeName",
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) { prepareSlice(ctx, obj, nil) },
			PrepareForUpdate: prepareSlice,
			Warn: func(ctx *resource.Context, obj, _ object.Object) {
				if driver := obj.String("spec", "driver"); driver != strings.ToLower(driver) {
					ctx.Warn(`spec.driver: driver names should be lowercase; "` + driver + `" contains uppercase characters`)
				}
			},
		},
		Validate: func(ctx *resource.Context, at field.Cursor) { validateResourceSlice(ctx, at.Child("spec")) },
		Select:   []string{"spec.nodeName", "spec.driver"},
		Since:    map[int]func(k *kind.Kind){37: func(k *kind.Kind) { k.Select = append(k.Select, "spec.pool.name") }},
		Unknown: func(of schema.GVK, label string) string {
			return "field label not supported for " + of.String() + ": " + label
		},
		Convert: sliceConversion(),
		Columns: []table.Column{
			table.Name(), table.Doc("Node", spec, "nodeName").At("spec", "nodeName"), table.Doc("Driver", spec, "driver").At("spec", "driver"),
			table.Doc("Pool", docDevices+"ResourcePool", "name").At("spec", "pool", "name"), table.Age(),
		},
	}
}

// sliceChanged creates a Strategy.SpecChanged function that compares specs. For a taint without timeAdded, it uses the
// timeAdded of the taint that is replaced.
func sliceChanged(typ func() *schema.Type) func(obj, old object.Object) bool {
	changed := kind.Semantically.Of("spec")(typ)
	return func(obj, old object.Object) bool {
		asked := obj.Copy()
		devices, before := asked.Objects("spec", "devices"), old.Objects("spec", "devices")
		for i, d := range devices[:min(len(devices), len(before))] {
			taints, was := d.Objects("taints"), before[i].Objects("taints")
			for j, taint := range taints[:min(len(taints), len(was))] {
				kind.SetEmpty(taint, was[j].String("timeAdded"), "timeAdded")
			}
		}
		return changed(asked, old)
	}
}

// prepareSlice sets missing timeAdded fields of taints.
func prepareSlice(ctx *resource.Context, obj, _ object.Object) {
	for _, d := range obj.Objects("spec", "devices") {
		for _, taint := range d.Objects("taints") {
			kind.SetEmpty(taint, object.Time(ctx.Now), "timeAdded")
		}
	}
}

func validateResourceSlice(ctx *resource.Context, at field.Cursor) {
	driver, pool := at.Child("driver"), at.Child("pool")
	podspec.DriverName(driver)
	validatePoolName(pool.Child("name"))
	pool.Child("resourceSliceCount").OrZero().Positive()
	pool.Child("generation").Min(0, "must be greater than or equal to zero")
	pool.Child("name").OrEmpty().Immutable()
	driver.OrEmpty().Immutable()
	at.Child("nodeName").Immutable()
	validateSliceNodes(at)
	at.With("").InvalidIf(at.Has("sharedCounters") && at.Has("devices"), "only one of `sharedCounters` or `devices` is allowed")
	was := map[string]object.Object{}
	for _, d := range at.Old().Objects("devices") {
		was[d.String("name")] = d
	}
	limit := maxDevices
	for d := range at.Each("devices") {
		if d.Len("taints")+d.Len("consumesCounters") > 0 {
			limit = maxDevicesAdvanced
		}
	}
	devices := at.Child("devices").MaxItems(limit)
	for d := range devices.Each() {
		validateDevice(ctx, d, was[d.String("name")], at.True("perDeviceNodeSelection"))
	}
	devices.UniqueItems("name")
	validateCounterSets(ctx, atMost(ctx, at.Child("sharedCounters"), maxCounterSets), "name")
}

// validateSliceNodes checks that a slice selects its nodes in exactly one way.
func validateSliceNodes(at field.Cursor) {
	const oneOf = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	set := validateNodeChoice(at, "must be either unset or set to a non-empty string")
	if terms := at.Child("nodeSelector", "nodeSelectorTerms"); at.Has("nodeSelector") && terms.Len() != 1 {
		terms.Invalid(gotext.Values(gotext.NodeSelectorTerm, at.Object().List("nodeSelector", "nodeSelectorTerms")), "must have exactly one node selector term")
	}
	set = append(set, validateFlags(at, "allNodes", "perDeviceNodeSelection")...)
	validateOneChoice(at, set, oneOf, oneOf+", but multiple fields are set")
}

// validateNodeChoice checks nodeName and nodeSelector, and returns the names of the fields that are set.
func validateNodeChoice(at field.Cursor, empty string) (set []string) {
	name, s := at.Child("nodeName"), at.Child("nodeSelector")
	if name.String() != "" {
		set = append(set, "`nodeName`")
		name.Check(field.DNS1123Subdomain)
	} else {
		name.InvalidIf(name.Has(), empty)
	}
	if s.Has() {
		set = append(set, "`nodeSelector`")
		podspec.NodeSelector(s, false)
	}
	return set
}

// validateFlags checks booleans that must be true or unset, and returns the names of the true ones.
func validateFlags(at field.Cursor, names ...string) (set []string) {
	for _, name := range names {
		at.Child(name).InvalidIf(at.Has(name) && !at.True(name), "must be either unset or set to true")
		if at.True(name) {
			set = append(set, "`"+name+"`")
		}
	}
	return set
}

func validateOneChoice(at field.Cursor, set []string, none, several string) {
	at.RequireIf(len(set) == 0, none)
	if len(set) > 1 {
		at.Invalid("{"+strings.Join(set, ", ")+"}", several)
	}
}

// validateCounterSets checks sets of counters, or the counters that a device consumes. nameField is the field that contains
// the name of a set.
func validateCounterSets(ctx *resource.Context, sets field.Cursor, nameField string) {
	for set := range sets.Each() {
		declared(ctx, set.Child(nameField), func(c field.Cursor) field.Cursor { return c.Required().Check(field.DNS1123Label) })
		counters := declared(ctx, set.Child("counters"), func(c field.Cursor) field.Cursor { return c.Required() }).MaxItems(maxCountersPerSet)
		for name := range counters.EachKey() {
			declared(ctx, counters.With(name), func(c field.Cursor) field.Cursor { return c.Check(field.DNS1123Label) })
		}
	}
	uniqueBy(ctx, sets, nameField)
}

// validatePoolName checks the name of a pool of devices, which consists of subdomains joined by slashes.
func validatePoolName(at field.Cursor) field.Cursor {
	if name := at.Required().MaxBytes(field.DNSSubdomainMax); name.String() != "" {
		for part := range strings.SplitSeq(name.String(), "/") {
			name.With(part).Check(field.DNS1123Subdomain)
		}
	}
	return at
}
