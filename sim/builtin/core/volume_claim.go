package core

import (
	"slices"
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

func validateVolumeClaim(_ *resource.Context, obj object.Object) field.ErrorList {
	return podspec.ValidateClaim(obj.At("spec"), nil)
}

func volumeClaimUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return volumeClaimStatus(obj)
	}
	spec, was := obj.At("spec"), old.At("spec")
	errs := podspec.ValidateClaim(spec, was)
	now, before := obj.Copy().At("spec"), old.Copy().At("spec")
	errs = append(errs, maskClaimChange(obj, old, now, before)...)
	if !gotext.Same("PersistentVolumeClaimSpec", now, before) {
		errs = append(errs, field.Forbidden(field.Root("spec"), "spec is immutable after creation except resources.requests and "+
			"volumeAttributesClassName for bound claims\n"+gotext.Diff("PersistentVolumeClaimSpec", before, now)))
	}
	size, had := quantity.Of(spec.Map("resources", "requests")["storage"]), quantity.Of(was.Map("resources", "requests")["storage"])
	if size.Cmp(had) < 0 && size.Cmp(quantity.Of(old.Map("status", "capacity")["storage"])) <= 0 {
		errs = append(errs, field.Forbidden(field.Root("spec.resources.requests.storage"), "field can not be less than status.capacity"))
	}
	errs = append(errs, kind.Immutable(field.Root("volumeMode"), spec["volumeMode"], was["volumeMode"])...)
	class := field.Root("spec.volumeAttributesClassName")
	if object.Equal(spec["volumeAttributesClassName"], was["volumeAttributesClassName"]) || !old.Has("status", "currentVolumeAttributesClassName") {
		return errs
	}
	if !spec.Has("volumeAttributesClassName") {
		errs = append(errs, field.Forbidden(class, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil"))
	} else if spec.String("volumeAttributesClassName") == "" {
		errs = append(errs, field.Forbidden(class, "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil"))
	}
	return errs
}

// maskClaimChange makes the two specs equal where a change is allowed: the volume once, the storage class once, the size
// and the attributes class of a bound claim.
func maskClaimChange(obj, old, now, before object.Object) field.ErrorList {
	var errs field.ErrorList
	keep := func(name string) {
		if v, ok := before[name]; ok {
			now[name] = v
		} else {
			delete(now, name)
		}
	}
	if before.String("volumeName") == "" {
		before["volumeName"] = now.String("volumeName")
		now["volumeName"] = now.String("volumeName")
	}
	oldClass, annotated := old.Annotations()[betaStorageClass]
	newClass, stays := obj.Annotations()[betaStorageClass]
	set, class := now.Has("storageClassName") && !before.Has("storageClassName"), now.String("storageClassName")
	if annotated && set && class == oldClass && (!stays || newClass == oldClass) {
		delete(now, "storageClassName")
	} else {
		if newClass != oldClass {
			errs = append(errs, field.Invalid(field.Root("metadata.annotations").Child(betaStorageClass), newClass, field.TextImmutable))
		}
		if set && (!annotated || class == oldClass) {
			keep("storageClassName")
		}
	}
	if obj.String("status", "phase") != "Bound" {
		return errs
	}
	if requests := now.Map("resources", "requests"); requests != nil {
		requests["storage"] = quantity.Of(before.Map("resources", "requests")["storage"]).String()
	}
	keep("volumeAttributesClassName")
	return errs
}

var resizeStates = []string{"ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible",
	"NodeResizePending"}

func volumeClaimStatus(obj object.Object) field.ErrorList {
	var errs field.ErrorList
	if len(obj.List("spec", "accessModes")) == 0 {
		errs = append(errs, field.Required(field.Root("Spec.accessModes"), ""))
	}
	p := field.Root("status")
	capacity := obj.Map("status", "capacity")
	for _, name := range object.SortedKeys(capacity) {
		errs = append(errs, basicAmount(p.Child("capacity").Key(name), quantity.Of(capacity[name]).Value())...)
	}
	states := object.StringMap(obj.Map("status", "allocatedResourceStatuses"))
	for _, name := range object.SortedKeys(states) {
		at := p.Child("allocatedResourceStatuses")
		errs = append(errs, claimResource(at, name)...)
		if !slices.Contains(resizeStates, states[name]) {
			errs = append(errs, field.NotSupported(at, name, kind.SortedSet(resizeStates)...))
		}
	}
	allocated := obj.Map("status", "allocatedResources")
	for _, name := range object.SortedKeys(allocated) {
		at, q := p.Child("allocatedResources"), quantity.Of(allocated[name])
		if bad := claimResource(at, name); len(bad) > 0 {
			errs = append(errs, bad...)
			continue
		}
		errs = append(errs, basicAmount(at.Key(name), q.Value())...)
	}
	return errs
}

// claimResource checks the name of something that a claim has been given: storage, or a resource of somebody else.
func claimResource(p field.Path, name string) field.ErrorList {
	if errs := field.Check(p, name, field.QualifiedName); len(errs) > 0 {
		return errs
	}
	if podspec.IsNativeResource(name) && name != "storage" {
		return field.ErrorList{field.NotSupported(p, name, "storage")}
	}
	return nil
}

func warnVolumeClaim(ctx *resource.Context, obj, _ object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	if _, ok := obj.Annotations()[betaStorageClass]; ok {
		ctx.Warn("metadata.annotations[" + betaStorageClass + `]: deprecated since v1.8; use "storageClassName" attribute instead`)
	}
	for _, list := range []string{"requests", "limits"} {
		if q := quantity.Of(obj.Map("spec", "resources", list)["storage"]); q.MilliValue()%1000 != 0 {
			ctx.Warn("spec.resources." + list + "[storage]: fractional byte value " + strconv.Quote(q.String()) + " is invalid, must be an integer")
		}
	}
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
	p := field.Root("spec.nodeAffinity.required.nodeSelectorTerms")
	for i, term := range obj.Objects("spec", "nodeAffinity", "required", "nodeSelectorTerms") {
		for j, e := range term.Objects("matchExpressions") {
			if text, ok := podspec.DeprecatedNodeLabels[e.String("key")]; ok {
				ctx.Warn(p.Index(i).Child("matchExpressions").Index(j).Child("key").String() + ": " + e.String("key") + " is " + text)
			}
		}
	}
	for _, old := range []struct{ name, shown, text string }{
		{"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
		{"photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
		{"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
		{"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
		{"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
		{"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
	} {
		if obj.Has("spec", old.name) {
			ctx.Warn("spec." + old.shown + ": " + old.text)
		}
	}
}
