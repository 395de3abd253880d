package builtin

import (
	"path"
	"slices"
	"strings"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// persistentSources are the sources of a persistent volume in the order in which they are counted.
var persistentSources = []volumeSource{
	{name: "hostPath", check: hostPathVolume},
	{name: "gcePersistentDisk", rule: "persistentDisk", check: diskVolume("pdName")},
	{name: "awsElasticBlockStore", check: diskVolume("volumeID")},
	{name: "glusterfs", check: persistentGluster},
	{name: "flocker", check: flockerVolume},
	{name: "nfs", check: nfsVolume},
	{name: "rbd", check: requiredIn("monitors", "image")},
	{name: "quobyte", check: quobyteVolume},
	{name: "cephfs", forbidden: "cephFS", check: requiredIn("monitors")},
	{name: "iscsi", check: persistentISCSI},
	{name: "cinder", check: persistentSecret(cinderVolume)},
	{name: "fc", check: fibreChannelVolume},
	{name: "flexVolume", check: flexVolume},
	{name: "azureFile", check: persistentAzureFile},
	{name: "vsphereVolume", check: requiredIn("volumePath")},
	{name: "photonPersistentDisk", check: requiredIn("pdID")},
	{name: "portworxVolume", check: requiredIn("volumeID")},
	{name: "azureDisk", check: azureDiskVolume},
	{name: "scaleIO", check: requiredIn("gateway", "system", "volumeName")},
	{name: "local", check: localVolume},
	{name: "storageos", check: persistentSecret(storageOSVolume)},
	{name: "csi", check: persistentCSI},
}

type sourceRule = func(r *podRules, source object.Object, p field.Path) field.ErrorList

func persistentGluster(r *podRules, source object.Object, p field.Path) field.ErrorList {
	errs := requiredIn("endpoints", "path")(r, source, p)
	if !present(source, "endpointsNamespace") {
		return errs
	}
	at, namespace := p.Child("endpointsNamespace"), source.String("endpointsNamespace")
	if namespace == "" {
		return append(errs, field.Invalid(at, namespace, "if the endpointnamespace is set, it must be a valid namespace name"))
	}
	return append(errs, field.Check(at, namespace, field.DNS1123Label)...)
}

func persistentISCSI(r *podRules, source object.Object, p field.Path) field.ErrorList {
	errs := iscsiVolume(r, source, p)
	for _, e := range errs { // less is said than for a volume of a pod
		if strings.HasPrefix(e.Detail, "must be valid format") {
			e.Detail = "must be valid format"
		}
	}
	return append(errs, namedSecretRef(source, p)...)
}

// persistentSecret adds to a rule that the secret needs a namespace: the volume has none.
func persistentSecret(rule sourceRule) sourceRule {
	return func(r *podRules, source object.Object, p field.Path) field.ErrorList {
		errs := rule(r, source, p)
		if present(source, "secretRef") {
			errs = append(errs, mustBeSet(p.Child("secretRef", "namespace"), source.String("secretRef", "namespace"))...)
		}
		return errs
	}
}

func persistentAzureFile(r *podRules, source object.Object, p field.Path) field.ErrorList {
	errs := requiredIn("secretName", "shareName")(r, source, p)
	if present(source, "secretNamespace") {
		errs = append(errs, mustBeSet(p.Child("secretNamespace"), source.String("secretNamespace"))...)
	}
	return errs
}

func localVolume(_ *podRules, source object.Object, p field.Path) field.ErrorList {
	if source.String("path") == "" {
		return field.ErrorList{field.Required(p.Child("path"), "")}
	}
	return field.Check(p.Child("path"), source.String("path"), field.NoBacksteps)
}

func persistentCSI(_ *podRules, source object.Object, p field.Path) field.ErrorList {
	errs := driverName(p.Child("driver"), source.String("driver"))
	errs = append(errs, mustBeSet(p.Child("volumeHandle"), source.String("volumeHandle"))...)
	for _, name := range []string{"controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"} {
		if ref := objectAt(source, name); ref != nil {
			errs = append(errs, checkOrRequire(p.Child(name, "name"), ref.String("name"), field.DNS1123Subdomain)...)
			errs = append(errs, checkOrRequire(p.Child(name, "namespace"), ref.String("namespace"), field.DNS1123Label)...)
		}
	}
	return errs
}

// checkOrRequire applies a rule to a string that must not be empty.
func checkOrRequire(p field.Path, value string, rule func(string) []string) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	return field.Check(p, value, rule)
}

// knownAccessModes checks how many nodes may use a volume.
func knownAccessModes(p field.Path, modes []string) field.ErrorList {
	var errs field.ErrorList
	pod, others := false, false
	for _, mode := range modes {
		errs = append(errs, mustBeOneOf(p, mode, accessModes...)...)
		pod = pod || mode == "ReadWriteOncePod"
		others = others || mode != "ReadWriteOncePod" && slices.Contains(accessModes, mode)
	}
	if pod && others {
		errs = append(errs, field.Forbidden(p, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

func validatePersistentVolume(_ *resource.Context, obj object.Object) field.ErrorList {
	return append(validateVolumeSpec(obj, false), validateMountOptions(obj)...)
}

func validateVolumeSpec(obj object.Object, anyAffinityValue bool) field.ErrorList {
	spec, p := objectAt(obj, "spec"), field.Root("spec")
	modes := stringsAt(spec, "accessModes")
	var errs field.ErrorList
	if len(modes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), ""))
	}
	errs = append(errs, knownAccessModes(p.Child("accessModes"), modes)...)
	errs = append(errs, validateCapacity(p.Child("capacity"), spec)...)
	policy := spec.String("persistentVolumeReclaimPolicy")
	if policy != "" {
		errs = append(errs, mustBeOneOf(p.Child("persistentVolumeReclaimPolicy"), policy, "Delete", "Recycle", "Retain")...)
	}
	if affinity := objectAt(spec, "nodeAffinity"); affinity != nil {
		at := p.Child("nodeAffinity", "required")
		if required := objectAt(affinity, "required"); required != nil {
			errs = append(errs, nodeSelector(required, at, anyAffinityValue)...)
		} else {
			errs = append(errs, field.Required(at, "must specify required node constraints"))
		}
	}
	errs = append(errs, validateVolumeSource(p, obj.Name(), spec)...)
	if present(spec, "hostPath") && path.Clean(spec.String("hostPath", "path")) == "/" && policy == "Recycle" {
		errs = append(errs, field.Forbidden(p.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	if class := spec.String("storageClassName"); class != "" {
		errs = append(errs, field.Check(p.Child("storageClassName"), class, field.DNS1123Subdomain)...)
	}
	if present(spec, "volumeMode") {
		errs = append(errs, mustBeOneOf(p.Child("volumeMode"), spec.String("volumeMode"), "Block", "Filesystem")...)
	}
	if at := p.Child("volumeAttributesClassName"); present(spec, "volumeAttributesClassName") {
		if class := spec.String("volumeAttributesClassName"); class == "" {
			errs = append(errs, field.Required(at, "an empty string is disallowed"))
		} else {
			errs = append(errs, field.Check(at, class, field.DNS1123Subdomain)...)
		}
		if !present(spec, "csi") {
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
		errs = append(errs, field.NotSupported(p, pointer(spec, "capacity"), "storage"))
	}
	for _, name := range object.SortedKeys(capacity) {
		q := quantityOf(capacity[name])
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

// validateVolumeSource checks that there is one source, and that source.
func validateVolumeSource(p field.Path, volume string, spec object.Object) field.ErrorList {
	var errs field.ErrorList
	found := 0
	for _, s := range persistentSources {
		source := objectAt(spec, s.name)
		if source == nil {
			continue
		}
		if found++; found > 1 && s.name != "flexVolume" {
			errs = append(errs, field.Forbidden(p.Child(orNone(s.forbidden, s.name)), "may not specify more than 1 volume type"))
			continue
		}
		errs = append(errs, s.check(nil, source, p.Child(orNone(s.rule, s.name)))...)
		switch {
		case s.name == "iscsi" && present(source, "initiatorName") && len(volume+":"+source.String("targetPortal")) > 64:
			errs = append(errs, field.Invalid(p.Child("iscsi", "targetportal"), source.String("targetPortal"),
				"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
		case s.name == "local" && !present(spec, "nodeAffinity"):
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
		if present(obj, "spec", name) {
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
	spec, was := objectAt(obj.Copy(), "spec"), objectAt(old, "spec")
	if present(was, "csi") && !present(was, "csi", "controllerExpandSecretRef") {
		spec.Remove("csi", "controllerExpandSecretRef") // may be added later
	}
	if !sameGo("PersistentVolumeSource", was, spec) {
		errs = append(errs, field.Forbidden(field.Root("spec.persistentvolumesource"),
			"spec.persistentvolumesource is immutable after creation\n"+goDiff("PersistentVolumeSource", was, spec)))
	}
	errs = append(errs, immutable(field.Root("volumeMode"), spec["volumeMode"], was["volumeMode"])...)
	if present(was, "nodeAffinity") && !sameAffinity(objectAt(spec, "nodeAffinity"), objectAt(was, "nodeAffinity")) {
		errs = append(errs, field.Invalid(field.Root("nodeAffinity"), goPointer("VolumeNodeAffinity", objectAt(spec, "nodeAffinity")),
			"field is immutable, except for updating from beta label to GA"))
	}
	if present(was, "volumeAttributesClassName") && !present(spec, "volumeAttributesClassName") {
		errs = append(errs, field.Forbidden(field.Root("spec.volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}

// goPointer returns a struct for the text of an error, or null.
func goPointer(typeName string, o object.Object) any {
	if o == nil {
		return nil
	}
	return goValue(typeName, o)
}

func hasBadAffinityValue(obj object.Object) bool {
	for _, term := range objectsAt(obj, "spec", "nodeAffinity", "required", "nodeSelectorTerms") {
		for _, e := range objectsAt(term, "matchExpressions") {
			if slices.ContainsFunc(stringsAt(e, "values"), func(v string) bool { return len(field.LabelValue(v)) > 0 }) {
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
	terms := objectsAt(now, "required", "nodeSelectorTerms")
	for i, term := range objectsAt(before, "required", "nodeSelectorTerms") {
		for _, list := range []string{"matchExpressions", "matchFields"} {
			for j, e := range objectsAt(term, list) {
				if i >= len(terms) || j >= len(objectsAt(terms[i], list)) {
					return false
				}
				if key := objectsAt(terms[i], list)[j].String("key"); key == grownNodeLabels[e.String("key")] {
					e["key"] = key
				}
			}
		}
	}
	return sameGo("VolumeNodeAffinity", now, before)
}
