package core

import (
	"path"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// persistentSources are the sources of a persistent volume in the order in which they are counted.
var persistentSources = []podspec.VolumeSource{
	{Name: "hostPath", Check: podspec.HostPathVolume},
	{Name: "gcePersistentDisk", Rule: "persistentDisk", Check: podspec.DiskVolume("pdName")},
	{Name: "awsElasticBlockStore", Check: podspec.DiskVolume("volumeID")},
	{Name: "glusterfs", Check: persistentGluster},
	{Name: "flocker", Check: podspec.FlockerVolume},
	{Name: "nfs", Check: podspec.NfsVolume},
	{Name: "rbd", Check: podspec.RequiredIn("monitors", "image")},
	{Name: "quobyte", Check: podspec.QuobyteVolume},
	{Name: "cephfs", Forbidden: "cephFS", Check: podspec.RequiredIn("monitors")},
	{Name: "iscsi", Check: persistentISCSI},
	{Name: "cinder", Check: persistentSecret(podspec.CinderVolume)},
	{Name: "fc", Check: podspec.FibreChannelVolume},
	{Name: "flexVolume", Check: podspec.FlexVolume},
	{Name: "azureFile", Check: persistentAzureFile},
	{Name: "vsphereVolume", Check: podspec.RequiredIn("volumePath")},
	{Name: "photonPersistentDisk", Check: podspec.RequiredIn("pdID")},
	{Name: "portworxVolume", Check: podspec.RequiredIn("volumeID")},
	{Name: "azureDisk", Check: podspec.AzureDiskVolume},
	{Name: "scaleIO", Check: podspec.RequiredIn("gateway", "system", "volumeName")},
	{Name: "local", Check: localVolume},
	{Name: "storageos", Check: persistentSecret(podspec.StorageOSVolume)},
	{Name: "csi", Check: persistentCSI},
}

type sourceRule = func(r *podspec.Rules, source object.Object, p field.Path) field.ErrorList

func persistentGluster(r *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
	errs := podspec.RequiredIn("endpoints", "path")(r, source, p)
	if !source.Has("endpointsNamespace") {
		return errs
	}
	at, namespace := p.Child("endpointsNamespace"), source.String("endpointsNamespace")
	if namespace == "" {
		return append(errs, field.Invalid(at, namespace, "if the endpointnamespace is set, it must be a valid namespace name"))
	}
	return append(errs, field.Check(at, namespace, field.DNS1123Label)...)
}

func persistentISCSI(r *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
	errs := podspec.IscsiVolume(r, source, p)
	for _, e := range errs { // less is said than for a volume of a pod
		if strings.HasPrefix(e.Detail, "must be valid format") {
			e.Detail = "must be valid format"
		}
	}
	return append(errs, podspec.NamedSecretRef(source, p)...)
}

// persistentSecret adds to a rule that the secret needs a namespace: the volume has none.
func persistentSecret(rule sourceRule) sourceRule {
	return func(r *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
		errs := rule(r, source, p)
		if source.Has("secretRef") {
			errs = append(errs, field.MustBeSet(p.Child("secretRef", "namespace"), source.String("secretRef", "namespace"))...)
		}
		return errs
	}
}

func persistentAzureFile(r *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
	errs := podspec.RequiredIn("secretName", "shareName")(r, source, p)
	if source.Has("secretNamespace") {
		errs = append(errs, field.MustBeSet(p.Child("secretNamespace"), source.String("secretNamespace"))...)
	}
	return errs
}

func localVolume(_ *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
	if source.String("path") == "" {
		return field.ErrorList{field.Required(p.Child("path"), "")}
	}
	return field.Check(p.Child("path"), source.String("path"), field.NoBacksteps)
}

func persistentCSI(_ *podspec.Rules, source object.Object, p field.Path) field.ErrorList {
	errs := podspec.DriverName(p.Child("driver"), source.String("driver"))
	errs = append(errs, field.MustBeSet(p.Child("volumeHandle"), source.String("volumeHandle"))...)
	for _, name := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		if ref := source.At(name); ref != nil {
			errs = append(errs, kind.CheckOrRequire(p.Child(name, "name"), ref.String("name"), field.DNS1123Subdomain)...)
			errs = append(errs, kind.CheckOrRequire(p.Child(name, "namespace"), ref.String("namespace"), field.DNS1123Label)...)
		}
	}
	return errs
}

func validatePersistentVolume(_ *resource.Context, obj object.Object) field.ErrorList {
	return append(validateVolumeSpec(obj, false), validateMountOptions(obj)...)
}

func validateVolumeSpec(obj object.Object, anyAffinityValue bool) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	modes := spec.Strings("accessModes")
	var errs field.ErrorList
	if len(modes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), ""))
	}
	errs = append(errs, podspec.KnownAccessModes(p.Child("accessModes"), modes)...)
	errs = append(errs, validateCapacity(p.Child("capacity"), spec)...)
	policy := spec.String("persistentVolumeReclaimPolicy")
	if policy != "" {
		errs = append(errs, field.MustBeOneOf(p.Child("persistentVolumeReclaimPolicy"), policy, "Delete", "Recycle", "Retain")...)
	}
	if affinity := spec.At("nodeAffinity"); affinity != nil {
		at := p.Child("nodeAffinity", "required")
		if required := affinity.At("required"); required != nil {
			errs = append(errs, podspec.NodeSelector(required, at, anyAffinityValue)...)
		} else {
			errs = append(errs, field.Required(at, "must specify required node constraints"))
		}
	}
	errs = append(errs, ValidateVolumeSource(p, obj.Name(), spec)...)
	if spec.Has("hostPath") && path.Clean(spec.String("hostPath", "path")) == "/" && policy == "Recycle" {
		errs = append(errs, field.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	if class := spec.String("storageClassName"); class != "" {
		errs = append(errs, field.Check(p.Child("storageClassName"), class, field.DNS1123Subdomain)...)
	}
	if spec.Has("volumeMode") {
		errs = append(errs, field.MustBeOneOf(p.Child("volumeMode"), spec.String("volumeMode"), "Block", "Filesystem")...)
	}
	if at := p.Child("volumeAttributesClassName"); spec.Has("volumeAttributesClassName") {
		if class := spec.String("volumeAttributesClassName"); class == "" {
			errs = append(errs, field.Required(at, "an empty string is disallowed"))
		} else {
			errs = append(errs, field.Check(at, class, field.DNS1123Subdomain)...)
		}
		if !spec.Has("csi") {
			errs = append(errs, field.Required(p.Child("csi"), "has to be specified when using volumeAttributesClassName"))
		}
	}
	return errs
}

// validateCapacity checks that a volume says how large it is, and nothing else.
func validateCapacity(p field.Path, spec object.Object) field.ErrorList {
	var errs field.ErrorList
	capacity := spec.Map("capacity")
	if len(capacity) == 0 {
		errs = append(errs, field.Required(p, ""))
	}
	if _, ok := capacity["storage"]; !ok || len(capacity) > 1 {
		errs = append(errs, field.NotSupported(p, kind.Pointer(spec, "capacity"), "storage"))
	}
	for _, name := range object.SortedKeys(capacity) {
		q := quantity.Of(capacity[name])
		errs = append(errs, basicAmount(p.Key(name), q.Value())...)
		if q.Sign() <= 0 {
			errs = append(errs, field.Invalid(p.Key(name), q.String(), field.TextPositive))
		}
	}
	return errs
}

func basicAmount(p field.Path, value int64) field.ErrorList {
	if value < 0 {
		return field.ErrorList{field.Invalid(p, value, "must be a valid resource quantity")}
	}
	return nil
}

// ValidateVolumeSource checks that there is one source, and that source.
func ValidateVolumeSource(p field.Path, volume string, spec object.Object) field.ErrorList {
	var errs field.ErrorList
	found := 0
	for _, s := range persistentSources {
		source := spec.At(s.Name)
		if source == nil {
			continue
		}
		if found++; found > 1 && s.Name != "flexVolume" {
			errs = append(errs, field.Forbidden(p.Child(table.OrNone(s.Forbidden, s.Name)), "may not specify more than 1 volume type"))
			continue
		}
		errs = append(errs, s.Check(nil, source, p.Child(table.OrNone(s.Rule, s.Name)))...)
		switch {
		case s.Name == "iscsi" && source.Has("initiatorName") && len(volume+":"+source.String("targetPortal")) > 64:
			errs = append(errs, field.Invalid(p.Child("iscsi", "targetportal"), source.String("targetPortal"),
				"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
		case s.Name == "local" && !spec.Has("nodeAffinity"):
			errs = append(errs, field.Required(p.Child("nodeAffinity"), "Local volume requires node affinity"))
		}
	}
	if found == 0 {
		errs = append(errs, field.Required(p, "must specify a volume type"))
	}
	return errs
}

// validateMountOptions refuses the annotation for sources that are not mounted with options.
func validateMountOptions(obj object.Object) field.ErrorList {
	const key = "volume.beta.kubernetes.io/mount-options"
	if _, ok := obj.Annotations()[key]; !ok {
		return nil
	}
	for _, name := range []string{"gcePersistentDisk", "awsElasticBlockStore", "glusterfs", "nfs", "rbd", "quobyte", "iscsi",
		"cinder", "cephfs", "azureFile", "vsphereVolume", "azureDisk", "photonPersistentDisk"} {
		if obj.Has("spec", name) {
			return nil
		}
	}
	return field.ErrorList{field.Forbidden(field.Root("metadata.annotations").Child(key), "may not specify mount options for this volume type")}
}

// validatePersistentVolumeUpdate reports what is wrong with the new volume twice, as the real server does.
// validatePersistentVolumeAsNew is the first half of what is said twice about a changed volume.
func validatePersistentVolumeAsNew(_ *resource.Context, obj, old object.Object) field.ErrorList {
	return append(validateVolumeSpec(obj, hasBadAffinityValue(old)), validateMountOptions(obj)...)
}

func validatePersistentVolumeUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return nil
	}
	anyValue := hasBadAffinityValue(old)
	errs := validateVolumeSpec(obj, anyValue)
	spec, was := obj.Copy().At("spec"), old.At("spec")
	if was.Has("csi") && !was.Has("csi", "controllerExpandSecretRef") {
		spec.Remove("csi", "controllerExpandSecretRef") // may be added later
	}
	if t := gotext.PersistentVolumeSource.In(ctx.Server.Minor); !gotext.Same(t, was, spec) {
		errs = append(errs, field.Forbidden(field.Root("spec.persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+gotext.Diff(t, was, spec)))
	}
	errs = append(errs, kind.Immutable(field.Root("volumeMode"), spec["volumeMode"], was["volumeMode"])...)
	if was.Has("nodeAffinity") && !sameAffinity(spec.At("nodeAffinity"), was.At("nodeAffinity")) {
		errs = append(errs, field.Invalid(field.Root("nodeAffinity"), kind.GoPointer("VolumeNodeAffinity", spec.At("nodeAffinity")),
			"field is immutable, except for updating from beta label to GA"))
	}
	if was.Has("volumeAttributesClassName") && !spec.Has("volumeAttributesClassName") {
		errs = append(errs, field.Forbidden(field.Root("spec.volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

func hasBadAffinityValue(obj object.Object) bool {
	for _, term := range obj.Objects("spec", "nodeAffinity", "required", "nodeSelectorTerms") {
		for _, e := range term.Objects("matchExpressions") {
			if slices.ContainsFunc(e.Strings("values"), func(v string) bool { return len(field.LabelValue(v)) > 0 }) {
				return true
			}
		}
	}
	return false
}

// grownNodeLabels are the labels of nodes that had another name in beta.
var grownNodeLabels = map[string]string{
	"failure-domain.beta.kubernetes.io/zone":   "topology.kubernetes.io/zone",
	"failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
	"beta.kubernetes.io/instance-type":         "node.kubernetes.io/instance-type",
	"beta.kubernetes.io/os":                    "kubernetes.io/os",
	"beta.kubernetes.io/arch":                  "kubernetes.io/arch",
}

// sameAffinity compares affinities; a label may have been replaced by the one it became. A label that became no other
// may be replaced by "", which other rules refuse.
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
	return gotext.Same("VolumeNodeAffinity", now, before)
}
