package podspec

import (
	"cmp"
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// VolumeSource is a type of volume. Name is the name of its field. The real server spells some names differently in errors: Forbidden
// is the name in the error about a second source, and Rule the name in errors of Check. If they are empty, errors use Name.
type VolumeSource struct {
	Name, Forbidden, Rule string
	Check                 func(r *Rules, at field.Cursor)
}

// volumeSources are the types of volumes, in the order in which the server counts them.
var volumeSources = []VolumeSource{
	{Name: "emptyDir", Check: emptyDirVolume},
	{Name: "hostPath", Check: HostPathVolume},
	{Name: "gitRepo", Check: gitRepoVolume},
	{Name: "gcePersistentDisk", Rule: "persistentDisk", Check: DiskVolume("pdName")},
	{Name: "awsElasticBlockStore", Check: DiskVolume("volumeID")},
	{Name: "secret", Check: keysVolume("secretName")},
	{Name: "nfs", Check: NfsVolume},
	{Name: "iscsi", Check: IscsiVolume},
	{Name: "glusterfs", Check: Require("endpoints", "path")},
	{Name: "flocker", Check: FlockerVolume},
	{Name: "persistentVolumeClaim", Check: Require("claimName")},
	{Name: "rbd", Check: Require("monitors", "image")},
	{Name: "cinder", Check: CinderVolume},
	{Name: "cephfs", Forbidden: "cephFS", Check: Require("monitors")},
	{Name: "quobyte", Check: QuobyteVolume},
	{Name: "downwardAPI", Forbidden: "downwarAPI", Check: downwardVolume},
	{Name: "fc", Check: FibreChannelVolume},
	{Name: "flexVolume", Check: FlexVolume},
	{Name: "configMap", Check: keysVolume("name")},
	{Name: "azureFile", Check: Require("secretName", "shareName")},
	{Name: "vsphereVolume", Check: Require("volumePath")},
	{Name: "photonPersistentDisk", Check: Require("pdID")},
	{Name: "portworxVolume", Check: Require("volumeID")},
	{Name: "azureDisk", Check: AzureDiskVolume},
	{Name: "storageos", Check: StorageOSVolume},
	{Name: "projected", Check: projectedVolume},
	{Name: "scaleIO", Check: Require("gateway", "system", "volumeName")},
	{Name: "csi", Check: csiVolume},
	{Name: "ephemeral", Check: ephemeralVolume},
	{Name: "image", Check: imageVolume},
}

// checkVolumes checks the volumes, and records the valid ones for the checks of volume mounts.
func (r *Rules) checkVolumes() {
	created := field.Seen{} // names of the claims that the pod's ephemeral volumes create
	if pod := r.meta.String("name"); pod != "" {
		for _, v := range r.Spec.Objects("volumes") {
			if v.Has("ephemeral") {
				created[pod+"-"+v.String("name")] = true
			}
		}
	}
	if r.Spec.Has("volumes") {
		r.volumes = map[string]object.Object{}
	}
	for v := range r.at.Each("volumes") {
		before := len(v.Errors())
		r.volume(v)
		name := v.Child("name").Required().Check(field.DNS1123Label)
		if _, ok := r.volumes[name.String()]; ok {
			name.Duplicate(name.Value())
		}
		if len(v.Errors()) == before {
			r.volumes[name.String()] = v.Object()
		}
		if v.Has("persistentVolumeClaim") {
			claim := v.Child("persistentVolumeClaim", "claimName")
			claim.InvalidIf(created[claim.String()], "must not reference a PVC that gets created for an ephemeral volume")
		}
	}
}

// volume checks that a volume has exactly one source, and that the source is valid.
func (r *Rules) volume(v field.Cursor) {
	found, name := false, v.Child("name").OrEmpty()
	for _, s := range volumeSources {
		if !v.Has(s.Name) {
			continue
		}
		source := v.Child(s.Name)
		if found {
			v.Child(cmp.Or(s.Forbidden, s.Name)).Forbidden("may not specify more than 1 volume type")
		} else {
			found = true
			s.Check(r, source.ReportAt(v.Child(cmp.Or(s.Rule, s.Name))))
			if s.Name == "ephemeral" {
				r.ephemeralClaimName(name)
			}
		}
		name.InvalidIf(s.Name == "iscsi" && source.Has("initiatorName") && len(name.String()+":"+source.String("targetPortal")) > 64,
			"Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.")
	}
	v.RequireIf(!found, "must specify a volume type")
}

// ephemeralClaimName checks the name of the claim that an ephemeral volume creates.
func (r *Rules) ephemeralClaimName(name field.Cursor) {
	if pod := r.meta.String("name"); pod != "" && name.String() != "" {
		claim := pod + "-" + name.String()
		for _, msg := range field.DNS1123Subdomain(claim) {
			name.Invalid(name.Value(), `PVC name "`+claim+`": `+msg)
		}
	}
}

// Require returns a rule for sources whose named fields are required strings and lists, and that need no other checks.
func Require(names ...string) func(*Rules, field.Cursor) {
	return func(_ *Rules, at field.Cursor) { at.Require(names...) }
}

func emptyDirVolume(_ *Rules, at field.Cursor) {
	size := at.Child("sizeLimit")
	size.ForbidIf(quantity.Of(size.Value()).Sign() < 0, "SizeLimit field must be a valid resource quantity")
	mode := at.Int64("mode")
	at.Child("mode").InvalidIf(mode < 0 || mode > 0o1777, "must be a number between 0 and 01777 (octal), both inclusive")
}

// HostPathVolume checks a hostPath volume.
func HostPathVolume(_ *Rules, at field.Cursor) {
	if at.Child("path").Required().Check(field.NoBacksteps).Has() {
		at.Child("type").OrEmpty().OneOf("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
	}
}

// keysVolume returns the rule for volumes that contain a Secret or a ConfigMap. name is the field with the name of that object.
func keysVolume(name string) func(*Rules, field.Cursor) {
	return func(_ *Rules, at field.Cursor) {
		at.Require(name)
		fileMode(at.Child("defaultMode"), at.Child("defaultUser"))
		for item := range at.Each("items") {
			keyToPath(item)
		}
	}
}

// keyToPath checks the mapping of a key of a Secret or ConfigMap to a path.
func keyToPath(item field.Cursor) {
	item.Require("key")
	item.Child("path").Required().Check(field.NonReservedPath)
	fileMode(item.Child("mode"), item.Child("user"))
}

// fileMode checks the permissions and the owner of a file.
func fileMode(mode, user field.Cursor) {
	n := mode.Int64()
	mode.InvalidIf(n < 0 || n > 0o777, "must be a number between 0 and 0777 (octal), both inclusive")
	fileUser(user)
}

// fileUser checks the owner of a file (KEP-5762, gate AtomicWriteVolumeUserFields).
func fileUser(at field.Cursor) { at.CheckInt(field.UserID) }

func downwardVolume(_ *Rules, at field.Cursor) {
	fileMode(at.Child("defaultMode"), at.Child("defaultUser"))
	for file := range at.Each("items") {
		downwardFile(file.ReportAt(at)) // errors have the path of the list, because the server omits the index
	}
}

// downwardFile checks a file that contains a field of the pod.
func downwardFile(file field.Cursor) {
	file.Child("path").Required().Check(field.NonReservedPath)
	ref, resource := file.Child("fieldRef"), file.Child("resourceFieldRef")
	switch {
	case ref.Has():
		fieldRef(ref, volumeFields)
		file.With("resource").InvalidIf(resource.Has(), "fieldRef and resourceFieldRef can not be specified simultaneously")
	case resource.Has():
		resourceFieldRef(resource, true)
	default:
		file.Missing("one of fieldRef and resourceFieldRef is required")
	}
	fileMode(file.Child("mode"), file.Child("user"))
}

func csiVolume(_ *Rules, at field.Cursor) {
	DriverName(at.Child("driver"))
	if ref := at.Child("nodePublishSecretRef"); ref.Has() {
		ref.Child("name").Required().ReportAt(at.Child("name")).Check(field.DNS1123Subdomain)
	}
}

func imageVolume(r *Rules, at field.Cursor) {
	required := r.isPod()
	if r.ctx.Since(37) {
		required = !r.Allow.emptyImages()
	}
	at.Child("reference").RequireIf(required && at.String("reference") == "", "")
	pullPolicy(at.Child("pullPolicy"))
}

// CheckClaim checks the spec of a PersistentVolumeClaim.
func CheckClaim(at field.Cursor) field.Cursor {
	modes, volumes := at.Child("accessModes"), at.Child("selector")
	modes.Required("at least 1 access mode is required")
	kind.CheckSelector(volumes, kind.AsStored(volumes))
	AccessModes(modes)
	size := at.Child("resources", "requests").Key("storage").ReportAt(at.Child("resources").Key("storage"))
	if q := quantity.Of(size.Value()); !at.Has("resources", "requests", "storage") {
		size.Missing("")
	} else if q.Sign() <= 0 {
		size.Invalid(q.String(), field.TextPositive)
	}
	at.Child("storageClassName").IfGiven().Check(field.DNS1123Subdomain)
	at.Child("volumeMode").OneOf("Block", "Filesystem")
	checkDataSources(at)
	at.Child("volumeAttributesClassName").IfGiven().Check(field.DNS1123Subdomain)
	return at
}

// checkDataSources checks the sources that provide the initial content of a volume.
func checkDataSources(at field.Cursor) {
	source, ref, was := at.Child("dataSource"), at.Child("dataSourceRef"), at.Old()
	anyGroup := was.Has("dataSource", "apiGroup") || was.Has("dataSourceRef", "apiGroup")
	for _, s := range []field.Cursor{source, ref} {
		if !s.Has() {
			continue
		}
		s.Require("name", "kind")
		s.With(s.String("kind")).InvalidIf(s.String("apiGroup") == "" && s.String("kind") != "PersistentVolumeClaim",
			"must be 'PersistentVolumeClaim' when referencing the default apiGroup")
		if !anyGroup {
			s.Child("apiGroup").IfGiven().Check(field.DNS1123Subdomain)
		}
		s.Child("namespace").IfGiven().Check(field.DNS1123Label)
	}
	if !ref.Has() || !source.Has() {
		return
	}
	shown := field.Raw("{}") // the real server prints the field's path, a struct without exported fields
	switch {
	case ref.String("namespace") != "":
		at.Invalid(shown, "may not be specified when dataSourceRef.namespace is specified")
	case !object.Equal(source.Child("apiGroup").Value(), ref.Child("apiGroup").Value()) ||
		source.String("kind") != ref.String("kind") || source.String("name") != ref.String("name"):
		at.Invalid(shown, "must match dataSourceRef")
	}
}

// AccessModes checks the access modes of a volume.
func AccessModes(at field.Cursor) {
	pod, others := false, false
	for mode := range at.Each() {
		mode.ReportAt(at).OneOf(accessModes...)
		pod = pod || mode.String() == "ReadWriteOncePod"
		others = others || mode.String() != "ReadWriteOncePod" && slices.Contains(accessModes, mode.String())
	}
	at.ForbidIf(pod && others, "may not use ReadWriteOncePod with other access modes")
}
