package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// declaredFeature is a kubelet feature that an update of a running pod may require (KEP-5328, component-helpers,
// nodedeclaredfeatures). Features that matter only for scheduling are not included.
type declaredFeature struct {
	name  string
	needs func(pod, old object.Object) bool
}

// declaredFeatures are the features in the order in which errors list them.
var declaredFeatures = []declaredFeature{
	{"InPlacePodLevelResourcesVerticalScaling", resizesPod},
	{"InPlacePodVerticalScalingInitContainers", resizesInitContainer},
}

// checkDeclaredFeatures rejects updates of a pod that require features which its node does not declare.
func checkDeclaredFeatures(a *Attributes) *status.Status {
	if a.Definition.Storage != pods || a.Operation != Update || a.Subresource != "" && a.Subresource != "resize" || !a.Enabled("NodeDeclaredFeatures") {
		return nil
	}
	name := a.Object.String("spec", "nodeName")
	if name == "" || a.Object.Generation() == a.Old.Generation() {
		return nil
	}
	var needed []string
	for _, f := range declaredFeatures {
		if f.needs(a.Object, a.Old) {
			needed = append(needed, f.name)
		}
	}
	if len(needed) == 0 {
		return nil
	}
	node := a.Objects.Get(nodes, "", name)
	if node == nil {
		return a.refuse("node %q not found", name)
	}
	declared := node.Strings("status", "declaredFeatures")
	missing := slices.DeleteFunc(needed, func(f string) bool { return slices.Contains(declared, f) })
	if len(missing) > 0 {
		return a.refuse("pod update requires features %s which are not available on node %q", strings.Join(missing, ", "), name)
	}
	return nil
}

// resizesPod reports whether an update changes the pod-level resources.
func resizesPod(pod, old object.Object) bool {
	return !object.SemanticEqual(pod.Map("spec", "resources"), old.Map("spec", "resources"))
}

// resizesInitContainer reports whether an update changes the resources of an init container that is not a sidecar.
func resizesInitContainer(pod, old object.Object) bool {
	now := pod.Objects("spec", "initContainers")
	for i, c := range old.Objects("spec", "initContainers") {
		if c.String("restartPolicy") != "Always" && i < len(now) && !object.Equal(c.Map("resources"), now[i].Map("resources")) {
			return true
		}
	}
	return false
}
