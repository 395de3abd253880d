// Package scheduling defines the kinds of scheduling.k8s.io: priority classes, and the groups in which pods are scheduled together.
//
//	Workload ── templates ──▶ CompositePodGroup (1.37) ◀── parent ── PodGroup ◀── spec.schedulingGroup ── Pod
package scheduling

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

const (
	docScheduling = "io.k8s.api.scheduling.v1."

	systemPriorityPrefix = "system-"
	maxUserPriority      = 1_000_000_000
)

// systemPriorities are the values of the PriorityClasses that Kubernetes defines.
var systemPriorities = map[string]int64{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}

// Kinds returns the kinds of scheduling.k8s.io.
func Kinds() []kind.Kind {
	return append([]kind.Kind{priorityClassKind()}, groupKinds()...)
}

func priorityClassKind() kind.Kind {
	return kind.Kind{
		Storage: "priorityclasses.scheduling.k8s.io",
		Strategy: resource.Strategy{
			SpecChanged: func(_, _ object.Object) bool { return false }, // the generation is always 1
			Undeletable: undeletablePriorityClass,
		},
		Validate: validatePriorityClass,
		Defaults: kind.EveryVersion(func(obj object.Object) { obj.SetDefault("PreemptLowerPriority", "preemptionPolicy") }),
		Columns: []table.Column{
			table.Name(), table.Doc("Value", docScheduling+"PriorityClass", "value").Int("value"),
			table.Doc("Global-Default", docScheduling+"PriorityClass", "globalDefault").Bool("globalDefault"), table.Age(),
			table.Doc("PreemptionPolicy", docScheduling+"PriorityClass", "preemptionPolicy").At("preemptionPolicy"),
		},
	}
}

// undeletablePriorityClass returns the reason why a PriorityClass cannot be deleted, or "" if it can be. The classes that
// Kubernetes itself defines cannot be deleted (Delete in pkg/registry/scheduling/priorityclass/storage).
func undeletablePriorityClass(name string) string {
	if _, ok := systemPriorities[name]; ok {
		return "this is a system priority class and cannot be deleted"
	}
	return ""
}

func validatePriorityClass(_ *resource.Context, at field.Cursor) {
	obj, value, policy := at.Object(), at.Child("value"), at.Child("preemptionPolicy")
	if old := at.Old(); old != nil {
		value.ForbidIf(value.Int64() != old.Int64("value"), "may not be changed in an update.")
		policy.Immutable()
		return
	}
	if strings.HasPrefix(obj.Name(), systemPriorityPrefix) {
		if why := notSystemPriority(obj); why != "" {
			at.Child("metadata", "name").Forbidden("priority class names with 'system-' prefix are reserved for system use only. error: " + why)
		}
	} else {
		value.ForbidIf(value.Int64() > maxUserPriority, "maximum allowed value of a user defined priority is 1000000000")
	}
	policy.Required().OneOf("PreemptLowerPriority", "Never")
}

// notSystemPriority returns the reason why obj is not one of Kubernetes' own PriorityClasses, or "" if it is one.
func notSystemPriority(obj object.Object) string {
	value, ok := systemPriorities[obj.Name()]
	switch {
	case !ok:
		return obj.Name() + " is not a known system priority class"
	case value != obj.Int64("value"):
		return fmt.Sprintf("value of %s PriorityClass must be %d", obj.Name(), value)
	case obj.True("globalDefault"):
		return fmt.Sprintf("globalDefault of %s PriorityClass must be false", obj.Name())
	}
	return ""
}
