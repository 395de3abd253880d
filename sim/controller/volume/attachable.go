package volume

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
)

// attachable is a volume that pods on a node need.
type attachable struct {
	volume object.Object
	pods   []object.Object
}

// attachmentName returns the name of the VolumeAttachment of a volume on a node (csi.getAttachmentName).
func attachmentName(volume object.Object, node string) string {
	return fmt.Sprintf("csi-%x", sha256.Sum256([]byte(volume.String("spec", "csi", "volumeHandle")+volume.String("spec", "csi", "driver")+node)))
}

// needed returns the volumes that have to be attached to a node, by name.
func needed(api *controller.Client, node string) map[string]*attachable {
	all := map[string]*attachable{}
	for _, it := range api.Indexed(workload.Pods, node) {
		if !workload.PodOf(it).UsesVolumeClaims || isTerminated(it.Shared()) {
			continue
		}
		pod := it.Object()
		for _, v := range pod.Objects("spec", "volumes") {
			name, _ := claims.Of(it.Name, v)
			if name == "" {
				continue
			}
			claim := api.GetShared(claims.Claims, it.Namespace, name)
			volume := api.Get(claims.Volumes, "", claim.String("spec", "volumeName"))
			if volume == nil || !claims.Bound(claim) || !claims.Attachable(api, volume) {
				continue
			}
			if all[volume.Name()] == nil {
				all[volume.Name()] = &attachable{volume: volume}
			}
			all[volume.Name()].pods = append(all[volume.Name()].pods, pod)
		}
	}
	return all
}

// isTerminated reports whether no container of a pod runs any more (util/pod.IsPodTerminated).
func isTerminated(pod object.Object) bool {
	if phase := pod.String("status", "phase"); phase == "Failed" || phase == "Succeeded" {
		return true
	}
	return pod.DeletionTimestamp() != "" && !slices.ContainsFunc(pod.Objects("status", "containerStatuses"), func(s object.Object) bool {
		return !s.Has("state", "terminated") && !s.Has("state", "waiting")
	})
}
