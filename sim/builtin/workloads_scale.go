package builtin

import "github.com/kubesim/kubesim/sim/resource"

// scaleWorkload is the scale subresource of Deployments, ReplicaSets and StatefulSets, scaleReplication that of
// ReplicationControllers, which select by plain labels.
var (
	scaleWorkload = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSelectorQuery,
	})
	scaleReplication = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSetQuery,
	})
)
