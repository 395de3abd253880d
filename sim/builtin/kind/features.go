package kind

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// features are the feature gates that affect the API server, each with the minor version in which it became enabled by
// default (36 is 1.36), or 0 if it is disabled by default in every minor version. Gates that affect only kubelets,
// schedulers or controllers are not included.
var features = map[string]int{
	"AllowUnsafeMalformedObjectDeletion":           37,
	"AtomicWriteVolumeUserFields":                  0,
	"AuthorizePodWebsocketUpgradeCreatePermission": 35,
	"CBORServingAndStorage":                        0,
	"CSIServiceAccountTokenSecrets":                35,
	"CSIVolumeHealth":                              0,
	"ClusterTrustBundle":                           37,
	"ClusterTrustBundleProjection":                 37,
	"ComponentFlagz":                               36,
	"ComponentStatusz":                             36,
	"ContainerRestartRules":                        35,
	"ContainerStopSignals":                         0,
	"CompositePodGroup":                            0,
	"CoordinatedLeaderElection":                    0,
	"DRAAdminAccess":                               34,
	"DRAConsumableCapacity":                        36,
	"DRADerivedAttributes":                         0,
	"DRADeviceBindingConditions":                   36,
	"DRADeviceCompatibilityGroups":                 0,
	"DRADeviceTaintRules":                          37,
	"DRADeviceTaints":                              36,
	"DRAExtendedResource":                          36,
	"DRAListTypeAttributes":                        0,
	"DRANodeAllocatableResources":                  0,
	"DRAOptionalNodeOperations":                    0,
	"DRAPartitionableDevices":                      36,
	"DRAPartitionableDevicesType":                  0,
	"DRAPrioritizedList":                           34,
	"DRAResourceClaimDeviceStatus":                 34,
	"DRAResourceClaimGranularStatusAuthorization":  36,
	"DRAResourcePoolStatus":                        0,
	"DRAWorkloadResourceClaims":                    0,
	"DeploymentReplicaSetTerminatingReplicas":      35,
	"DynamicResourceAllocation":                    34,
	"EmptyDirVolumeMode":                           0,
	"EnvFiles":                                     35,
	"EvictionRequestAPI":                           0,
	"ExcludeAdmissionWebhookVirtualResources":      37,
	"GRPCContainerProbeTLS":                        0,
	"GangScheduling":                               37, // a part of GenericWorkload in 1.37
	"GenericWorkload":                              0,
	"H2CContainerProbe":                            0,
	"HPAConfigurableTolerance":                     35,
	"HPAGeneration":                                37,
	"HPAScaleToZero":                               37,
	"HostnameOverride":                             35,
	"ImageVolume":                                  35,
	"ImageVolumeWithDigest":                        0,
	"InPlacePodLevelResourcesVerticalScaling":      36,
	"InPlacePodVerticalScalingSchedulerPreemption": 0,
	"ManifestBasedAdmissionControlConfig":          37,
	"MaxUnavailableStatefulSet":                    37,
	"MutableCSINodeAllocatableCount":               35,
	"MutablePodResourcesForSuspendedJobs":          36,
	"MutableSchedulingDirectivesForSuspendedJobs":  36,
	"NodeDeclaredFeatures":                         36,
	"PodCertificateRequest":                        37,
	"PodGroupPreemptionPolicy":                     0,
	"PodLevelResourcesFixDefaulting":               37,
	"PodLevelResourcesFixKubeletQOSClass":          37,
	"RelaxedServiceNameValidation":                 36,
	"ResourceHealthStatus":                         36,
	"ResourceHealthStatusMessage":                  36,
	"RestartAllContainersOnContainerExits":         36,
	"ShardedListAndWatch":                          0,
	"StorageVersionAPI":                            0,
	"StorageVersionMigrator":                       37,
	"StrictIPCIDRValidation":                       36,
	"SELinuxMount":                                 37,
	"TaintTolerationComparisonOperators":           0,
	"TopologyAwareWorkloadScheduling":              0,
	"VolumeAttributesClass":                        34,
	"VolumeBindMountOptions":                       0,
	"VolumeLimitScaling":                           37,
	"WorkloadAwarePreemption":                      37, // 1.37 no longer has the gate
	"WorkloadWithJob":                              0,
}

// Server returns the API server of a minor version ("1.36") with the given feature gates. It returns an error if a gate has no
// effect in the simulator.
func Server(minor string, gates map[string]bool) (resource.Server, error) {
	_, number, _ := strings.Cut(minor, ".")
	at, err := strconv.Atoi(number)
	if err != nil {
		return resource.Server{}, fmt.Errorf("builtin: %q is not a minor such as 1.36", minor)
	}
	all := resource.Gates{}
	for name, since := range features { // order does not matter
		all[name] = since != 0 && since <= at
	}
	for _, name := range object.SortedKeys(gates) {
		if _, ok := features[name]; !ok {
			return resource.Server{}, fmt.Errorf("feature gate %q decides nothing here; there are %s", name, strings.Join(object.SortedKeys(features), ", "))
		}
	}
	maps.Copy(all, gates)
	return resource.Server{Minor: at, Gates: all}, nil
}
