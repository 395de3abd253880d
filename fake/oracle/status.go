package oracle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/trace"
)

// StatusAgrees returns a check for Eventually. It fails if the status of an object of the given resources, which are named with their
// groups, contradicts the object or the objects that it controls:
//
//   - the observed generation, of the status or of a condition, is not the generation of the object
//   - the condition Reconciling is True, although the check is for clients that have come to rest
//   - a condition such as Ready is True, although an object that it controls, directly or not, is not ready
//
// The rules are those of kstatus (sigs.k8s.io/cli-utils/pkg/kstatus) for custom resources, applied to all kinds: they read the fields
// that built-in kinds and custom ones have in common, such as status.readyReplicas, and need no knowledge of a kind.
func StatusAgrees(resources ...string) func(View) error {
	return func(view View) error {
		owned := controlled(view)
		for _, resource := range resources {
			if !view.Knows(resource) {
				return fmt.Errorf("there is no resource %q", resource)
			}
			for _, obj := range view.List(resource, "") {
				if why := contradiction(obj, owned); why != "" {
					return fmt.Errorf("%s %s: %s", resource, trace.Key(obj.Namespace(), obj.Name()), why)
				}
			}
		}
		return nil
	}
}

// member is an object with the name of its resource.
type member struct {
	Object
	resource string
}

// controlled returns the objects that have a controller, by its UID.
func controlled(view View) map[string][]member {
	owned := map[string][]member{}
	view.Each(func(resource string, obj Object) bool {
		for _, ref := range obj.Objects("metadata", "ownerReferences") {
			if ref.True("controller") {
				owned[ref.String("uid")] = append(owned[ref.String("uid")], member{obj, resource})
			}
		}
		return true
	})
	return owned
}

// success are the conditions with which an object says that it is as its spec requires.
var success = []string{"Ready", "Available"}

// contradiction returns the reason why the status of an object is wrong, or "".
func contradiction(obj Object, owned map[string][]member) string {
	if why := cmp.Or(unobserved(obj), outdated(obj), reconciling(obj)); why != "" {
		return why
	}
	i := slices.IndexFunc(success, func(name string) bool { return obj.Condition(name).String("status") == "True" })
	if i < 0 {
		return ""
	}
	if which, why := unready(obj, owned); why != "" {
		return fmt.Sprintf("its condition %s is True, but %s: %s", success[i], which, why)
	}
	return ""
}

// unready returns an object that obj controls, directly or not, and that is not ready, with the reason.
func unready(obj Object, owned map[string][]member) (which, why string) {
	for _, m := range owned[obj.UID()] {
		if why := unsettled(m.Object); why != "" {
			return m.resource + " " + trace.Key(m.Namespace(), m.Name()), why
		}
		if which, why := unready(m.Object, owned); why != "" {
			return which, why
		}
	}
	return "", ""
}

// unobserved returns a message if the status is about an earlier generation of an object, or "".
func unobserved(obj Object) string {
	now, seen := obj.Generation(), obj.Int64("status", "observedGeneration")
	if obj.Has("status", "observedGeneration") && seen != now {
		return fmt.Sprintf("status.observedGeneration is %d, metadata.generation is %d", seen, now)
	}
	return ""
}

// outdated returns a message if a condition is about an earlier generation of an object, or "".
func outdated(obj Object) string {
	for _, c := range obj.Objects("status", "conditions") {
		if seen := c.Int64("observedGeneration"); c.Has("observedGeneration") && seen != obj.Generation() {
			return fmt.Sprintf("observedGeneration of the condition %s is %d, metadata.generation is %d", c.String("type"), seen, obj.Generation())
		}
	}
	return ""
}

// reconciling returns a message if an object says that its controller has not finished, or "".
func reconciling(obj Object) string {
	if c := obj.Condition("Reconciling"); c.String("status") == "True" {
		return fmt.Sprintf("the condition Reconciling is True (%s)", c.String("reason"))
	}
	return ""
}

// replicaFields are the fields of a status that reach spec.replicas when all replicas are ready. A status without readyReplicas has none
// that is ready; the other fields do not exist in each kind.
var replicaFields = []string{"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"}

// unsettled returns the reason why an object is not as its spec requires, or "".
func unsettled(obj Object) string {
	if obj.DeletionTimestamp() != "" {
		return "it is being deleted"
	}
	if why := cmp.Or(unobserved(obj), reconciling(obj)); why != "" {
		return why
	}
	if wanted := obj.Int64("spec", "replicas"); obj.Has("status", "replicas") {
		for _, field := range replicaFields {
			if n := obj.Int64("status", field); n < wanted && (field == "readyReplicas" || obj.Has("status", field)) {
				return fmt.Sprintf("status.%s is %d, spec.replicas is %d", field, n, wanted)
			}
		}
	}
	if n, ready := obj.Int64("status", "desiredNumberScheduled"), obj.Int64("status", "numberReady"); ready < n {
		return fmt.Sprintf("status.numberReady is %d, status.desiredNumberScheduled is %d", ready, n)
	}
	for _, name := range success {
		if c := obj.Condition(name); c != nil && c.String("status") != "True" && c.String("reason") != "PodCompleted" {
			return strings.TrimSpace(fmt.Sprintf("its condition %s is %s %s", name, c.String("status"), c.String("reason")))
		}
	}
	if phase := obj.String("status", "phase"); slices.Contains([]string{"Pending", "Failed", "Lost", "Unknown"}, phase) {
		return "its phase is " + phase
	}
	return ""
}
