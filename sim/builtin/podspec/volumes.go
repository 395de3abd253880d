package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// VolumeSource is one kind of volume. forbidden and rule are the names under which errors report it, where they are not
// the name of the field: the server has its own spelling for some.
type VolumeSource struct {
	Name, Forbidden, Rule string
	Check                 func(r *Rules, source object.Object, p field.Path) field.ErrorList
}

// volumeSources are the kinds of volumes in the order in which they are counted.
var volumeSources = []VolumeSource{
	{Name: "emptyDir", Check: emptyDirVolume},
	{Name: "hostPath", Check: HostPathVolume},
	{Name: "gitRepo", Check: gitRepoVolume},
	{Name: "gcePersistentDisk", Rule: "persistentDisk", Check: DiskVolume("pdName")},
	{Name: "awsElasticBlockStore", Check: DiskVolume("volumeID")},
	{Name: "secret", Check: keysVolume("secretName")},
	{Name: "nfs", Check: NfsVolume},
	{Name: "iscsi", Check: IscsiVolume},
	{Name: "glusterfs", Check: RequiredIn("endpoints", "path")},
	{Name: "flocker", Check: FlockerVolume},
	{Name: "persistentVolumeClaim", Check: RequiredIn("claimName")},
	{Name: "rbd", Check: RequiredIn("monitors", "image")},
	{Name: "cinder", Check: CinderVolume},
	{Name: "cephfs", Forbidden: "cephFS", Check: RequiredIn("monitors")},
	{Name: "quobyte", Check: QuobyteVolume},
	{Name: "downwardAPI", Forbidden: "downwarAPI", Check: downwardVolume},
	{Name: "fc", Check: FibreChannelVolume},
	{Name: "flexVolume", Check: FlexVolume},
	{Name: "configMap", Check: keysVolume("name")},
	{Name: "azureFile", Check: RequiredIn("secretName", "shareName")},
	{Name: "vsphereVolume", Check: RequiredIn("volumePath")},
	{Name: "photonPersistentDisk", Check: RequiredIn("pdID")},
	{Name: "portworxVolume", Check: RequiredIn("volumeID")},
	{Name: "azureDisk", Check: AzureDiskVolume},
	{Name: "storageos", Check: StorageOSVolume},
	{Name: "projected", Check: projectedVolume},
	{Name: "scaleIO", Check: RequiredIn("gateway", "system", "volumeName")},
	{Name: "csi", Check: csiVolume},
	{Name: "ephemeral", Check: ephemeralVolume},
	{Name: "image", Check: imageVolume},
}

// checkVolumes checks the volumes and remembers the good ones for the mounts.
func (r *Rules) checkVolumes() field.ErrorList {
	p := r.Path.Child("volumes")
	volumes := r.Spec.Objects("volumes")
	var errs field.ErrorList
	var created []string // the claims that the pod's ephemeral volumes create
	for _, v := range volumes {
		if name := r.meta.String("name"); name != "" && v.Has("ephemeral") {
			created = append(created, name+"-"+v.String("name"))
		}
	}
	for i, v := range volumes {
		at, name := p.Index(i), v.String("name")
		found := r.volume(v, at)
		if name == "" {
			found = append(found, field.Required(at.Child("name"), ""))
		} else {
			found = append(found, field.Check(at.Child("name"), name, field.DNS1123Label)...)
		}
		if _, ok := r.volumes[name]; ok {
			found = append(found, field.Duplicate(at.Child("name"), name))
		}
		if len(found) == 0 {
			r.volumes[name] = v
		}
		errs = append(errs, found...)
		if claim := v.String("persistentVolumeClaim", "claimName"); v.Has("persistentVolumeClaim") && slices.Contains(created, claim) {
			errs = append(errs, field.Invalid(at.Child("persistentVolumeClaim", "claimName"), claim,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return errs
}

// volume checks that a volume has exactly one source, and that one.
func (r *Rules) volume(v object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	found := false
	for _, s := range volumeSources {
		source := v.At(s.Name)
		switch {
		case source == nil:
			continue
		case found:
			errs = append(errs, field.Forbidden(p.Child(Either(s.Forbidden, s.Name)), "may not specify more than 1 volume type"))
		default:
			found = true
			errs = append(errs, s.Check(r, source, p.Child(Either(s.Rule, s.Name)))...)
			if s.Name == "ephemeral" {
				errs = append(errs, r.ephemeralClaimName(v.String("name"), p)...)
			}
		}
		if target := source.String("targetPortal"); s.Name == "iscsi" && source.Has("initiatorName") && len(v.String("name")+":"+target) > 64 {
			errs = append(errs, field.Invalid(p.Child("name"), v.String("name"),
				"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."))
		}
	}
	if !found {
		errs = append(errs, field.Required(p, "must specify a volume type"))
	}
	return errs
}

// Either returns the text, or otherwise when it is empty.
func Either(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
}

// ephemeralClaimName checks the name of the claim that an ephemeral volume creates.
func (r *Rules) ephemeralClaimName(volume string, p field.Path) field.ErrorList {
	pod := r.meta.String("name")
	if pod == "" || volume == "" {
		return nil
	}
	var errs field.ErrorList
	claim := pod + "-" + volume
	for _, msg := range field.DNS1123Subdomain(claim) {
		errs = append(errs, field.Invalid(p.Child("name"), volume, `PVC name "`+claim+`": `+msg))
	}
	return errs
}

// RequiredIn makes a rule for sources that only have required fields, strings or lists.
func RequiredIn(names ...string) func(*Rules, object.Object, field.Path) field.ErrorList {
	return func(_ *Rules, source object.Object, p field.Path) field.ErrorList {
		var errs field.ErrorList
		for _, name := range names {
			if source.String(name) == "" && len(source.List(name)) == 0 {
				errs = append(errs, field.Required(p.Child(name), ""))
			}
		}
		return errs
	}
}

func emptyDirVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	if quantity.Of(source["sizeLimit"]).Sign() < 0 {
		return field.ErrorList{field.Forbidden(p.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
	}
	return nil
}

// HostPathVolume checks a path of the host.
func HostPathVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	path := source.String("path")
	if path == "" {
		return field.ErrorList{field.Required(p.Child("path"), "")}
	}
	errs := field.Check(p.Child("path"), path, field.NoBacksteps)
	return append(errs, field.MustBeOneOf(p.Child("type"), source.String("type"),
		"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")...)
}

// keysVolume makes the rule for volumes of a Secret or ConfigMap, whose name is in the field name.
func keysVolume(name string) func(*Rules, object.Object, field.Path) field.ErrorList {
	return func(_ *Rules, source object.Object, p field.Path) field.ErrorList {
		errs := field.MustBeSet(p.Child(name), source.String(name))
		errs = append(errs, fileMode(p.Child("defaultMode"), source, "defaultMode")...)
		for i, item := range source.Objects("items") {
			errs = append(errs, keyToPath(item, p.Child("items").Index(i))...)
		}
		return errs
	}
}

// keyToPath checks where a key of a Secret or ConfigMap goes in a volume.
func keyToPath(item object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("key"), item.String("key"))
	errs = append(errs, field.MustBeSet(p.Child("path"), item.String("path"))...)
	errs = append(errs, field.Check(p.Child("path"), item.String("path"), field.NonReservedPath)...)
	return append(errs, fileMode(p.Child("mode"), item, "mode")...)
}

// fileMode checks the permissions of a file.
func fileMode(p field.Path, o object.Object, name string) field.ErrorList {
	if mode := o.Int64(name); mode < 0 || mode > 0o777 {
		return field.ErrorList{field.Invalid(p, mode, "must be a number between 0 and 0777 (octal), both inclusive")}
	}
	return nil
}

func downwardVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := fileMode(p.Child("defaultMode"), source, "defaultMode")
	for _, file := range source.Objects("items") {
		errs = append(errs, downwardFile(file, p)...)
	}
	return errs
}

// downwardFile checks a file that holds a field of the pod. Errors are at p: the server leaves out the index.
func downwardFile(file object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("path"), file.String("path"))
	errs = append(errs, field.Check(p.Child("path"), file.String("path"), field.NonReservedPath)...)
	ref, resource := file.At("fieldRef"), file.At("resourceFieldRef")
	switch {
	case ref != nil:
		errs = append(errs, fieldRef(ref, p.Child("fieldRef"), volumeFields)...)
		if resource != nil {
			errs = append(errs, field.Invalid(p, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"))
		}
	case resource != nil:
		errs = append(errs, resourceFieldRef(resource, p.Child("resourceFieldRef"), true)...)
	default:
		errs = append(errs, field.Required(p, "one of fieldRef and resourceFieldRef is required"))
	}
	return append(errs, fileMode(p.Child("mode"), file, "mode")...)
}

func csiVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := DriverName(p.Child("driver"), source.String("driver"))
	if ref := source.At("nodePublishSecretRef"); ref != nil {
		if name := ref.String("name"); name == "" {
			errs = append(errs, field.Required(p.Child("nodePublishSecretRef", "name"), ""))
		} else {
			errs = append(errs, field.Check(p.Child("name"), name, field.DNS1123Subdomain)...)
		}
	}
	return errs
}

func imageVolume(r *Rules, source object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.isPod() {
		errs = field.MustBeSet(p.Child("reference"), source.String("reference"))
	}
	return append(errs, checkPullPolicy(p.Child("pullPolicy"), source.String("pullPolicy"))...)
}
