package storage

import (
	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// validateInlineVolume checks the inline volume of an attachment, which is migrated from a pod spec: a
// PersistentVolumeSpec with a CSI source and without the fields that are only allowed in a PersistentVolume.
func validateInlineVolume(at field.Cursor) {
	const context = " in the context of inline volumes"
	at.Child("claimRef").ForbidIf(at.Has("claimRef"), "may not be specified"+context)
	at.Child("capacity").ForbidIf(at.Len("capacity") > 0, "may not be specified"+context)
	at.Child("csi").RequireIf(!at.Has("csi"), "has to be specified"+context)
	policy := at.Child("persistentVolumeReclaimPolicy")
	podspec.AccessModes(at.Child("accessModes").Required())
	policy.ForbidIf(policy.String() != "" && policy.String() != "Retain", "may only be Retain"+context)
	at.Child("nodeAffinity").ForbidIf(at.Has("nodeAffinity"), "may not be specified"+context)
	alone := at.Object().Copy()
	delete(alone, "nodeAffinity") // a local volume would require the field
	core.CheckVolumeSource(at.With(alone), "")
	at.Child("storageClassName").ForbidIf(at.String("storageClassName") != "", "may not be specified"+context)
	at.Child("volumeMode").ForbidIf(at.Has("volumeMode") && at.String("volumeMode") != "Filesystem",
		"may not specify volumeMode other than Filesystem"+context)
}

func volumeAttachmentKind() kind.Kind {
	const spec = table.DocStorage + "VolumeAttachmentSpec"
	attacher := table.Doc("Attacher", spec, "attacher").At("spec", "attacher")
	attacher.Format = "name"
	return kind.Kind{
		Storage: "volumeattachments.storage.k8s.io",
		Gates: []kind.Gate{
			{Name: "MutableCSINodeAllocatableCount", Fields: []string{"status.attachError.errorCode", "status.detachError.errorCode"}},
		},
		Strategy: resource.Strategy{
			Checks: resource.Checks{
				Update:       []resource.Check{resource.CheckMeta, resource.CheckKind},
				Subresources: map[string][]resource.Check{"status": {resource.CheckMeta, resource.CheckKind}},
			},
			HasStatus: true, StatusKeeps: resource.KeptForStatus, ReturnDeletedObject: true, DenyUnconditionalUpdate: true,
		},
		Validate: validateAttachment,
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if inline := obj.At("spec", "source", "inlineVolumeSpec"); inline != nil {
				core.DefaultPersistentSource(inline)
			}
		}),
		Columns: []table.Column{table.Name(), attacher,
			table.Doc("PV", table.DocStorage+"VolumeAttachmentSource", "persistentVolumeName").At("spec", "source", "persistentVolumeName"),
			table.Doc("Node", spec, "nodeName").At("spec", "nodeName"),
			table.Doc("Attached", table.DocStorage+"VolumeAttachmentStatus", "attached").Bool("status", "attached"), table.Age()},
	}
}

func validateAttachment(ctx *resource.Context, at field.Cursor) {
	const largest, longest = 256 << 10, 1024
	attacher, source := at.Child("spec", "attacher"), at.Child("spec", "source")
	inline, volume := source.Child("inlineVolumeSpec"), source.Child("persistentVolumeName")
	if ctx.Since(37) && !at.Child("spec").Changed() {
		podspec.DeclaredDriverName(attacher)
	} else { // if the tag of the spec forbids a change, the tags of its fields are not checked
		podspec.DriverName(attacher)
	}
	switch {
	case !inline.Has() && !volume.Has():
		source.Missing("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.Has() && volume.Has():
		source.Forbidden("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.Has():
		validateInlineVolume(inline)
	case volume.String() == "":
		volume.Missing("must specify non empty persistentVolumeName")
	}
	at.Child("spec", "nodeName").OrEmpty().Check(field.DNS1123Subdomain)
	size := 0
	metadata := at.Child("status", "attachmentMetadata")
	for key, value := range object.StringMap(metadata.Object()) { // order does not matter
		size += len(key) + len(value)
	}
	if size > largest {
		metadata.TooLong(largest)
	}
	for _, name := range []string{"attachError", "detachError"} {
		failure := at.Child("status", name)
		if len(failure.String("message")) > longest { // the error for a long message states a different limit before 1.37
			limit := longest
			if !ctx.Since(37) {
				limit = largest
			}
			failure.Child("message").TooLong(limit)
		}
		failure.Child("errorCode").Min(0, field.RangeText(0, 1<<31-1))
	}
	volume.Check(field.DNS1123Subdomain)
	at.Child("spec").Declared(ctx.Since(37), func(c field.Cursor) field.Cursor {
		kind.ImmutableStruct(c, gotext.VolumeAttachmentSpec)
		return c
	})
}
