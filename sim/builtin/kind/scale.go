package kind

import (
	"github.com/kubesim/kubesim/sim/resource"
)

// ScaleWorkload is the scale subresource of Deployments, ReplicaSets and StatefulSets, ScaleReplication that of
// ReplicationControllers, which select by plain labels.
var (
	ScaleWorkload = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSelectorQuery,
	})
	ScaleReplication = resource.Scale(resource.ScalePaths{
		Replicas: ".spec.replicas", Status: ".status.replicas", Selector: ".spec.selector", Query: resource.LabelSetQuery,
	})
)
