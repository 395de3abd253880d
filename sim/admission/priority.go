package admission

import (
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// preemptLower is the default of preemptionPolicy.
const preemptLower = "PreemptLowerPriority"

// setPriority sets the priority of pods and of their groups according to their class (Kubernetes documentation, "Pod Priority and Preemption").
func setPriority(a *Attributes) *status.Status {
	switch {
	case a.about(pods, Create):
		return resolvePriority(a)
	case a.about(podGroups, Create):
		return setGroupPriority(a, "WorkloadAwarePreemption", "pod group")
	case a.about(compositePodGroups, Create):
		return setGroupPriority(a, "CompositePodGroup", "composite pod group")
	case a.about(pods, Update): // keep the fields that the create set
		for _, name := range []string{"priority", "preemptionPolicy"} {
			if v, _ := a.Old.Get("spec", name); v != nil {
				a.Object.SetDefault(v, "spec", name)
			}
		}
	}
	return nil
}

// resolvePriority sets priority and preemptionPolicy of a new pod. If the pod already has values, they must be the same.
func resolvePriority(a *Attributes) *status.Status {
	pod := a.Object
	class, s := priorityClassOf(a, pod.String("spec", "priorityClassName"))
	if s != nil {
		return s
	}
	if name := class.Name(); name != "" {
		pod.Set(name, "spec", "priorityClassName")
	}
	value := class.Int64("value")
	if given, ok := pod.Int("spec", "priority"); ok && given != value {
		return a.refuse("the integer value of priority (%d) must not be provided in pod spec; "+
			"priority admission controller computed %d from the given PriorityClass name", given, value)
	}
	pod.Set(value, "spec", "priority")
	policy := class.String("preemptionPolicy")
	if given, _ := pod.Get("spec", "preemptionPolicy"); policy != "" && given != nil && given != policy {
		return a.refuse("the string value of PreemptionPolicy (%s) must not be provided in pod spec; "+
			"priority admission controller computed %s from the given PriorityClass name", given, policy)
	}
	if policy != "" {
		pod.Set(policy, "spec", "preemptionPolicy")
	}
	return nil
}

// noClass contains the values for pods without a class.
var noClass = object.Object{"value": int64(0), "preemptionPolicy": preemptLower}

// priorityClassOf returns the class with the given name. If name is "", it returns the default class, or noClass if there is none.
func priorityClassOf(a *Attributes, name string) (object.Object, *status.Status) {
	if name == "" {
		if class := defaultPriorityClass(a.Objects); class != nil {
			return class, nil
		}
		return noClass, nil
	}
	if class := a.Objects.Get(priorityClasses, "", name); class != nil {
		return class, nil
	}
	return nil, a.refuse("no PriorityClass with name %s was found", name)
}

// isDefault is true for a class that is marked as the default.
type isDefault bool

// defaultPriorityClass returns the class that is marked as the default, or nil. If there are several, it returns the one
// with the lowest value.
func defaultPriorityClass(objects resource.Reader) object.Object {
	var found object.Object
	var lowest int64
	objects.Items(priorityClasses, "", func(it *resource.Item) bool {
		if !resource.Derived(it, func(class object.Object) isDefault {
			return isDefault(class.True("globalDefault"))
		}) {
			return true
		}
		class := it.Object()
		if value := class.Int64("value"); found == nil || value < lowest {
			found, lowest = class, value
		}
		return true
	})
	return found
}

// oneDefaultPriority rejects a PriorityClass that is marked as the default if another one already is.
func oneDefaultPriority(a *Attributes) *status.Status {
	if !a.Object.True("globalDefault") {
		return nil
	}
	other := defaultPriorityClass(a.Objects)
	if other == nil || a.Operation == Update && other.Name() == a.Object.Name() {
		return nil
	}
	return a.refuse("PriorityClass %s is already marked as default. Only one default can exist", other.Name())
}
