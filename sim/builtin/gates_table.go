package builtin

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// gates are the feature gates that make a difference between 1.34, 1.35 and 1.36, and those that 1.36 has off. Gates that
// only kubelets, schedulers or controllers ask are not among them.
var gates = []gate{
	// Pages of the server; storage "" is no resource.
	{name: "ComponentFlagz", on: 36},
	{name: "ComponentStatusz", on: 36},

	// Pod specs.
	{name: "ClusterTrustBundleProjection", storage: podSpecs, fields: []string{"volumes.*.projected.sources.*.clusterTrustBundle"}},
	{name: "ContainerRestartRules", on: 35, storage: podSpecs, fields: []string{"containers.*.restartPolicyRules",
		"initContainers.*.restartPolicyRules", "containers.*.restartPolicy"}},
	{name: "ContainerStopSignals", storage: podSpecs, fields: inContainers("lifecycle.stopSignal?")},
	{name: "EnvFiles", on: 35, storage: podSpecs, fields: inContainers("env.*.valueFrom.fileKeyRef")},
	{name: "GenericWorkload", storage: podSpecs, fields: []string{"schedulingGroup"}},
	{name: "GenericWorkload", storage: podSpecs, fields: []string{"workloadRef"}},
	{name: "HostnameOverride", on: 35, storage: podSpecs, fields: []string{"hostnameOverride"}},
	{name: "ImageVolume", on: 35, storage: podSpecs, fields: []string{"volumes.*.image"}},
	{name: "PodCertificateRequest", storage: podSpecs, fields: []string{"volumes.*.projected.sources.*.podCertificate"}},
	{name: "RestartAllContainersOnContainerExits", on: 36, storage: podSpecs,
		values: &gatedValue{"containers.*.restartPolicyRules.*.action", "RestartAllContainers", []string{"Restart"}}},
	{name: "RestartAllContainersOnContainerExits", on: 36, storage: podSpecs,
		values: &gatedValue{"initContainers.*.restartPolicyRules.*.action", "RestartAllContainers", []string{"Restart"}}},

	// What kubelets report.
	{name: "DRAExtendedResource", on: 36, storage: "pods", fields: []string{"status.extendedResourceClaimStatus"}},
	{name: "DRANodeAllocatableResources", storage: "pods", fields: []string{"status.nodeAllocatableResourceClaimStatuses"}},
	{name: "ImageVolumeWithDigest", storage: "pods", fields: inStatuses("volumeMounts.*.volumeStatus")},
	{name: "InPlacePodLevelResourcesVerticalScaling", on: 36, storage: "pods", fields: []string{"status.allocatedResources", "status.resources"}},
	{name: "ResourceHealthStatus", on: 36, storage: "pods", fields: inStatuses("allocatedResourcesStatus")},
	{name: "ResourceHealthStatusMessage", on: 36, storage: "pods", fields: inStatuses("allocatedResourcesStatus.*.resources.*.message")},
	{name: "NodeDeclaredFeatures", on: 36, storage: "nodes", fields: []string{"status.declaredFeatures"}},

	// Workloads.
	{name: "DeploymentReplicaSetTerminatingReplicas", on: 35, storage: "deployments.apps", fields: []string{"status.terminatingReplicas"}},
	{name: "DeploymentReplicaSetTerminatingReplicas", on: 35, storage: "replicasets.apps", fields: []string{"status.terminatingReplicas"}},
	{name: "HPAConfigurableTolerance", on: 35, storage: "horizontalpodautoscalers.autoscaling",
		fields: []string{"spec.behavior.scaleUp.tolerance", "spec.behavior.scaleDown.tolerance"}},
	{name: "MaxUnavailableStatefulSet", storage: "statefulsets.apps", fields: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"}},

	// Formats (KEP-5311, KEP-4858).
	{name: "RelaxedServiceNameValidation", on: 36, storage: "services", without: func(s *resource.Strategy) { s.NameRule = field.NameDNS1035Label }},
	{name: "StrictIPCIDRValidation", on: 36, storage: podSpecs, without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "services", without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "endpoints", without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "endpointslices.discovery.k8s.io", without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "nodes", without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "ingresses.networking.k8s.io", without: laxAddresses},
	{name: "StrictIPCIDRValidation", on: 36, storage: "networkpolicies.networking.k8s.io", without: laxAddresses},

	// Leases (KEP-4355).
	{name: "CoordinatedLeaderElection", storage: "leases.coordination.k8s.io", fields: []string{"spec.strategy"}},
	{name: "CoordinatedLeaderElection", storage: "leases.coordination.k8s.io", fields: []string{"spec.preferredHolder"}},

	// Storage.
	{name: "CSIServiceAccountTokenSecrets", on: 35, storage: "csidrivers.storage.k8s.io", fields: []string{"spec.serviceAccountTokenInSecrets"}},
	{name: "MutableCSINodeAllocatableCount", on: 35, storage: "csidrivers.storage.k8s.io",
		fields: []string{"spec.nodeAllocatableUpdatePeriodSeconds"}},
	{name: "MutableCSINodeAllocatableCount", on: 35, storage: "volumeattachments.storage.k8s.io",
		fields: []string{"status.attachError.errorCode", "status.detachError.errorCode"}},
	{name: "VolumeLimitScaling", storage: "csidrivers.storage.k8s.io", fields: []string{"spec.preventPodSchedulingIfMissing"},
		defaults: func(obj object.Object) { obj.SetDefault(false, "spec", "preventPodSchedulingIfMissing") }}, // KEP-5030

	// Devices.
	{name: "DRAConsumableCapacity", on: 36, storage: "resourceclaims.resource.k8s.io", fields: inRequests("spec.", "capacity", "distinctAttribute"),
		without: matchingOnly},
	{name: "DRAConsumableCapacity", on: 36, storage: "resourceclaimtemplates.resource.k8s.io", fields: inRequests("spec.spec.", "capacity", "distinctAttribute"),
		without: matchingOnly},
	{name: "DRAConsumableCapacity", on: 36, storage: "resourceslices.resource.k8s.io",
		fields: []string{"spec.devices.*.allowMultipleAllocations", "spec.devices.*.capacity.*.requestPolicy"}},
	{name: "DRADeviceBindingConditions", on: 36, storage: "resourceslices.resource.k8s.io",
		fields: []string{"spec.devices.*.bindsToNode", "spec.devices.*.bindingConditions", "spec.devices.*.bindingFailureConditions"}},
	{name: "DRAResourceClaimGranularStatusAuthorization", on: 36, storage: "resourceclaims.resource.k8s.io", without: ungranted},
	{name: "DRADeviceTaints", on: 36, storage: "resourceclaims.resource.k8s.io", fields: inRequests("spec.", "tolerations", "")},
	{name: "DRADeviceTaints", on: 36, storage: "resourceclaimtemplates.resource.k8s.io", fields: inRequests("spec.spec.", "tolerations", "")},
	{name: "DRADeviceTaints", on: 36, storage: "resourceslices.resource.k8s.io", fields: []string{"spec.devices.*.taints"}},
	{name: "DRAExtendedResource", on: 36, storage: "deviceclasses.resource.k8s.io", fields: []string{"spec.extendedResourceName"}},
	{name: "DRAListTypeAttributes", storage: "resourceslices.resource.k8s.io", fields: []string{"spec.devices.*.attributes.*.ints",
		"spec.devices.*.attributes.*.bools", "spec.devices.*.attributes.*.strings", "spec.devices.*.attributes.*.versions"}},
	{name: "DRANodeAllocatableResources", storage: "resourceslices.resource.k8s.io", fields: []string{"spec.devices.*.nodeAllocatableResourceMappings"}},
	{name: "DRAPartitionableDevices", on: 36, storage: "resourceslices.resource.k8s.io", fields: []string{"spec.perDeviceNodeSelection",
		"spec.sharedCounters", "spec.devices.*.consumesCounters", "spec.devices.*.nodeName", "spec.devices.*.nodeSelector", "spec.devices.*.allNodes"}},
}

// inRequests returns the path of a field of the device requests of a claim, and of a field of its constraints.
func inRequests(prefix, field, constraint string) []string {
	paths := []string{prefix + "devices.requests.*.exactly." + field, prefix + "devices.requests.*.firstAvailable.*." + field}
	if constraint != "" {
		paths = append(paths, prefix+"devices.constraints.*."+constraint)
	}
	return paths
}
