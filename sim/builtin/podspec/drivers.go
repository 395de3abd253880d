package podspec

import (
	"net"
	"regexp"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
)

// The rules for volumes of drivers that most pods no longer use. Persistent volumes have the same sources.

func gitRepoVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("repository"), source.String("repository"))
	return append(errs, field.Check(p.Child("directory"), source.String("directory"), field.DescendingPath)...)
}

// DiskVolume makes the rule for a disk of a cloud, whose id is in the field id. The text has another lower limit than
// the rule, in the server too.
func DiskVolume(id string) func(*Rules, object.Object, field.Path) field.ErrorList {
	return func(_ *Rules, source object.Object, p field.Path) field.ErrorList {
		errs := field.MustBeSet(p.Child(id), source.String(id))
		if n := source.Int64("partition"); n < 0 || n > 255 {
			errs = append(errs, field.Invalid(p.Child("partition"), n, field.RangeText(1, 255)))
		}
		return errs
	}
}

// NfsVolume checks a share of a server.
func NfsVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	path := source.String("path")
	errs := field.MustBeSet(p.Child("server"), source.String("server"))
	errs = append(errs, field.MustBeSet(p.Child("path"), path)...)
	if !strings.HasPrefix(path, "/") {
		errs = append(errs, field.Invalid(p.Child("path"), path, "must be an absolute path"))
	}
	return errs
}

// iscsiNames are the formats of iSCSI names (RFC 3721 §1.1) by their prefix.
var iscsiNames = map[string]*regexp.Regexp{
	"iqn": regexp.MustCompile(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": regexp.MustCompile(`^eui.[[:alnum:]]{16}$`),
	"naa": regexp.MustCompile(`^naa.[[:alnum:]]{32}$`),
}

// iscsiName checks the name of an iSCSI target or initiator.
func iscsiName(p field.Path, name string) field.ErrorList {
	format := iscsiNames[name[:min(3, len(name))]]
	switch {
	case format == nil:
		return field.ErrorList{field.Invalid(p, name, "must be valid format starting with iqn, eui, or naa")}
	case !format.MatchString(name):
		return field.ErrorList{field.Invalid(p, name, "must be valid format")}
	}
	return nil
}

// IscsiVolume checks a target.
func IscsiVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("targetPortal"), source.String("targetPortal"))
	if name := source.String("iqn"); name == "" {
		errs = append(errs, field.Required(p.Child("iqn"), ""))
	} else {
		errs = append(errs, iscsiName(p.Child("iqn"), name)...)
	}
	lun := source.Int64("lun")
	errs = append(errs, field.Messages(p.Child("lun"), lun, field.InRange(lun, 0, 255))...)
	if (source.True("chapAuthDiscovery") || source.True("chapAuthSession")) && !source.Has("secretRef") {
		errs = append(errs, field.Required(p.Child("secretRef"), ""))
	}
	if source.Has("initiatorName") {
		errs = append(errs, iscsiName(p.Child("initiatorname"), source.String("initiatorName"))...)
	}
	return errs
}

// FlockerVolume checks a Flocker dataset.
func FlockerVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	name, uuid := source.String("datasetName"), source.String("datasetUUID")
	if name == "" && uuid == "" {
		errs = append(errs, field.Required(p, "one of datasetName and datasetUUID is required"))
	}
	if name != "" && uuid != "" {
		errs = append(errs, field.Invalid(p, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(name, "/") {
		errs = append(errs, field.Invalid(p.Child("datasetName"), name, "must not contain '/'"))
	}
	return errs
}

// CinderVolume checks a Cinder volume.
func CinderVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("volumeID"), source.String("volumeID"))
	return append(errs, NamedSecretRef(source, p)...)
}

// NamedSecretRef checks that a secretRef, if there is one, has a name.
func NamedSecretRef(source object.Object, p field.Path) field.ErrorList {
	if !source.Has("secretRef") {
		return nil
	}
	return field.MustBeSet(p.Child("secretRef", "name"), source.String("secretRef", "name"))
}

// QuobyteVolume checks a Quobyte volume.
func QuobyteVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	const text = "must be a host:port pair or multiple pairs separated by commas"
	var errs field.ErrorList
	registry := source.String("registry")
	switch {
	case registry == "":
		errs = append(errs, field.Required(p.Child("registry"), text))
	case len(source.String("tenant")) >= 65:
		errs = append(errs, field.Required(p.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters"))
	default:
		for pair := range strings.SplitSeq(registry, ",") {
			if _, _, err := net.SplitHostPort(pair); err != nil {
				errs = append(errs, field.Invalid(p.Child("registry"), registry, text))
			}
		}
	}
	return append(errs, field.MustBeSet(p.Child("volume"), source.String("volume"))...)
}

// FibreChannelVolume checks a LUN.
func FibreChannelVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	names, ids := source.List("targetWWNs"), source.List("wwids")
	if len(names) == 0 && len(ids) == 0 {
		errs = append(errs, field.Required(p.Child("targetWWNs"), "must specify either targetWWNs or wwids, but not both"))
	}
	if len(names) > 0 && len(ids) > 0 {
		errs = append(errs, field.Invalid(p.Child("targetWWNs"), names, "targetWWNs and wwids can not be specified simultaneously"))
	}
	if len(names) == 0 {
		return errs
	}
	lun, ok := source.Int("lun")
	if !ok {
		return append(errs, field.Required(p.Child("lun"), "lun is required if targetWWNs is specified"))
	}
	return append(errs, field.Messages(p.Child("lun"), lun, field.InRange(lun, 0, 255))...)
}

// FlexVolume checks a driver with options.
func FlexVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("driver"), source.String("driver"))
	for _, key := range object.SortedKeys(source.Map("options")) {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		if strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io") {
			errs = append(errs, field.Invalid(p.Child("options").Key(key), key, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

// AzureDiskVolume checks an Azure disk.
func AzureDiskVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	errs := field.MustBeSet(p.Child("diskName"), source.String("diskName"))
	uri, kind := source.String("diskURI"), source.String("kind")
	errs = append(errs, field.MustBeSet(p.Child("diskURI"), uri)...)
	if source.Has("cachingMode") {
		errs = append(errs, field.MustBeOneOf(p.Child("cachingMode"), source.String("cachingMode"), "None", "ReadOnly", "ReadWrite")...)
	}
	if !source.Has("kind") {
		return errs
	}
	errs = append(errs, field.MustBeOneOf(p.Child("kind"), kind, "Dedicated", "Managed", "Shared")...)
	if kind == "Managed" && !strings.HasPrefix(uri, "/subscriptions/") {
		errs = append(errs, field.NotSupported(p.Child("diskURI"), uri,
			"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"))
	}
	if kind != "Managed" && !strings.HasPrefix(uri, "https://") {
		errs = append(errs, field.NotSupported(p.Child("diskURI"), uri, "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"))
	}
	return errs
}

// StorageOSVolume checks a StorageOS volume.
func StorageOSVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	if name := source.String("volumeName"); name == "" {
		errs = append(errs, field.Required(p.Child("volumeName"), ""))
	} else {
		errs = append(errs, field.Check(p.Child("volumeName"), name, field.DNS1123Label)...)
	}
	if namespace := source.String("volumeNamespace"); namespace != "" {
		errs = append(errs, field.Check(p.Child("volumeNamespace"), namespace, field.DNS1123Label)...)
	}
	return append(errs, NamedSecretRef(source, p)...)
}

const driverNameMax = 63

// DriverName checks the name of a driver, of volumes or of devices: a subdomain of at most 63 characters, in any case.
func DriverName(p field.Path, name string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(p, "")}
	}
	var errs field.ErrorList
	if len(name) > driverNameMax {
		errs = append(errs, field.TooLong(p, driverNameMax))
	}
	return append(errs, field.Messages(p, name, field.DNS1123Subdomain(strings.ToLower(name)))...)
}

// ephemeralVolume checks the template of the claim that a volume creates.
func ephemeralVolume(_ *Rules, source object.Object, p field.Path) field.ErrorList {
	template, at := source.At("volumeClaimTemplate"), p.Child("volumeClaimTemplate")
	if template == nil {
		return field.ErrorList{field.Required(at, "")}
	}
	errs := ValidateTemplateAnnotations(at.Child("metadata", "annotations"), template.Annotations())
	errs = append(errs, field.CheckLabels(at.Child("metadata", "labels"), template.Labels())...)
	errs = append(errs, gotext.OnlyLabelsAndAnnotations(at.Child("metadata"), template.Metadata())...)
	for _, e := range ValidateClaim(template.At("spec"), nil) {
		e.Field = at.Child(e.Field.String())
		errs = append(errs, e)
	}
	return errs
}

// accessModes are how many nodes may use a volume at once.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}
