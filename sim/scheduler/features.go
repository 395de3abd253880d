package scheduler

import (
	"slices"

	"github.com/kubesim/kubesim/sim/object"
)

// The features of kubelets that a pod may require (KEP-5328, component-helpers/nodedeclaredfeatures/features). The features that only updates
// of a pod require are in package admission.
const (
	restartAllContainers = "RestartAllContainersOnContainerExits"
	hostNetworkUsers     = "UserNamespacesHostNetworkSupport"
)

// requiredFeatures returns the features that a pod's node must declare (Framework.InferForPodScheduling).
func requiredFeatures(spec object.Object) (names []string) {
	for _, c := range slices.Concat(spec.Objects("containers"), spec.Objects("initContainers")) {
		restartsAll := func(rule object.Object) bool { return rule.String("action") == "RestartAllContainers" }
		if slices.ContainsFunc(c.Objects("restartPolicyRules"), restartsAll) {
			names = []string{restartAllContainers}
		}
	}
	if spec.True("hostNetwork") && spec.Has("hostUsers") && !spec.True("hostUsers") {
		names = append(names, hostNetworkUsers)
	}
	return names
}

// filterFeatures accepts nodes that declare the features that the pod requires.
func filterFeatures(c *cycle, n *node) verdict {
	if !needsNoFeatures(c) && slices.ContainsFunc(c.pod.features, func(name string) bool { return !slices.Contains(n.features, name) }) {
		return final("node(s) didn't match Pod's required features")
	}
	return verdict{}
}

// featuresHint reports whether an event adds a node, or changes the features of one.
func featuresHint(_ *cycle, e *event) bool {
	return e.kind == nodeCame || e.kind == nodeChanged && !slices.Equal(e.before.features, e.now.features)
}

// needsNoFeatures reports whether plugin NodeDeclaredFeatures accepts the pod on every node.
func needsNoFeatures(c *cycle) bool {
	return len(c.pod.features) == 0 || !c.api.Profile().Gates["NodeDeclaredFeatures"]
}
