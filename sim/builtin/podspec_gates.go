package builtin

// podSpecGates are the gates of the fields of pod specs, for a kind whose objects have theirs at the path, which ends in a
// dot.
func podSpecGates(path string) []gate {
	gates := []gate{
		{name: "ClusterTrustBundleProjection", fields: []string{"volumes.*.projected.sources.*.clusterTrustBundle"}},
		{name: "ContainerRestartRules", fields: []string{"containers.*.restartPolicyRules",
			"initContainers.*.restartPolicyRules", "containers.*.restartPolicy"}},
		{name: "ContainerStopSignals", fields: inContainers("lifecycle.stopSignal?")},
		{name: "EnvFiles", fields: inContainers("env.*.valueFrom.fileKeyRef")},
		{name: "GenericWorkload", fields: []string{"schedulingGroup"}},
		{name: "GenericWorkload", fields: []string{"workloadRef"}},
		{name: "HostnameOverride", fields: []string{"hostnameOverride"}},
		{name: "ImageVolume", fields: []string{"volumes.*.image"}},
		{name: "PodCertificateRequest", fields: []string{"volumes.*.projected.sources.*.podCertificate"}},
		{name: "RestartAllContainersOnContainerExits", values: &gatedValue{"containers.*.restartPolicyRules.*.action", "RestartAllContainers", []string{"Restart"}}},
		{name: "RestartAllContainersOnContainerExits", values: &gatedValue{"initContainers.*.restartPolicyRules.*.action", "RestartAllContainers", []string{"Restart"}}},
	}
	for i := range gates {
		for j := range gates[i].fields {
			gates[i].fields[j] = path + gates[i].fields[j]
		}
		if gates[i].values != nil {
			gates[i].values.path = path + gates[i].values.path
		}
	}
	return gates
}

// inContainers returns the path in containers, init containers and ephemeral containers.
func inContainers(path string) []string {
	return []string{"containers.*." + path, "initContainers.*." + path, "ephemeralContainers.*." + path}
}
