package volume

import (
	"fmt"
	"slices"
	"time"

	"github.com/kubesim/kubesim/sim/commit"
	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/claims"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// Driver is the provisioner of StorageClasses whose volumes the simulator creates.
const Driver = "csi.kubesim.io"

// driverFinalizer prevents the deletion of a volume until the driver has deleted its storage (external-provisioner).
const driverFinalizer = "external-provisioner.volume.kubernetes.io/finalizer"

// Provisioner simulates a storage system with its CSI driver. It creates volumes for claims of StorageClasses whose provisioner
// is Driver, expands them and deletes them, without delay, like the sidecars external-provisioner and external-resizer. Its
// capacity is unlimited, and its volumes can be used on every node. No such class exists until a client creates one:
//
//	kind: StorageClass
//	metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
//	provisioner: csi.kubesim.io
//	volumeBindingMode: WaitForFirstConsumer
func Provisioner() controller.Controller {
	return controller.Controller{Name: "volume-provisioner", FieldManager: "csi-provisioner", Component: Driver,
		User: resource.User{Name: "system:serviceaccount:kube-system:volume-provisioner", Groups: []string{"system:serviceaccounts",
			"system:serviceaccounts:kube-system", "system:authenticated"}},
		Watches: []controller.Watch{{Resource: claims.Claims}, {Resource: claims.Volumes}},
		Reconciler: controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			if key.Namespace == "" {
				return 0, dispose(api, key)
			}
			claim := api.Get(claims.Claims, key.Namespace, key.Name)
			switch {
			case claim == nil || claim.Annotations()[claims.Provisioner] != Driver:
				return 0, nil
			case claim.String("spec", "volumeName") == "":
				return 0, makeVolume(api, claim)
			}
			return 0, grow(api, claim)
		})}
}

// makeVolume creates the volume for a claim and records events. It does nothing if the volume exists, the claim is being deleted,
// the class does not exist, or the claim still waits for the scheduler to select a node.
func makeVolume(api *controller.Client, claim object.Object) *status.Status {
	class, name := claims.Class(api, claim), "pvc-"+claim.UID()
	delayed := class.String("volumeBindingMode") == "WaitForFirstConsumer"
	if class == nil || claim.DeletionTimestamp() != "" || delayed && !claims.Has(claim, claims.SelectedNode) || api.Item(claims.Volumes, "", name) != nil {
		return nil
	}
	_ = api.Event(claim, "Normal", "Provisioning", fmt.Sprintf("External provisioner is provisioning volume for claim \"%s/%s\"", claim.Namespace(), claim.Name()))
	keep := class.String("reclaimPolicy")
	meta := map[string]any{"name": name, "annotations": map[string]any{claims.ProvisionedBy: Driver}}
	if keep == "Delete" {
		meta["finalizers"] = []any{driverFinalizer}
	}
	spec := object.Object{"capacity": map[string]any{"storage": claims.Size(claim).String()}, "accessModes": claim.List("spec", "accessModes"),
		"persistentVolumeReclaimPolicy": keep, "storageClassName": class.Name(), "volumeMode": claim.String("spec", "volumeMode"),
		"claimRef": map[string]any{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": claim.Namespace(), "name": claim.Name(),
			"uid": claim.UID(), "resourceVersion": claim.ResourceVersion()},
		"csi": map[string]any{"driver": Driver, "volumeHandle": name}}
	if options := class.List("mountOptions"); len(options) > 0 {
		spec["mountOptions"] = options
	}
	if attributes := claim.String("spec", "volumeAttributesClassName"); attributes != "" {
		spec["volumeAttributesClassName"] = attributes
	}
	if _, s := api.Create(claims.Volumes, object.Object{"kind": "PersistentVolume", "apiVersion": "v1", "metadata": meta, "spec": map[string]any(spec)}); s != nil {
		return s
	}
	_ = api.Event(claim, "Normal", "ProvisioningSucceeded", "Successfully provisioned volume "+name)
	return nil
}

// grow expands the volume of a claim that requests more storage than the volume has.
func grow(api *controller.Client, claim object.Object) *status.Status {
	want, name := claims.Size(claim), claim.String("spec", "volumeName")
	volume := api.Get(claims.Volumes, "", name)
	has := quantity.Of(claim.Map("status", "capacity")["storage"])
	if claim.String("status", "phase") != "Bound" || want.Cmp(has) <= 0 || volume.String("spec", "csi", "driver") != Driver {
		return nil
	}
	if claims.Size(volume).Cmp(want) < 0 {
		volume.Set(want.String(), "spec", "capacity", "storage")
		if _, s := api.Update(claims.Volumes, "", volume); s != nil {
			return s
		}
	}
	claim.Set(want.String(), "status", "capacity", "storage")
	_, s := api.Update(claims.Claims, "status", claim)
	if s == nil {
		_ = api.Event(claim, "Normal", "VolumeResizeSuccessful", "Resize volume succeeded")
	}
	return s
}

// dispose deletes a released volume and its storage. It does nothing for other volumes.
func dispose(api *controller.Client, key controller.Key) *status.Status {
	volume := api.Get(claims.Volumes, "", key.Name)
	if volume.Annotations()[claims.ProvisionedBy] != Driver || volume.String("status", "phase") != "Released" || policy(volume) != "Delete" {
		return nil
	}
	if volume.DeletionTimestamp() == "" {
		if s := workload.Found(api.Delete(claims.Volumes, key, controller.Preconditions{})); s != nil {
			return s
		}
	}
	s := api.Patch(claims.Volumes, "", key, func(live object.Object) {
		live.SetFinalizers(slices.DeleteFunc(live.Finalizers(), func(f string) bool { return f == driverFinalizer }))
	})
	return workload.Found(s)
}

// Expander records an event for a claim that requests more storage than its volume has, because the volume's driver must expand it
// (pkg/controller/volume/expand).
func Expander() controller.Controller {
	c := controller.Account("persistentvolume-expander-controller", "expand-controller",
		controller.Func(func(api *controller.Client, key controller.Key) (time.Duration, *status.Status) {
			claim := api.Get(claims.Claims, key.Namespace, key.Name)
			volume := api.Get(claims.Volumes, "", claim.String("spec", "volumeName"))
			if claim.String("status", "phase") != "Bound" || volume == nil || volume.String("spec", "claimRef", "uid") != claim.UID() {
				return 0, nil
			}
			if claims.Size(claim).Cmp(quantity.Of(claim.Map("status", "capacity")["storage"])) > 0 {
				_ = api.Event(claim, "Normal", "ExternalExpanding", "waiting for an external controller to expand this PVC")
			}
			return 0, nil
		}), controller.Watch{Resource: claims.Claims, Keys: grown})
	c.Component = "volume_expand"
	return c
}

// grown returns the key of a claim whose requested or actual size has increased.
func grown(_ *controller.Client, c *commit.Commit) []controller.Key {
	if c.Deleted() || c.Created() {
		return nil
	}
	before, now := c.OldObject(), c.Object()
	has := func(claim object.Object) quantity.Quantity {
		return quantity.Of(claim.Map("status", "capacity")["storage"])
	}
	if claims.Size(now).Cmp(claims.Size(before)) > 0 || has(now).Cmp(has(before)) > 0 {
		return []controller.Key{{Namespace: c.Namespace, Name: c.Name}}
	}
	return nil
}
