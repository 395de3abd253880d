package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
)

// Gates are the gates of the fields of pod specs, for a kind whose objects have theirs at the path, which ends in a
// dot.
func Gates(path string) []kind.Gate {
	gates := []kind.Gate{
		{Name: "AtomicWriteVolumeUserFields", Fields: []string{
			"volumes.*.secret.defaultUser", "volumes.*.configMap.defaultUser", "volumes.*.downwardAPI.defaultUser", "volumes.*.projected.defaultUser",
			"volumes.*.secret.items.*.user", "volumes.*.configMap.items.*.user", "volumes.*.downwardAPI.items.*.user",
			"volumes.*.projected.sources.*.secret.items.*.user", "volumes.*.projected.sources.*.configMap.items.*.user",
			"volumes.*.projected.sources.*.downwardAPI.items.*.user", "volumes.*.projected.sources.*.serviceAccountToken.user",
			"volumes.*.projected.sources.*.clusterTrustBundle.user", "volumes.*.projected.sources.*.podCertificate.user"}},
		{Name: "ClusterTrustBundleProjection", Fields: []string{"volumes.*.projected.sources.*.clusterTrustBundle"}},
		{Name: "ContainerRestartRules", Fields: []string{"containers.*.restartPolicyRules",
			"initContainers.*.restartPolicyRules", "containers.*.restartPolicy"}},
		{Name: "ContainerStopSignals", Fields: inContainers("lifecycle.stopSignal?")},
		{Name: "EmptyDirVolumeMode", Fields: []string{"volumes.*.emptyDir.mode"}},
		{Name: "EnvFiles", Fields: inContainers("env.*.valueFrom.fileKeyRef")},
		{Name: "EvictionRequestAPI", Fields: []string{"evictionResponders"}},
		{Name: "GRPCContainerProbeTLS", Fields: slices.Concat(inContainers("livenessProbe.grpc.mode"), inContainers("readinessProbe.grpc.mode"),
			inContainers("startupProbe.grpc.mode"))},
		{Name: "GenericWorkload", Fields: []string{"schedulingGroup"}},
		{Name: "GenericWorkload", Fields: []string{"workloadRef"}},
		{Name: "H2CContainerProbe", Fields: slices.Concat(inContainers("livenessProbe.httpGet.protocol"), inContainers("readinessProbe.httpGet.protocol"),
			inContainers("startupProbe.httpGet.protocol"), inContainers("lifecycle.postStart.httpGet.protocol"), inContainers("lifecycle.preStop.httpGet.protocol"))},
		{Name: "HostnameOverride", Fields: []string{"hostnameOverride"}},
		{Name: "ImageVolume", Fields: []string{"volumes.*.image"}},
		{Name: "PodCertificateRequest", Fields: []string{"volumes.*.projected.sources.*.podCertificate"}},
		{Name: "RestartAllContainersOnContainerExits", Values: &kind.GatedValue{Path: "containers.*.restartPolicyRules.*.action", Value: "RestartAllContainers", Allowed: []string{"Restart"}}},
		{Name: "RestartAllContainersOnContainerExits", Values: &kind.GatedValue{Path: "initContainers.*.restartPolicyRules.*.action", Value: "RestartAllContainers", Allowed: []string{"Restart"}}},
		{Name: "VolumeBindMountOptions", Fields: inContainers("volumeMounts.*.bindMountOptions")},
	}
	for i := range gates {
		for j := range gates[i].Fields {
			gates[i].Fields[j] = path + gates[i].Fields[j]
		}
		if gates[i].Values != nil {
			gates[i].Values.Path = path + gates[i].Values.Path
		}
	}
	return gates
}

// inContainers returns the path in containers, init containers and ephemeral containers.
func inContainers(path string) []string {
	return []string{"containers.*." + path, "initContainers.*." + path, "ephemeralContainers.*." + path}
}
