package core

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func validateVolumeClaim(_ *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	podspec.CheckClaim(spec)
	if !at.Updates() {
		return
	}
	old, was := at.Old(), spec.Old()
	now, before := at.Object().Copy().At("spec"), old.Copy().At("spec")
	mirrorDataSource(before, before) // an earlier version has stored only one of the fields
	maskClaimChange(at, now, before)
	if !gotext.Same(gotext.PersistentVolumeClaimSpec, now, before) {
		spec.Forbidden("spec is immutable after creation except resources.requests and " +
			"volumeAttributesClassName for bound claims\n" + gotext.Diff(gotext.PersistentVolumeClaimSpec, before, now))
	}
	storage := spec.Child("resources", "requests", "storage")
	size, had := quantity.Of(storage.Value()), quantity.Of(was.Map("resources", "requests")["storage"])
	storage.ForbidIf(size.Cmp(had) < 0 && size.Cmp(quantity.Of(old.Map("status", "capacity")["storage"])) <= 0,
		"field can not be less than status.capacity")
	spec.Child("volumeMode").ReportAt(at.Child("volumeMode")).Immutable()
	const text = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	class := spec.Child("volumeAttributesClassName")
	if object.Equal(class.Value(), was["volumeAttributesClassName"]) || !old.Has("status", "currentVolumeAttributesClassName") {
		return
	}
	class.ForbidIf(!class.Has(), "update to nil"+text).ForbidIf(class.Value() == "", "update to empty string"+text)
}

// maskClaimChange makes two specs equal in all fields that an update may change: the volume and the storage class if they were
// not set before, and the size and the attributes class of a bound claim.
func maskClaimChange(at field.Cursor, now, before object.Object) {
	if before.String("volumeName") == "" {
		before["volumeName"] = now.String("volumeName")
		now["volumeName"] = now.String("volumeName")
	}
	annotation := at.Child("metadata", "annotations", betaStorageClass).OrEmpty()
	oldClass, annotated := at.Old().Annotations()[betaStorageClass]
	newClass, stays := at.Object().Annotations()[betaStorageClass]
	set, class := now.Has("storageClassName") && !before.Has("storageClassName"), now.String("storageClassName")
	if annotated && set && class == oldClass && (!stays || newClass == oldClass) {
		delete(now, "storageClassName")
	} else {
		annotation.InvalidIf(newClass != oldClass, field.TextImmutable)
		if set && (!annotated || class == oldClass) {
			kind.KeepOld(now, before, "storageClassName")
		}
	}
	if at.String("status", "phase") != "Bound" {
		return
	}
	if requests := now.Map("resources", "requests"); requests != nil {
		requests["storage"] = quantity.Of(before.Map("resources", "requests")["storage"]).String()
	}
	kind.KeepOld(now, before, "volumeAttributesClassName")
}

var resizeStates = []string{"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
	"NodeResizePending"}

func volumeClaimStatus(_ *resource.Context, at field.Cursor) {
	at.Child("spec", "accessModes").ReportAt(at.Child("Spec", "accessModes")).Required()
	for _, amount := range at.Child("status").EachKey("capacity") {
		basicAmount(amount)
	}
	healthConditions(at.Child("status", "healthStatus", "healthConditions"))
	states := at.Child("status", "allocatedResourceStatuses")
	for name, state := range states.EachKey() {
		claimResource(states, name)
		if !slices.Contains(resizeStates, state.String()) {
			states.NotSupported(name, kind.SortedSet(resizeStates)...)
		}
	}
	allocated := at.Child("status", "allocatedResources")
	for name, amount := range allocated.EachKey() {
		if claimResource(allocated, name) {
			basicAmount(amount)
		}
	}
}

// claimResource checks the name of a resource in allocatedResources, which must be storage or an extended resource. ok reports
// whether the name is valid.
func claimResource(at field.Cursor, name string) (ok bool) {
	switch {
	case len(field.QualifiedName(name)) > 0:
		at.With(name).Check(field.QualifiedName)
	case podspec.IsNativeResource(name) && name != "storage":
		at.NotSupported(name, "storage")
	default:
		return true
	}
	return false
}

func warnVolumeClaim(ctx *resource.Context, obj, _ object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	if _, ok := obj.Annotations()[betaStorageClass]; ok {
		ctx.Warn("metadata.annotations[" + betaStorageClass + `]: deprecated since v1.8; use "storageClassName" attribute instead`)
	}
	kind.WarnClaimSize(ctx, field.Root("spec"), obj)
}

func warnPersistentVolume(ctx *resource.Context, obj, _ object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	for _, old := range [][2]string{{betaStorageClass, "since v1.8; use \"storageClassName\""}, {"volume.beta.kubernetes.io/mount-options", "since v1.31; use \"mountOptions\""}} {
		if _, ok := obj.Annotations()[old[0]]; ok {
			ctx.Warn("metadata.annotations[" + old[0] + "]: deprecated " + old[1] + " attribute instead")
		}
	}
	if obj.String("spec", "persistentVolumeReclaimPolicy") == "Recycle" {
		ctx.Warn("spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	for term := range field.CursorAt(obj, nil).Each("spec", "nodeAffinity", "required", "nodeSelectorTerms") {
		for e := range term.Each("matchExpressions") {
			if text, ok := podspec.DeprecatedNodeLabels[e.String("key")]; ok {
				ctx.Warn(e.Path("key").String() + ": " + e.String("key") + " is " + text)
			}
		}
	}
	for _, name := range []string{"cephfs", "photonPersistentDisk", "scaleIO", "storageos", "glusterfs", "rbd"} {
		if shown, text := podspec.DeprecatedVolume(name); obj.Has("spec", name) {
			ctx.Warn("spec." + shown + ": " + text)
		}
	}
}

// volumeClaimQuota describes how PersistentVolumeClaims count against a ResourceQuota.
var volumeClaimQuota = resource.Quota{Each: []string{claims}, Limits: volumeClaimLimit, Uses: volumeClaimUses, Scopes: volumeClaimScopes, Updates: volumeClaimUpdates}

const (
	claims          = "persistentvolumeclaims"
	classSuffix     = ".storageclass.storage.k8s.io/" // follows the storage class and precedes the resource in the name of a limit
	requestsStorage = "requests.storage"
)

func volumeClaimLimit(_ *resource.Context, name string) bool {
	_, of, classed := strings.Cut(name, classSuffix)
	return name == requestsStorage || classed && (of == claims || of == requestsStorage)
}

// volumeClaimUses returns the amounts that a claim uses: the claim itself and its storage, in total and for its storage
// class. The storage is the requested or the allocated amount, whichever is greater.
func volumeClaimUses(_ *resource.Context, claim object.Object) resource.Amounts {
	sum := resource.Amounts{}
	storage, asks := resource.AmountsAt(claim, "spec", "resources", "requests")["storage"]
	if asks {
		if given, ok := resource.AmountsAt(claim, "status", "allocatedResources")["storage"]; ok && given.Cmp(storage) > 0 {
			storage = given
		}
		storage = storage.RoundUp(0)
		sum[requestsStorage] = storage
	}
	if class := cmp.Or(claim.Annotations()[betaStorageClass], claim.String("spec", "storageClassName")); class != "" {
		sum[class+classSuffix+claims] = resource.Count(1)
		if asks {
			sum[class+classSuffix+requestsStorage] = storage
		}
	}
	return sum
}

// volumeClaimUpdates reports whether an update is checked against quotas. Updates of the status are included because it
// contains the allocated amount.
func volumeClaimUpdates(ctx *resource.Context, _, _ object.Object) bool {
	return ctx.Subresource == "" || ctx.Subresource == "status"
}

// volumeClaimScopes defines the scopes of claims: a claim counts for its current attributes class, for its desired one, and for one
// to which it is being changed.
var volumeClaimScopes = map[string]resource.QuotaScope{"VolumeAttributesClass": classOf([]string{"spec", "volumeAttributesClassName"},
	[]string{"status", "currentVolumeAttributesClassName"}, []string{"status", "modifyVolumeStatus", "targetVolumeAttributesClassName"})}
