package admission

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/schema"
	"github.com/kubesim/kubesim/sim/status"
)

// groupFinalizer keeps a PodGroup until the controller podgroup-protection finds no pod of the group that still runs.
const groupFinalizer = "scheduling.k8s.io/podgroup-protection"

// protectGroup adds the finalizer to a new PodGroup (the plugin PodGroupProtection).
func protectGroup(a *Attributes) *status.Status {
	if !schema.HasAll || !a.Enabled("GenericWorkload") {
		return nil
	}
	if names := a.Object.Finalizers(); !slices.Contains(names, groupFinalizer) {
		a.Object.SetFinalizers(append(names, groupFinalizer))
	}
	return nil
}

// checkGroupWorkload rejects a PodGroup whose Workload does not exist, is being deleted, or lacks the template that the group names (the
// plugin PodGroupWorkloadExists of servers of 1.36; later ones do not have it).
func checkGroupWorkload(a *Attributes) *status.Status {
	ref := a.Object.At("spec", "podGroupTemplateRef", "workload")
	if !schema.HasAll || !a.Enabled("GenericWorkload") || ref == nil || a.Since(37) {
		return nil
	}
	name, template := ref.String("workloadName"), ref.String("podGroupTemplateName")
	workload := a.Objects.Get(workloads, a.Namespace, name)
	switch {
	case workload == nil:
		return a.refuse("PodGroup rejected: Workload %q not found", name)
	case workload.DeletionTimestamp() != "":
		return a.refuse("PodGroup rejected: Workload %q is being deleted", name)
	}
	for _, t := range workload.Objects("spec", "podGroupTemplates") {
		if t.String("name") == template {
			return nil
		}
	}
	return a.refuse("PodGroup rejected: PodGroupTemplate %q not found in Workload %q", template, name)
}

// checkGangParallelism rejects a change of the parallelism of a Job whose pods are scheduled as a gang (the plugin JobValidation of servers
// of 1.36; later ones do not have it).
func checkGangParallelism(a *Attributes) *status.Status {
	if !schema.HasAll || a.Since(37) || !a.Enabled("GenericWorkload") && !a.Enabled("WorkloadWithJob") {
		return nil
	}
	is, isSet := a.Object.Int("spec", "parallelism")
	was, wasSet := a.Old.Int("spec", "parallelism")
	if is == was && isSet == wasSet {
		return nil
	}
	for _, group := range groupsOf(a) {
		if group.Has("spec", "schedulingPolicy", "gang") {
			return a.refuse("cannot change parallelism for a Job referencing gang-scheduled PodGroup %q", group.Name())
		}
	}
	return nil
}

// groupsOf returns the PodGroup that the template of a Job names or, if it names none, the groups that the Job controls.
func groupsOf(a *Attributes) (groups []object.Object) {
	if name := a.Old.String("spec", "template", "spec", "schedulingGroup", "podGroupName"); name != "" {
		if group := a.Objects.Get(podGroups, a.Old.Namespace(), name); group != nil {
			groups = append(groups, group)
		}
		return groups
	}
	for _, group := range a.Objects.All(podGroups, a.Old.Namespace()) {
		for _, owner := range group.Objects("metadata", "ownerReferences") {
			if owner.True("controller") && owner.String("uid") == a.Old.UID() {
				groups = append(groups, group)
			}
		}
	}
	return groups
}

// setGroupPriority sets the priority of a new PodGroup or CompositePodGroup according to its class. Messages call the kind noun.
func setGroupPriority(a *Attributes, gate, noun string) *status.Status {
	if !schema.HasAll || !a.Enabled(gate) {
		return nil
	}
	spec := a.Object.At("spec")
	class, s := priorityClassOf(a, spec.String("priorityClassName"))
	if s != nil {
		return s
	}
	value := class.Int64("value")
	if given, ok := spec.Int("priority"); ok && given != value {
		return a.refuse("priority set in the %s (%d) must match the priority computed (%d) based on the priority class set in the spec", noun, given, value)
	}
	a.Object.Set(value, "spec", "priority")
	if name := class.Name(); name != "" {
		a.Object.Set(name, "spec", "priorityClassName")
	}
	policy := class.String("preemptionPolicy")
	if !a.Enabled("PodGroupPreemptionPolicy") || policy == "" {
		return nil
	}
	if given := spec.String("preemptionPolicy"); given != "" && given != policy {
		return a.refuse("the string value of PreemptionPolicy (%s) must not be provided in %s spec; "+
			"priority admission controller computed %s from the given PriorityClass name", given, noun, policy)
	}
	a.Object.Set(policy, "spec", "preemptionPolicy")
	return nil
}
