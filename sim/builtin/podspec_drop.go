package builtin

import (
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// dropDisabledPodFields removes from spec the fields behind feature gates that 1.36 has off by default, unless old, the
// spec before an update, uses them already. Nil specs are fine.
func dropDisabledPodFields(spec, old map[string]any) {
	for _, source := range []string{"clusterTrustBundle", "podCertificate"} { // ClusterTrustBundleProjection, PodCertificateRequest
		if !usesProjection(old, source) {
			dropProjections(spec, source)
		}
	}
	if old["schedulingGroup"] == nil { // GenericWorkload
		delete(spec, "schedulingGroup")
	}
	if !usesStopSignals(old) { // ContainerStopSignals
		dropStopSignals(spec)
	}
}

func usesProjection(spec object.Object, name string) bool {
	for _, v := range objectsAt(spec, "volumes") {
		for _, source := range objectsAt(v, "projected", "sources") {
			if present(source, name) {
				return true
			}
		}
	}
	return false
}

func dropProjections(spec object.Object, name string) {
	for _, v := range objectsAt(spec, "volumes") {
		for _, source := range objectsAt(v, "projected", "sources") {
			delete(source, name)
		}
	}
}

func usesStopSignals(spec object.Object) bool {
	used := false
	visitContainers(spec, "", func(c object.Object, _ field.Path) {
		used = used || present(c, "lifecycle", "stopSignal")
	})
	return used
}

func dropStopSignals(spec object.Object) {
	visitContainers(spec, "", func(c object.Object, _ field.Path) {
		lifecycle := objectAt(c, "lifecycle")
		if !present(lifecycle, "stopSignal") {
			return
		}
		delete(lifecycle, "stopSignal")
		if len(lifecycle) == 0 {
			delete(c, "lifecycle")
		}
	})
}

// statusLists are the lists of container states in a pod's status.
var statusLists = []string{"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}

// dropStatusFields does for the status what dropDisabledPodFields does for the spec.
func dropStatusFields(status, old object.Object) {
	if len(old.List("nodeAllocatableResourceClaimStatuses")) == 0 { // DRANodeAllocatableResources
		delete(status, "nodeAllocatableResourceClaimStatuses")
	}
	if usesVolumeStatus(old) { // ImageVolumeWithDigest
		return
	}
	for _, list := range statusLists {
		for _, c := range objectsAt(status, list) {
			for _, mount := range objectsAt(c, "volumeMounts") {
				delete(mount, "volumeStatus")
			}
		}
	}
}

func usesVolumeStatus(status object.Object) bool {
	for _, list := range statusLists {
		for _, c := range objectsAt(status, list) {
			for _, mount := range objectsAt(c, "volumeMounts") {
				if present(mount, "volumeStatus") {
					return true
				}
			}
		}
	}
	return false
}
