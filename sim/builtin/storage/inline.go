package storage

import (
	"path"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
)

// validateInlineVolume checks the volume that an attachment describes itself, as one made from the spec of a pod: a
// PersistentVolumeSpec with a CSI source and nothing that only an object of its own can have.
func validateInlineVolume(at field.Cursor) {
	const context = " in the context of inline volumes"
	at.Child("claimRef").ForbidIf(at.Has("claimRef"), "may not be specified"+context)
	at.Child("capacity").ForbidIf(at.Len("capacity") > 0, "may not be specified"+context)
	at.Child("csi").RequireIf(!at.Has("csi"), "has to be specified"+context)
	modes, policy := at.Child("accessModes").Required(), at.Child("persistentVolumeReclaimPolicy")
	at.Report(podspec.KnownAccessModes(at.Path("accessModes"), modes.Strings()))
	policy.ForbidIf(policy.String() != "" && policy.String() != "Retain", "may only be Retain"+context)
	at.Child("nodeAffinity").ForbidIf(at.Has("nodeAffinity"), "may not be specified"+context)
	alone := at.Object().Copy()
	delete(alone, "nodeAffinity") // which nodes a local volume is on would have to be said there
	at.Report(core.ValidateVolumeSource(at.Path(), "", alone))
	policy.ForbidIf(at.Has("hostPath") && path.Clean(at.String("hostPath", "path")) == "/" && policy.String() == "Recycle",
		"may not be 'recycle' for a hostPath mount of '/'")
	at.Child("storageClassName").ForbidIf(at.String("storageClassName") != "", "may not be specified"+context)
	at.Child("volumeMode").ForbidIf(at.Has("volumeMode") && at.String("volumeMode") != "Filesystem",
		"may not specify volumeMode other than Filesystem"+context)
}
