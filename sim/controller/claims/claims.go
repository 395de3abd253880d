// Package claims matches persistent volumes and claims. It is shared by the scheduler and the volume controllers
// (component-helpers, storage/volume).
//
//	claim ─ ClassOf, Delayed ─▶ Match ─▶ volume ─ Bind ─▶ spec.claimRef ─ the binder ─▶ Bound
package claims

import (
	"slices"

	"github.com/kubesim/kubesim/sim/controller"
	"github.com/kubesim/kubesim/sim/controller/workload"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// These are the storage names of claims, volumes and classes.
const (
	Claims  = "persistentvolumeclaims"
	Volumes = "persistentvolumes"
	Classes = "storageclasses.storage.k8s.io"
)

// These annotations are exchanged between the scheduler, the binder and provisioners.
const (
	BindCompleted     = "pv.kubernetes.io/bind-completed"
	BoundByController = "pv.kubernetes.io/bound-by-controller"
	SelectedNode      = "volume.kubernetes.io/selected-node"
	ProvisionedBy     = "pv.kubernetes.io/provisioned-by"
	Provisioner       = "volume.kubernetes.io/storage-provisioner"
	BetaProvisioner   = "volume.beta.kubernetes.io/storage-provisioner"

	betaClass = "volume.beta.kubernetes.io/storage-class"
)

// NoProvisioner is the provisioner of classes whose volumes are created manually.
const NoProvisioner = "kubernetes.io/no-provisioner"

// ClassOf returns the StorageClass of a claim or volume, or "" if it has none.
func ClassOf(obj object.Object) string {
	if class, ok := obj.Annotations()[betaClass]; ok {
		return class
	}
	return obj.String("spec", "storageClassName")
}

// HasClass reports whether a claim specifies its StorageClass, even if that is "".
func HasClass(claim object.Object) bool {
	_, beta := claim.Annotations()[betaClass]
	return beta || claim.Has("spec", "storageClassName")
}

// Class returns the StorageClass object of a claim, or nil if the claim names none or it does not exist.
func Class(api *controller.Client, claim object.Object) object.Object {
	if name := ClassOf(claim); name != "" {
		return api.Get(Classes, "", name)
	}
	return nil
}

// Delayed reports whether a claim is bound only after a pod that uses it has been assigned to a node.
func Delayed(api *controller.Client, claim object.Object) bool {
	return Class(api, claim).String("volumeBindingMode") == "WaitForFirstConsumer"
}

// Bound reports whether a claim has a volume and the binder has completed the binding.
func Bound(claim object.Object) bool {
	return claim.String("spec", "volumeName") != "" && Has(claim, BindCompleted)
}

// Has reports whether an object has an annotation.
func Has(obj object.Object, annotation string) bool {
	return obj.Has("metadata", "annotations", annotation)
}

// BoundTo reports whether the claimRef of a volume refers to a claim, by name and, if the claimRef has a UID, by UID.
func BoundTo(volume, claim object.Object) bool {
	ref := volume.At("spec", "claimRef")
	return ref != nil && ref.String("name") == claim.Name() && ref.String("namespace") == claim.Namespace() &&
		(ref.String("uid") == "" || ref.String("uid") == claim.UID())
}

// Bind sets the claimRef of a volume to a claim. It reports whether anything changed.
func Bind(volume, claim object.Object) (changed bool) {
	meant := BoundTo(volume, claim)
	if !meant || volume.String("spec", "claimRef", "uid") != claim.UID() {
		volume.Set(map[string]any{"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": claim.Namespace(), "name": claim.Name(),
			"uid": claim.UID(), "resourceVersion": claim.ResourceVersion()}, "spec", "claimRef")
		changed = true
	}
	if !meant && !Has(volume, BoundByController) {
		volume.Set("yes", "metadata", "annotations", BoundByController)
		changed = true
	}
	return changed
}

// Size returns the storage that a claim requests or that a volume provides.
func Size(obj object.Object) quantity.Quantity {
	if obj.Kind() == "PersistentVolume" {
		return quantity.Of(obj.Map("spec", "capacity")["storage"])
	}
	return quantity.Of(obj.Map("spec", "resources", "requests")["storage"])
}

// Reaches reports whether a volume can be used on a node with the given labels.
func Reaches(volume object.Object, labels map[string]string) bool {
	return !volume.Has("spec", "nodeAffinity", "required") ||
		workload.NodeTermsOf(volume.Objects("spec", "nodeAffinity", "required", "nodeSelectorTerms")).Match("", labels)
}

// HasModes reports whether a volume has all access modes that a claim requests.
func HasModes(claim, volume object.Object) bool {
	have := volume.Strings("spec", "accessModes")
	return !slices.ContainsFunc(claim.Strings("spec", "accessModes"), func(m string) bool { return !slices.Contains(have, m) })
}

// SameMode reports whether the claim and the volume have the same volume mode: file system or block.
func SameMode(claim, volume object.Object) bool {
	mode := func(obj object.Object) string {
		if m := obj.String("spec", "volumeMode"); m != "" {
			return m
		}
		return "Filesystem"
	}
	return mode(claim) == mode(volume)
}

// Place is the node on which a volume will be used. A nil Place means that the node is not known yet.
type Place struct{ Labels map[string]string }

// Match returns the best volume for a claim: the one that is already bound to the claim, or else the smallest suitable one. It
// returns nil if there is none (volume.FindMatchingVolume). If at is nil, a delayed claim matches only a volume that is already
// bound to it.
func Match(claim object.Object, volumes []object.Object, at *Place, delayed bool) (best object.Object) {
	labels := selector.Labels{}
	if claim.Has("spec", "selector") {
		labels, _ = selector.FromLabelSelector(claim.Map("spec", "selector"))
	}
	wanted, class := Size(claim), ClassOf(claim)
	for _, v := range volumes {
		if v.Has("spec", "claimRef") && !BoundTo(v, claim) || Size(v).Cmp(wanted) < 0 || !SameMode(claim, v) ||
			v.String("spec", "volumeAttributesClassName") != claim.String("spec", "volumeAttributesClassName") || v.DeletionTimestamp() != "" {
			continue
		}
		reaches := at == nil || Reaches(v, at.Labels)
		switch {
		case BoundTo(v, claim) && !reaches:
			return nil
		case BoundTo(v, claim):
			return v
		case at == nil && delayed:
		case v.String("status", "phase") != "Available", !labels.Matches(v.Labels()), ClassOf(v) != class, !reaches:
		case at != nil && !HasModes(claim, v):
		case best == nil || Size(best).Cmp(Size(v)) > 0:
			best = v
		}
	}
	return best
}

// Of returns the name of the claim to which a volume of the named pod refers, and reports whether that claim is ephemeral: created
// for the pod. If the volume does not refer to a claim, the name is empty.
func Of(pod string, volume object.Object) (name string, ephemeral bool) {
	switch {
	case volume.Has("persistentVolumeClaim"):
		return volume.String("persistentVolumeClaim", "claimName"), false
	case volume.Has("ephemeral"):
		return pod + "-" + volume.String("name"), true
	}
	return "", false
}

// OwnedBy reports whether the controller of an object has the given UID.
func OwnedBy(it *resource.Item, uid string) bool {
	return workload.ControllerOf(it.Object()).String("uid") == uid
}

// These are names that the controller that attaches volumes shares with kubelets.
const (
	AttachDetach = "persistentvolume-attach-detach-controller"
	Managed      = "volumes.kubernetes.io/controller-managed-attach-detach" // the annotation of a node whose volumes the controller attaches
)

// UniqueName returns the name of a CSI volume in the status of nodes.
func UniqueName(volume object.Object) string {
	return "kubernetes.io/csi/" + volume.String("spec", "csi", "driver") + "^" + volume.String("spec", "csi", "volumeHandle")
}

// Attachable reports whether a volume has to be attached to the nodes that use it: it is a CSI volume, and its driver does not say that
// it attaches nothing.
func Attachable(api *controller.Client, volume object.Object) bool {
	driver := volume.String("spec", "csi", "driver")
	if driver == "" {
		return false
	}
	required, said := api.GetShared("csidrivers.storage.k8s.io", "", driver).Bool("spec", "attachRequired")
	return required || !said
}
