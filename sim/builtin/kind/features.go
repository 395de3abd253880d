package kind

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// features are the feature gates that affect the API server, each with the minor from which on it is on by default (36 is 1.36), or 0 if
// it is off in every minor. Gates of kubelets, schedulers or controllers alone are not among them.
var features = map[string]int{
	"AllowUnsafeMalformedObjectDeletion":           37,
	"AtomicWriteVolumeUserFields":                  0,
	"AuthorizePodWebsocketUpgradeCreatePermission": 35,
	"CSIServiceAccountTokenSecrets":                35,
	"CSIVolumeHealth":                              0,
	"ClusterTrustBundleProjection":                 37,
	"ComponentFlagz":                               36,
	"ComponentStatusz":                             36,
	"ContainerRestartRules":                        35,
	"ContainerStopSignals":                         0,
	"CoordinatedLeaderElection":                    0,
	"DRAConsumableCapacity":                        36,
	"DRADerivedAttributes":                         0,
	"DRADeviceBindingConditions":                   36,
	"DRADeviceCompatibilityGroups":                 0,
	"DRADeviceTaints":                              36,
	"DRAExtendedResource":                          36,
	"DRAListTypeAttributes":                        0,
	"DRANodeAllocatableResources":                  0,
	"DRAOptionalNodeOperations":                    0,
	"DRAPartitionableDevices":                      36,
	"DRAPartitionableDevicesType":                  0,
	"DRAResourceClaimGranularStatusAuthorization":  36,
	"DeploymentReplicaSetTerminatingReplicas":      35,
	"EmptyDirVolumeMode":                           0,
	"EnvFiles":                                     35,
	"EvictionRequestAPI":                           0,
	"ExcludeAdmissionWebhookVirtualResources":      37,
	"GRPCContainerProbeTLS":                        0,
	"GenericWorkload":                              0,
	"H2CContainerProbe":                            0,
	"HPAConfigurableTolerance":                     35,
	"HPAGeneration":                                37,
	"HPAScaleToZero":                               37,
	"HostnameOverride":                             35,
	"ImageVolume":                                  35,
	"ImageVolumeWithDigest":                        0,
	"InPlacePodLevelResourcesVerticalScaling":      36,
	"MaxUnavailableStatefulSet":                    37,
	"MutableCSINodeAllocatableCount":               35,
	"MutablePodResourcesForSuspendedJobs":          36,
	"MutableSchedulingDirectivesForSuspendedJobs":  36,
	"NodeDeclaredFeatures":                         36,
	"PodCertificateRequest":                        37,
	"PodLevelResourcesFixDefaulting":               37,
	"PodLevelResourcesFixKubeletQOSClass":          37,
	"RelaxedServiceNameValidation":                 36,
	"ResourceHealthStatus":                         36,
	"ResourceHealthStatusMessage":                  36,
	"RestartAllContainersOnContainerExits":         36,
	"StrictIPCIDRValidation":                       36,
	"SELinuxMount":                                 37,
	"TaintTolerationComparisonOperators":           0,
	"VolumeAttributesClass":                        34,
	"VolumeBindMountOptions":                       0,
	"VolumeLimitScaling":                           37,
	"WorkloadWithJob":                              0,
}

// Server returns the API server of a minor ("1.36") that has feature gates of its own. A gate that decides nothing here is an
// error.
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
