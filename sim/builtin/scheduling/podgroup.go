//go:build !js

package scheduling

import (
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// The feature gates of scheduling in groups.
const (
	gateWorkload   = "GenericWorkload"
	gateComposite  = "CompositePodGroup"
	gateTopology   = "TopologyAwareWorkloadScheduling"
	gateClaims     = "DRAWorkloadResourceClaims"
	gateDisruption = "WorkloadAwarePreemption"
	gatePreemption = "PodGroupPreemptionPolicy"
)

// groupKinds returns the kinds that no server serves by default.
func groupKinds() []kind.Kind {
	return []kind.Kind{workloadKind(), podGroupKind(), compositeGroupKind()}
}

// podGroupKind returns the kind PodGroup: pods that the scheduler schedules together (KEP-4671). No server serves it by default.
func podGroupKind() kind.Kind {
	return kind.Kind{
		Storage:  "podgroups.scheduling.k8s.io",
		Gate:     gateWorkload,
		Gates:    append(groupGates("spec."), kind.Gate{Name: gateComposite, Fields: []string{"spec.parentCompositePodGroupName"}}),
		Strategy: groupStrategy(),
		Defaults: kind.EveryVersion(func(obj object.Object) { obj.SetDefault("Pod", "spec", "disruptionMode") }),
		Since: map[int]func(k *kind.Kind){37: func(k *kind.Kind) {
			denyUnconditionalUpdate(k)
			k.Strategy.ResetFields[""] = []string{"status"}
			k.Defaults = kind.EveryVersion(defaultMode)
		}},
		Validate: func(ctx *resource.Context, at field.Cursor) {
			rules := groupRules{ctx: ctx}
			if ctx.Since(37) {
				checkParentWorkload(at.Child("spec"))
			}
			at.Child("spec").Declared(true, func(spec field.Cursor) field.Cursor {
				if ctx.Since(37) {
					rules.checkParent(spec)
				} else {
					fixed(spec.Child("podGroupTemplateRef"), checkTemplateRef, "workload")
				}
				rules.check(spec)
				return spec
			})
		},
		ValidateStatus: validateGroupStatus,
		Columns: []table.Column{
			table.Name(), table.Doc("Policy", docScheduling+"PodGroupSpec", "schedulingPolicy").Cell(cellPolicy),
			table.Text("Workload", "Name of the referenced Workload object").Cell(cellWorkload),
			table.Text("Status", "Status of the PodGroup").Cell(cellGroupStatus), table.Age(),
		},
	}
}

// compositeGroupKind returns the kind CompositePodGroup: groups that the scheduler schedules together. Only servers since 1.37 have it.
func compositeGroupKind() kind.Kind {
	strategy := groupStrategy()
	strategy.DenyUnconditionalUpdate, strategy.ResetFields[""] = true, []string{"status"}
	return kind.Kind{
		Storage:  "compositepodgroups.scheduling.k8s.io",
		Gate:     gateComposite,
		Gates:    []kind.Gate{{Name: gatePreemption, Fields: []string{"spec.preemptionPolicy"}, Defaults: defaultPreemption}},
		Strategy: strategy,
		Defaults: kind.EveryVersion(defaultMode),
		Validate: func(ctx *resource.Context, at field.Cursor) {
			at.Child("spec").Declared(true, func(spec field.Cursor) field.Cursor {
				fixed(spec.Child("parentCompositePodGroupName"), checkLongName)
				fixed(spec.Child("workloadRef"), checkWorkloadRef, "workloadName", "templateName")
				spec.Child("workloadRef").Required()
				groupRules{ctx: ctx, composite: true}.check(spec)
				return spec
			})
		},
		ValidateStatus: func(ctx *resource.Context, at field.Cursor) {
			kind.CheckConditions(ctx, at.Child("status", "conditions"))
		},
		Columns: []table.Column{
			table.Name(), table.Doc("Policy", docScheduling+"CompositePodGroupSpec", "schedulingPolicy").Cell(cellPolicy),
			table.Text("Workload", "Name of the referenced Workload object").Cell(cellWorkload), table.Age(),
		},
	}
}

// groupStrategy is the strategy of PodGroups and CompositePodGroups. On servers of 1.36, only writes of the status reset fields. Readers
// see the default of a field that a disabled gate has removed from the stored object.
func groupStrategy() resource.Strategy {
	lacksMode := func(obj object.Object) bool { return !obj.Has("spec", "disruptionMode") }
	return resource.Strategy{
		HasStatus: true, StatusKeeps: resource.KeptForStatus, ReadsMore: lacksMode, DefaultsLate: lacksMode,
		ResetFields: map[string][]string{"": nil, "status": {"metadata", "spec"}},
	}
}

// defaultMode sets the default of disruptionMode on servers since 1.37. On those of 1.36 the field is a string.
func defaultMode(obj object.Object) {
	obj.SetDefault(map[string]any{"single": map[string]any{}}, "spec", "disruptionMode")
}

func denyUnconditionalUpdate(k *kind.Kind) { k.Strategy.DenyUnconditionalUpdate = true }

// groupGates returns the gates of the fields of a PodGroup or of a template of PodGroups, whose path is prefix. Each field has a Gate of
// its own, because each is kept if the stored object uses it.
func groupGates(prefix string) []kind.Gate {
	gates := []kind.Gate{
		{Name: gateTopology, Fields: []string{prefix + "schedulingConstraints"}},
		{Name: gateClaims, Fields: []string{prefix + "resourceClaims"}},
	}
	for _, name := range []string{"disruptionMode", "priorityClassName", "priority"} {
		gates = append(gates, kind.Gate{Name: gateDisruption, Fields: []string{prefix + name}})
	}
	preemption := kind.Gate{Name: gatePreemption, Fields: []string{prefix + "preemptionPolicy"}}
	if prefix == "spec." {
		preemption.Defaults = defaultPreemption
	}
	return append(gates, preemption)
}

func defaultPreemption(obj object.Object) {
	obj.SetDefault("PreemptLowerPriority", "spec", "preemptionPolicy")
}

// validateGroupStatus validates the status of a PodGroup. Each entry of resourceClaimStatuses needs a claim of the spec
// (ValidatePodGroupStatusUpdate).
func validateGroupStatus(ctx *resource.Context, at field.Cursor) {
	status := at.Child("status")
	kind.CheckConditions(ctx, status.Child("conditions"))
	claims := kind.Texts(at.Object().Objects("spec", "resourceClaims"), "name")
	for entry := range status.Each("resourceClaimStatuses") {
		name := entry.Child("name").OrEmpty()
		known := false
		for _, claim := range claims {
			known = known || claim == name.String()
		}
		name.InvalidIf(!known, "must match the name of an entry in `spec.resourceClaims`")
	}
	status.Child("resourceClaimStatuses").Declared(true, func(list field.Cursor) field.Cursor {
		for entry := range uniqueNames(list.MaxItems(maxGroupClaims), nil) {
			entry.Child("resourceClaimName").Check(field.DNS1123Subdomain)
		}
		return list
	})
}

func cellPolicy(obj object.Object) any {
	if obj.Has("spec", "schedulingPolicy", "gang") {
		return "Gang"
	}
	return "Basic"
}

func cellWorkload(obj object.Object) any {
	for _, ref := range [][]string{{"podGroupTemplateRef", "workload"}, {"workloadRef"}} {
		if ref := obj.At("spec").At(ref...); ref != nil {
			return ref.String("workloadName")
		}
	}
	return table.None
}

// cellGroupStatus returns the outcome of scheduling, or the reason of a disruption (printPodGroup).
func cellGroupStatus(obj object.Object) any {
	scheduled := "PodGroupScheduled"
	if obj.Condition("PodGroupInitiallyScheduled") != nil {
		scheduled = "PodGroupInitiallyScheduled"
	}
	switch disrupted := obj.Condition("DisruptionTarget"); {
	case disrupted != nil:
		return disrupted.String("reason")
	case obj.Condition(scheduled) == nil:
		return "Pending"
	case kind.HasCondition(obj, scheduled, "True"):
		return "Scheduled"
	}
	return "Unschedulable"
}
