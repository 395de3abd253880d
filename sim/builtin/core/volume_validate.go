package core

import (
	"cmp"
	"path"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// persistentSources are the sources of a PersistentVolume, in the order in which the server counts them.
var persistentSources = []podspec.VolumeSource{
	{Name: "hostPath", Check: podspec.HostPathVolume},
	{Name: "gcePersistentDisk", Rule: "persistentDisk", Check: podspec.DiskVolume("pdName")},
	{Name: "awsElasticBlockStore", Check: podspec.DiskVolume("volumeID")},
	{Name: "glusterfs", Check: persistentGluster},
	{Name: "flocker", Check: podspec.FlockerVolume},
	{Name: "nfs", Check: podspec.NfsVolume},
	{Name: "rbd", Check: podspec.Require("monitors", "image")},
	{Name: "quobyte", Check: podspec.QuobyteVolume},
	{Name: "cephfs", Forbidden: "cephFS", Check: podspec.Require("monitors")},
	{Name: "iscsi", Check: persistentISCSI},
	{Name: "cinder", Check: persistentSecret(podspec.CinderVolume)},
	{Name: "fc", Check: podspec.FibreChannelVolume},
	{Name: "flexVolume", Check: podspec.FlexVolume},
	{Name: "azureFile", Check: persistentAzureFile},
	{Name: "vsphereVolume", Check: podspec.Require("volumePath")},
	{Name: "photonPersistentDisk", Check: podspec.Require("pdID")},
	{Name: "portworxVolume", Check: podspec.Require("volumeID")},
	{Name: "azureDisk", Check: podspec.AzureDiskVolume},
	{Name: "scaleIO", Check: podspec.Require("gateway", "system", "volumeName")},
	{Name: "local", Check: localVolume},
	{Name: "storageos", Check: persistentSecret(podspec.StorageOSVolume)},
	{Name: "csi", Check: persistentCSI},
}

type sourceRule = func(*podspec.Rules, field.Cursor)

func persistentGluster(_ *podspec.Rules, at field.Cursor) {
	at.Require("endpoints", "path")
	namespace := at.Child("endpointsNamespace")
	namespace.InvalidIf(namespace.Value() == "", "if the endpointnamespace is set, it must be a valid namespace name")
	namespace.IfGiven().Check(field.DNS1123Label)
}

func persistentISCSI(r *podspec.Rules, at field.Cursor) {
	podspec.PersistentIscsiVolume(r, at)
	podspec.NamedSecretRef(at)
}

// persistentSecret returns a rule that additionally requires a namespace in the secretRef, because a PersistentVolume has no
// namespace itself.
func persistentSecret(rule sourceRule) sourceRule {
	return func(r *podspec.Rules, at field.Cursor) {
		rule(r, at)
		if ref := at.Child("secretRef"); ref.Has() {
			ref.Require("namespace")
		}
	}
}

func persistentAzureFile(_ *podspec.Rules, at field.Cursor) {
	at.Require("secretName", "shareName")
	if at.Has("secretNamespace") {
		at.Require("secretNamespace")
	}
}

func localVolume(_ *podspec.Rules, at field.Cursor) {
	at.Child("path").Required().Check(field.NoBacksteps)
}

func persistentCSI(_ *podspec.Rules, at field.Cursor) {
	podspec.DriverName(at.Child("driver"))
	at.Require("volumeHandle")
	for _, name := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		if ref := at.Child(name); ref.Has() {
			ref.Child("name").Required().Check(field.DNS1123Subdomain)
			ref.Child("namespace").Required().Check(field.DNS1123Label)
		}
	}
}

func validateVolumeSpec(at field.Cursor, volume string, anyAffinityValue bool) {
	at.Require("accessModes")
	podspec.AccessModes(at.Child("accessModes"))
	validateCapacity(at.Child("capacity"))
	at.Child("persistentVolumeReclaimPolicy").IfGiven().OneOf("Delete", "Recycle", "Retain")
	if required := at.Child("nodeAffinity", "required"); required.Has() {
		podspec.NodeSelector(required, anyAffinityValue)
	} else {
		required.RequireIf(at.Has("nodeAffinity"), "must specify required node constraints")
	}
	CheckVolumeSource(at, volume)
	at.Child("storageClassName").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("volumeMode").OneOf("Block", "Filesystem")
	if class := at.Child("volumeAttributesClassName"); class.Has() {
		class.Required("an empty string is disallowed").Check(field.DNS1123Subdomain)
		at.Child("csi").RequireIf(!at.Has("csi"), "has to be specified when using volumeAttributesClassName")
	}
}

// validateCapacity checks that the capacity contains a positive storage size, and no other resource.
func validateCapacity(at field.Cursor) {
	at.Required()
	if !at.Has("storage") || at.Len() > 1 {
		at.NotSupported(at.Value(), "storage")
	}
	for _, amount := range at.EachKey() {
		basicAmount(amount)
		if q := quantity.Of(amount.Value()); q.Sign() <= 0 {
			amount.Invalid(q.String(), field.TextPositive)
		}
	}
}

func basicAmount(at field.Cursor) {
	if n := quantity.Of(at.Value()); n.Value() < 0 {
		at.Invalid(n.Value(), "must be a valid resource quantity")
	}
}

// CheckVolumeSource checks that a PersistentVolumeSpec has exactly one source, and that the source is valid. A hostPath
// volume of "/" must not be recycled.
func CheckVolumeSource(at field.Cursor, volume string) {
	found := 0
	for _, s := range persistentSources {
		source := at.Child(s.Name)
		if !source.Has() {
			continue
		}
		if found++; found > 1 && s.Name != "flexVolume" {
			at.Child(cmp.Or(s.Forbidden, s.Name)).Forbidden("may not specify more than 1 volume type")
			continue
		}
		s.Check(nil, source.ReportAt(at.Child(cmp.Or(s.Rule, s.Name))))
		switch portal := source.String("targetPortal"); {
		case s.Name == "iscsi" && source.Has("initiatorName") && len(volume+":"+portal) > 64:
			source.Child("targetportal").Invalid(portal,
				"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
		case s.Name == "local" && !at.Has("nodeAffinity"):
			at.Child("nodeAffinity").Missing("Local volume requires node affinity")
		}
	}
	at.RequireIf(found == 0, "must specify a volume type")
	policy := at.Child("persistentVolumeReclaimPolicy")
	policy.ForbidIf(at.Has("hostPath") && path.Clean(at.String("hostPath", "path")) == "/" && policy.String() == "Recycle",
		"may not be 'recycle' for a hostPath mount of '/'")
}

// validateMountOptions rejects the mount options annotation for sources that do not support it.
func validateMountOptions(at field.Cursor) {
	mounted := slices.ContainsFunc([]string{"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi",
		"cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"},
		func(name string) bool { return at.Has("spec", name) })
	options := at.Child("metadata", "annotations", "volume.beta.kubernetes.io/mount-options")
	options.ForbidIf(options.Has() && !mounted, "may not specify mount options for this volume type")
}

// validateVolumeAsNew performs the first of the two validations of a changed volume. It also validates new volumes.
func validateVolumeAsNew(_ *resource.Context, at field.Cursor) {
	validateVolumeSpec(at.Child("spec"), at.Object().Name(), hasBadAffinityValue(at.Old()))
	validateMountOptions(at)
}

// validatePersistentVolume reports the errors of a changed volume twice, as the real server does.
func validatePersistentVolume(ctx *resource.Context, at field.Cursor) {
	if !at.Updates() {
		validateVolumeAsNew(ctx, at)
		return
	}
	validateVolumeSpec(at.Child("spec"), at.Object().Name(), hasBadAffinityValue(at.Old()))
	spec, was := at.Object().Copy().At("spec"), at.Old().At("spec")
	if was.Has("csi") && !was.Has("csi", "controllerExpandSecretRef") {
		spec.Remove("csi", "controllerExpandSecretRef") // the reference may be added later
	}
	if t := gotext.PersistentVolumeSource.In(ctx.Server.Minor); !gotext.Same(t, was, spec) {
		at.Child("spec", "persistentvolumesource").Forbidden("spec.persistentvolumesource is immutable after creation\n" + gotext.Diff(t, was, spec))
	}
	at.Child("spec", "volumeMode").ReportAt(at.Child("volumeMode")).Immutable()
	if was.Has("nodeAffinity") && !sameAffinity(spec.At("nodeAffinity"), was.At("nodeAffinity")) {
		at.Child("nodeAffinity").Invalid(kind.GoPointer(gotext.VolumeNodeAffinity, spec.At("nodeAffinity")),
			"field is immutable, except for updating from beta label to GA")
	}
	class := at.Child("spec", "volumeAttributesClassName")
	class.ForbidIf(was.Has("volumeAttributesClassName") && !class.Has(), "update from non-nil value to nil is forbidden")
}

func hasBadAffinityValue(obj object.Object) bool {
	return podspec.BadNodeSelectorValues(obj.At("spec", "nodeAffinity", "required"))
}

// grownNodeLabels maps beta labels of nodes to their GA names.
var grownNodeLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
}

// sameAffinity compares two affinities. A beta label may be replaced with its GA name. It also accepts the replacement of any
// other label with "", which other rules reject.
func sameAffinity(now, before object.Object) bool {
	if (now == nil) != (before == nil) {
		return false
	}
	before = before.Copy()
	terms := now.Objects("required", "nodeSelectorTerms")
	for i, term := range before.Objects("required", "nodeSelectorTerms") {
		for _, list := range []string{"matchExpressions", "matchFields"} {
			for j, e := range term.Objects(list) {
				if i >= len(terms) || j >= len(terms[i].Objects(list)) {
					return false
				}
				if key := terms[i].Objects(list)[j].String("key"); key == grownNodeLabels[e.String("key")] {
					e["key"] = key
				}
			}
		}
	}
	return gotext.Same(gotext.VolumeNodeAffinity, now, before)
}
