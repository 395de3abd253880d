package core

import (
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

const betaStorageClass = "volume.beta.kubernetes.io/storage-class"

func persistentVolumeKind() kind.Kind {
	const spec, status = table.DocCore + "PersistentVolumeSpec", table.DocCore + "PersistentVolumeStatus"
	return kind.Kind{
		Storage: "persistentvolumes",
		Gates:   []kind.Gate{{Name: "VolumeAttributesClass", Fields: []string{"spec.volumeAttributesClassName"}}},
		Strategy: resource.Strategy{
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckFirst, resource.CheckMeta, resource.CheckKind}},
			HasStatus: true, ReturnDeletedObject: true,
			PrepareForCreate: func(ctx *resource.Context, obj object.Object) {
				obj["status"] = map[string]any{"phase": "Pending", "lastPhaseTransitionTime": object.Time(ctx.Now)}
			},
			PrepareForUpdate: preparePhaseTime,
			Warn:             warnPersistentVolume,
		},
		Validate: validatePersistentVolume, ValidateFirst: validateVolumeAsNew,
		ValidateStatus: func(*resource.Context, field.Cursor) {},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			spec := kind.ObjectAt(obj, "spec")
			kind.SetEmpty(spec, "Retain", "persistentVolumeReclaimPolicy")
			spec.SetDefault("Filesystem", "volumeMode")
			DefaultPersistentSource(spec)
			kind.SetEmpty(obj, "Pending", "status", "phase")
		}),
		Columns: []table.Column{table.Name(),
			table.Doc("Capacity", spec, "capacity").Cell(func(obj object.Object) any { return quantity.Of(obj.Map("spec", "capacity")["storage"]).String() }),
			table.Doc("Access Modes", spec, "accessModes").Cell(func(obj object.Object) any { return shortModes(obj.Strings("spec", "accessModes")) }),
			table.Doc("Reclaim Policy", spec, "persistentVolumeReclaimPolicy").At("spec", "persistentVolumeReclaimPolicy"),
			table.Doc("Status", status, "phase").Cell(phaseCell),
			table.Doc("Claim", spec, "claimRef").Cell(claimCell),
			table.Text("StorageClass", "StorageClass of the pv").Cell(classCell),
			table.Text("VolumeAttributesClass", "VolumeAttributesClass of the pv").Given(table.Unset, "spec", "volumeAttributesClassName"),
			table.Doc("Reason", status, "reason").At("status", "reason"), table.Age(),
			table.Doc("VolumeMode", spec, "volumeMode").Wide().Given(table.Unset, "spec", "volumeMode")},
	}
}

func persistentVolumeClaimKind() kind.Kind {
	const spec, status = table.DocCore + "PersistentVolumeClaimSpec", table.DocCore + "PersistentVolumeClaimStatus"
	return kind.Kind{
		Storage: "persistentvolumeclaims",
		Gates: []kind.Gate{
			{Name: "CSIVolumeHealth", Fields: []string{"status.healthStatus"}},
			{Name: "VolumeAttributesClass", Fields: []string{"spec.volumeAttributesClassName"}},
			{Name: "VolumeAttributesClass", Fields: []string{"status.currentVolumeAttributesClassName"}},
			{Name: "VolumeAttributesClass", Fields: []string{"status.modifyVolumeStatus"}},
		},
		Strategy: resource.Strategy{
			Quota:     volumeClaimQuota,
			Checks:    resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			HasStatus: true, ReturnDeletedObject: true,
			ReadsMore: func(object.Object) bool { return true }, // the default phase in the status
			PrepareForCreate: func(_ *resource.Context, obj object.Object) {
				delete(obj, "status")
				mirrorDataSource(obj.At("spec"), nil)
			},
			PrepareForUpdate: func(ctx *resource.Context, obj, old object.Object) {
				if ctx.Subresource == "" {
					mirrorDataSource(obj.At("spec"), old.At("spec"))
				}
			},
			Warn: warnVolumeClaim,
		},
		Validate: validateVolumeClaim, ValidateStatus: volumeClaimStatus,
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault("Filesystem", "spec", "volumeMode")
			podspec.RoundResources(obj.At("spec", "resources"))
			podspec.RoundLists(obj.Map("status"), "capacity", "allocatedResources")
			kind.SetEmpty(obj, "Pending", "status", "phase")
		}),
		Columns: []table.Column{table.Name(), table.Doc("Status", status, "phase").Cell(phaseCell),
			table.Doc("Volume", spec, "volumeName").At("spec", "volumeName"),
			table.Doc("Capacity", status, "capacity").Cell(ofVolume(func(obj object.Object) string { return quantity.Of(obj.Map("status", "capacity")["storage"]).String() })),
			table.Doc("Access Modes", status, "accessModes").Cell(ofVolume(func(obj object.Object) string { return shortModes(obj.Strings("status", "accessModes")) })),
			table.Text("StorageClass", "StorageClass of the pvc").Cell(classCell),
			table.Text("VolumeAttributesClass", "VolumeAttributesClass of the pvc").Given(table.Unset, "spec", "volumeAttributesClassName"),
			table.Age(), table.Doc("VolumeMode", spec, "volumeMode").Wide().Given(table.Unset, "spec", "volumeMode")},
	}
}

// DefaultPersistentSource sets the defaults of the volume source and the capacity in a PersistentVolumeSpec. It also applies to
// a spec within another object.
func DefaultPersistentSource(spec object.Object) {
	podspec.DefaultSource(spec)
	podspec.RoundUp(spec.Map("capacity"))
}

// preparePhaseTime maintains the time at which the phase of a volume last changed (KEP-3762).
func preparePhaseTime(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource != "status" {
		return
	}
	const stamp = "lastPhaseTransitionTime"
	had, sent := old.String("status", stamp), obj.String("status", stamp)
	switch same := old.String("status", "phase") == obj.String("status", "phase"); {
	case same && sent == "" && had != "":
		obj.Set(had, "status", stamp)
	case !same && (sent == "" || sent == had):
		obj.Set(object.Time(ctx.Now), "status", stamp)
	}
}

// mirrorDataSource copies dataSource to dataSourceRef or vice versa if one of them is missing (KEP-1495). It drops a new dataSource
// that refers to an unsupported kind. It also drops a new dataSourceRef to another namespace, because the feature for it is not
// enabled.
func mirrorDataSource(spec, was object.Object) {
	if spec.String("dataSourceRef", "namespace") != "" && !was.Has("dataSourceRef") {
		delete(spec, "dataSourceRef")
	}
	source := spec.At("dataSource")
	if !was.Has("dataSource") && !was.Has("dataSourceRef") && !spec.Has("dataSourceRef") && !isVolumeOrSnapshot(source) {
		delete(spec, "dataSource")
	}
	reference := func(o object.Object) map[string]any {
		r := map[string]any{"kind": o.String("kind"), "name": o.String("name")}
		if o.Has("apiGroup") {
			r["apiGroup"] = o["apiGroup"]
		}
		return r
	}
	source, ref := spec.At("dataSource"), spec.At("dataSourceRef")
	switch {
	case source != nil && ref == nil:
		spec["dataSourceRef"] = reference(source)
	case ref != nil && source == nil && ref.String("namespace") == "":
		spec["dataSource"] = reference(ref)
	}
}

func isVolumeOrSnapshot(source object.Object) bool {
	switch source.String("kind") {
	case "PersistentVolumeClaim":
		return source.String("apiGroup") == ""
	case "VolumeSnapshot":
		return source.String("apiGroup") == "snapshot.storage.k8s.io"
	}
	return false
}

func claimCell(obj object.Object) any {
	if !obj.Has("spec", "claimRef") {
		return ""
	}
	return obj.String("spec", "claimRef", "namespace") + "/" + obj.String("spec", "claimRef", "name")
}

// ofVolume returns a cell function for claims. The cell is empty until the claim has a volume.
func ofVolume(cell func(object.Object) string) func(object.Object) any {
	return func(obj object.Object) any {
		if obj.String("spec", "volumeName") == "" {
			return ""
		}
		return cell(obj)
	}
}

func phaseCell(obj object.Object) any {
	if obj.DeletionTimestamp() != "" {
		return "Terminating"
	}
	return obj.String("status", "phase")
}

// classCell returns a cell that shows the storage class. The old annotation takes precedence over the field.
func classCell(obj object.Object) any {
	if class, ok := obj.Annotations()[betaStorageClass]; ok {
		return class
	}
	return obj.String("spec", "storageClassName")
}

// shortModes returns the access modes in abbreviated form.
func shortModes(modes []string) string {
	var out []string
	for _, m := range [][2]string{{"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}} {
		if slices.Contains(modes, m[0]) {
			out = append(out, m[1])
		}
	}
	return strings.Join(out, ",")
}
