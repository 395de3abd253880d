package conformance

// Workloads begins the names of the areas of cases that need a server with --runtime-config=api/all=true and the feature gates of
// WorkloadGates, so that it serves scheduling.k8s.io with Workload and PodGroup.
const Workloads = "workloads"

// WorkloadGates returns the feature gates of the areas that begin with Workloads, by the minor version of the area ("" is 1.36).
func WorkloadGates(minor string) map[string]bool {
	gates := map[string]bool{"GenericWorkload": true, "TopologyAwareWorkloadScheduling": true, "DRAWorkloadResourceClaims": true, "WorkloadWithJob": true}
	if minor == "" {
		gates["GangScheduling"], gates["WorkloadAwarePreemption"] = true, true
	} else {
		gates["CompositePodGroup"], gates["PodGroupPreemptionPolicy"] = true, true
	}
	return gates
}
