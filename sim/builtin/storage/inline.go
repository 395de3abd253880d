package storage

import (
	"path"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
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
