package volume

import (
	"fmt"
	"strings"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// preResize is the annotation of volumes with the size before the expansion of their file systems.
const preResize = "volume.alpha.kubernetes.io/pre-resize-capacity"

// bind binds a volume and a claim to each other in four steps, each of which is one write. It returns the first error of a write; a
// later call resumes at that step (PersistentVolumeController.bind).
func bind(api *controller.Client, volume, claim object.Object) (failed *status.Status) {
	if claims.Bind(volume, claim) {
		if volume, failed = api.Update(claims.Volumes, "", volume); failed != nil {
			return failed
		}
	}
	if volume, failed = setVolume(api, volume, "Bound"); failed != nil {
		return failed
	}
	named := claim.String("spec", "volumeName") == volume.Name()
	if !named || !claims.Has(claim, claims.BindCompleted) {
		if !named {
			claim.Set(volume.Name(), "spec", "volumeName")
			if !claims.Has(claim, claims.BoundByController) {
				claim.Set("yes", "metadata", "annotations", claims.BoundByController)
			}
		}
		claim.Set("yes", "metadata", "annotations", claims.BindCompleted)
		if claim, failed = api.Update(claims.Claims, "", claim); failed != nil {
			return failed
		}
	}
	_, failed = setClaim(api, claim, "Bound", volume)
	return failed
}

// setVolume sets the phase of a volume and returns the stored volume. It writes nothing if the phase is already set.
func setVolume(api *controller.Client, volume object.Object, phase string) (object.Object, *status.Status) {
	if volume.String("status", "phase") == phase {
		return volume, nil
	}
	volume.Set(phase, "status", "phase")
	volume.Remove("status", "message")
	return api.Update(claims.Volumes, "status", volume)
}

// failVolume marks a volume as failed and records an event, unless it has already failed.
func failVolume(api *controller.Client, volume object.Object, reason, message string) *status.Status {
	if volume.String("status", "phase") == "Failed" {
		return nil
	}
	volume.Set("Failed", "status", "phase")
	volume.Set(message, "status", "message")
	volume, s := api.Update(claims.Volumes, "status", volume)
	if s == nil {
		_ = api.Event(volume, "Warning", reason, message)
	}
	return s
}

// setClaim sets the phase of a claim, and the status fields that a claim copies from its volume, and returns the stored claim
// (updateClaimStatus). volume may be nil.
func setClaim(api *controller.Client, claim object.Object, phase string, volume object.Object) (object.Object, *status.Status) {
	before := claim.Copy()
	entered := claim.String("status", "phase") != phase
	claim.Set(phase, "status", "phase")
	switch {
	case volume == nil:
		for _, field := range []string{"accessModes", "capacity", "currentVolumeAttributesClassName"} {
			claim.Remove("status", field)
		}
	default:
		claim.Set(volume.List("spec", "accessModes"), "status", "accessModes")
		if !entered {
			break
		}
		if size, ok := volume.Annotations()[preResize]; ok {
			claim.Set(size, "status", "capacity", "storage")
		} else if quantity.Of(claim.Map("status", "capacity")["storage"]).Cmp(claims.Size(volume)) != 0 {
			claim.Set(object.Copy(volume.Map("spec", "capacity")), "status", "capacity")
		}
		if class := volume.String("spec", "volumeAttributesClassName"); class != "" && before.String("status", "phase") == "Pending" {
			claim.Set(class, "status", "currentVolumeAttributesClassName")
		}
	}
	if object.Equal(before.Map("status"), claim.Map("status")) {
		return claim, nil
	}
	return api.Update(claims.Claims, "status", claim)
}

// syncVolume sets the phase of a volume according to its claim, and reclaims it if the claim is gone
// (PersistentVolumeController.syncVolume).
func syncVolume(api *controller.Client, volume object.Object) *status.Status {
	ref := volume.At("spec", "claimRef")
	if ref == nil || ref.String("uid") == "" {
		_, s := setVolume(api, volume, "Available")
		return s
	}
	key := claimKey(ref)
	claim := api.Get(claims.Claims, key.Namespace, key.Name)
	if claim == nil || claim.UID() != ref.String("uid") {
		if claim = api.Live(claims.Claims, key.Namespace, key.Name); claim.UID() != ref.String("uid") {
			return release(api, volume)
		}
	}
	switch name := claim.String("spec", "volumeName"); {
	case name == "" && !claims.SameMode(claim, volume):
		_ = api.Event(volume, "Warning", "VolumeMismatch",
			fmt.Sprintf("Cannot bind PersistentVolume to requested PersistentVolumeClaim %q due to incompatible volumeMode.", claim.Name()))
		_ = api.Event(claim, "Warning", "VolumeMismatch",
			fmt.Sprintf("Cannot bind PersistentVolume %q to requested PersistentVolumeClaim due to incompatible volumeMode.", volume.Name()))
		return nil
	case name == "":
		api.Enqueue(key)
		return nil
	case name == volume.Name():
		_, s := setVolume(api, volume, "Bound")
		return s
	case claims.Has(volume, claims.ProvisionedBy) && policy(volume) == "Delete":
		return release(api, volume)
	}
	return unbind(api, volume)
}

func policy(volume object.Object) string {
	return volume.String("spec", "persistentVolumeReclaimPolicy")
}

// unbind unbinds a volume from a claim that is bound to another volume. If the binder had bound it, the volume becomes free.
// Otherwise it stays reserved for the claim.
func unbind(api *controller.Client, volume object.Object) *status.Status {
	if claims.Has(volume, claims.BoundByController) {
		volume.Remove("spec", "claimRef")
		volume.Remove("metadata", "annotations", claims.BoundByController)
	} else {
		volume.Remove("spec", "claimRef", "uid")
	}
	volume, s := api.Update(claims.Volumes, "", volume)
	if s == nil {
		_, s = setVolume(api, volume, "Available")
	}
	return s
}

// release reclaims a volume whose claim no longer exists.
func release(api *controller.Client, volume object.Object) (failed *status.Status) {
	if phase := volume.String("status", "phase"); phase != "Released" && phase != "Failed" {
		if volume, failed = setVolume(api, volume, "Released"); failed != nil {
			return failed
		}
	}
	switch policy(volume) {
	case "Recycle":
		return failVolume(api, volume, "VolumeFailedRecycle", "No recycler plugin found for the volume!")
	case "Delete":
		return deleteVolume(api, volume)
	}
	return nil
}

// deleteVolume deletes a volume, unless another driver is responsible for it. kube-controller-manager can delete volumes of
// several types. kubesim supports only directories below /tmp of its own machine.
func deleteVolume(api *controller.Client, volume object.Object) *status.Status {
	const plugin = "kubernetes.io/"
	by, provisioned := volume.Annotations()[claims.ProvisionedBy]
	switch {
	case provisioned && !strings.HasPrefix(by, plugin), volume.Has("spec", "csi"):
		return nil // another driver deletes the volume
	case provisioned && by != "":
		return failVolume(api, volume, "VolumeFailedDelete", "no volume plugin matched name: "+by)
	case !volume.Has("spec", "hostPath"):
		return failVolume(api, volume, "VolumeFailedDelete",
			fmt.Sprintf("error getting deleter volume plugin for volume %q: no deletable volume plugin matched", volume.Name()))
	}
	path := volume.String("spec", "hostPath", "path")
	if !strings.HasPrefix(path, "/tmp/") || len(path) == len("/tmp/") {
		return failVolume(api, volume, "VolumeFailedDelete",
			fmt.Sprintf("host_path deleter only supports /tmp/.+ but received provided %s", path))
	}
	return workload.Found(api.Delete(claims.Volumes, controller.Key{Name: volume.Name()}, controller.Preconditions{}))
}

// podsWith returns the pods that use a claim, by name or as an ephemeral volume.
func podsWith(api *controller.Client, claim object.Object) (pods []*resource.Item) {
	api.Items(workload.Pods, claim.Namespace(), func(it *resource.Item) bool {
		if workload.PodOf(it).UsesVolumeClaims {
			for _, v := range it.Object().Objects("spec", "volumes") {
				name, ephemeral := claims.Of(it.Name, v)
				if name == claim.Name() && (!ephemeral || workload.ControllerOf(claim).String("uid") == workload.PodOf(it).UID) {
					pods = append(pods, it)
					break
				}
			}
		}
		return true
	})
	return pods
}
