package admission

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/status"
)

// declaredFeature is a feature of kubelets that the update of a running pod may need (KEP-5328, component-helpers,
// nodedeclaredfeatures). Features that only scheduling needs are not among them.
type declaredFeature struct {
	name  string
	needs func(pod, old object.Object) bool
}

// declaredFeatures are in the order in which they are named.
var declaredFeatures = []declaredFeature{
	{"InPlacePodLevelResourcesVerticalScaling", resizesPod},
	{"InPlacePodVerticalScalingInitContainers", resizesInitContainer},
}

// checkDeclaredFeatures refuses updates of a pod that require features which its node does not declare.
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

// resizesPod reports whether an update changes the resources of the pod as a whole.
func resizesPod(pod, old object.Object) bool {
	return !object.SemanticEqual(pod.Map("spec", "resources"), old.Map("spec", "resources"))
}

// resizesInitContainer reports whether an update changes the resources of an init container that is no sidecar.
func resizesInitContainer(pod, old object.Object) bool {
	now := pod.Objects("spec", "initContainers")
	for i, c := range old.Objects("spec", "initContainers") {
		if c.String("restartPolicy") != "Always" && i < len(now) && !object.Equal(c.Map("resources"), now[i].Map("resources")) {
			return true
		}
	}
	return false
}
