package storage

import (
	"path"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// validateInlineVolume checks the volume that an attachment describes itself, as one made from the spec of a pod: a
// PersistentVolumeSpec with a CSI source and nothing that only an object of its own can have.
func validateInlineVolume(p field.Path, spec object.Object) field.ErrorList {
	const context = "in the context of inline volumes"
	var errs field.ErrorList
	forbid := func(broken bool, name, detail string) {
		if broken {
			errs = append(errs, field.Forbidden(p.Child(name), detail+" "+context))
		}
	}
	forbid(spec.Has("claimRef"), "claimRef", "may not be specified")
	forbid(len(spec.Map("capacity")) > 0, "capacity", "may not be specified")
	if !spec.Has("csi") {
		errs = append(errs, field.Required(p.Child("csi"), "has to be specified "+context))
	}
	modes := spec.Strings("accessModes")
	if len(modes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), ""))
	}
	errs = append(errs, podspec.KnownAccessModes(p.Child("accessModes"), modes)...)
	policy, at := spec.String("persistentVolumeReclaimPolicy"), "persistentVolumeReclaimPolicy"
	forbid(policy != "" && policy != "Retain", at, "may only be Retain")
	forbid(spec.Has("nodeAffinity"), "nodeAffinity", "may not be specified")
	alone := spec.Copy()
	delete(alone, "nodeAffinity") // which nodes a local volume is on would have to be said there
	errs = append(errs, core.ValidateVolumeSource(p, "", alone)...)
	if spec.Has("hostPath") && path.Clean(spec.String("hostPath", "path")) == "/" && policy == "Recycle" {
		errs = append(errs, field.Forbidden(p.Child(at), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	forbid(spec.String("storageClassName") != "", "storageClassName", "may not be specified")
	forbid(spec.Has("volumeMode") && spec.String("volumeMode") != "Filesystem", "volumeMode",
		"may not specify volumeMode other than Filesystem")
	return errs
}

func volumeAttachmentKind() kind.Kind {
	const spec = table.DocStorage + "VolumeAttachmentSpec"
	attacher := table.Doc("Attacher", spec, "attacher")
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
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true, ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateAttachment(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateAttachment(obj)
				spec, was := obj.At("spec"), old.At("spec")
				if !gotext.Same("VolumeAttachmentSpec", spec, was) {
					errs = append(errs, field.Invalid(field.Root("spec"), gotext.Value("VolumeAttachmentSpec", spec), field.TextImmutable))
				}
				return errs
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if inline := obj.At("spec", "source", "inlineVolumeSpec"); inline != nil {
				core.DefaultPersistentSource(inline)
			}
		}),
		Columns: []table.Column{table.Name(), attacher, table.Doc("PV", table.DocStorage+"VolumeAttachmentSource", "persistentVolumeName"),
			table.Doc("Node", spec, "nodeName"), table.Doc("Attached", table.DocStorage+"VolumeAttachmentStatus", "attached").Of("boolean"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("spec", "attacher"), obj.String("spec", "source", "persistentVolumeName"),
				obj.String("spec", "nodeName"), obj.True("status", "attached"), table.AgeCell(now, obj))
		},
	}
}

func validateAttachment(obj object.Object) field.ErrorList {
	const largest, longest = 256 << 10, 1024
	p := field.Root("spec")
	errs := podspec.DriverName(p.Child("attacher"), obj.String("spec", "attacher"))
	name, named := obj.String("spec", "source", "persistentVolumeName"), obj.Has("spec", "source", "persistentVolumeName")
	switch inline := obj.Has("spec", "source", "inlineVolumeSpec"); {
	case !inline && !named:
		errs = append(errs, field.Required(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline && named:
		errs = append(errs, field.Forbidden(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline:
		errs = append(errs, validateInlineVolume(p.Child("source", "inlineVolumeSpec"), obj.At("spec", "source", "inlineVolumeSpec"))...)
	case named && name == "":
		errs = append(errs, field.Required(p.Child("source", "persistentVolumeName"), "must specify non empty persistentVolumeName"))
	}
	errs = append(errs, field.Check(p.Child("nodeName"), obj.String("spec", "nodeName"), field.DNS1123Subdomain)...)
	status, size := field.Root("status"), 0
	for key, value := range object.StringMap(obj.Map("status", "attachmentMetadata")) { // order does not matter
		size += len(key) + len(value)
	}
	if size > largest {
		errs = append(errs, field.TooLong(status.Child("attachmentMetadata"), largest))
	}
	for _, failure := range []string{"attachError", "detachError"} {
		e, at := obj.At("status", failure), status.Child(failure)
		if len(e.String("message")) > longest { // the text has another limit, in the server too
			errs = append(errs, field.TooLong(at.Child("message"), largest))
		}
		if code := e.Int64("errorCode"); code < 0 {
			errs = append(errs, field.Invalid(at.Child("errorCode"), code, field.RangeText(0, 1<<31-1)))
		}
	}
	if named {
		errs = append(errs, field.Check(p.Child("source", "persistentVolumeName"), name, field.DNS1123Subdomain)...)
	}
	return errs
}
