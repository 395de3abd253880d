package podspec

import (
	"net"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/field"
)

// The rules for volumes of drivers that most pods no longer use. Persistent volumes can have the same sources.

func gitRepoVolume(_ *Rules, at field.Cursor) {
	at.Require("repository")
	at.Child("directory").IfGiven().Check(field.DescendingPath)
}

// DiskVolume returns the rule for a cloud disk. id is the name of the field with the disk's ID. As on the server, the error
// message states a lower limit that differs from the one that is checked.
func DiskVolume(id string) func(*Rules, field.Cursor) {
	return func(_ *Rules, at field.Cursor) {
		at.Require(id)
		n := at.Int64("partition")
		at.Child("partition").InvalidIf(n < 0 || n > 255, field.RangeText(1, 255))
	}
}

// NfsVolume checks an NFS share.
func NfsVolume(_ *Rules, at field.Cursor) {
	at.Require("server", "path")
	path := at.Child("path").OrEmpty()
	path.InvalidIf(!strings.HasPrefix(path.String(), "/"), "must be an absolute path")
}

// iscsiNames are the formats of iSCSI names (RFC 3721 §1.1), by their prefix.
var iscsiNames = map[string]func() *regexp.Regexp{
	"iqn": pattern(`iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$`),
	"eui": pattern(`^eui.[[:alnum:]]{16}$`),
	"naa": pattern(`^naa.[[:alnum:]]{32}$`),
}

// IscsiVolume checks an iSCSI target.
func IscsiVolume(_ *Rules, at field.Cursor) { iscsiTarget(at, " starting with iqn, eui, or naa") }

// PersistentIscsiVolume checks the iSCSI target of a PersistentVolume, whose errors do not list the valid prefixes.
func PersistentIscsiVolume(_ *Rules, at field.Cursor) { iscsiTarget(at, "") }

// iscsiTarget checks an iSCSI target. starts is appended to the error for a name with an unknown prefix.
func iscsiTarget(at field.Cursor, starts string) {
	named := func(name string) []string {
		format := iscsiNames[name[:min(3, len(name))]]
		switch {
		case format == nil:
			return []string{"must be valid format" + starts}
		case !format().MatchString(name):
			return []string{"must be valid format"}
		}
		return nil
	}
	at.Require("targetPortal")
	at.Child("iqn").Required().Check(named)
	at.Child("lun").Range(0, 255)
	at.Child("secretRef").RequireIf((at.True("chapAuthDiscovery") || at.True("chapAuthSession")) && !at.Has("secretRef"), "")
	at.Child("initiatorName").ReportAt(at.Child("initiatorname")).Check(named)
}

// FlockerVolume checks a Flocker dataset.
func FlockerVolume(_ *Rules, at field.Cursor) {
	name, uuid := at.String("datasetName"), at.String("datasetUUID")
	at.RequireIf(name == "" && uuid == "", "one of datasetName and datasetUUID is required")
	at.With("resource").InvalidIf(name != "" && uuid != "", "datasetName and datasetUUID can not be specified simultaneously")
	at.Child("datasetName").InvalidIf(strings.Contains(name, "/"), "must not contain '/'")
}

// CinderVolume checks a Cinder volume.
func CinderVolume(_ *Rules, at field.Cursor) {
	at.Require("volumeID")
	NamedSecretRef(at)
}

// NamedSecretRef checks that the secretRef, if there is one, has a name.
func NamedSecretRef(at field.Cursor) {
	if ref := at.Child("secretRef"); ref.Has() {
		ref.Require("name")
	}
}

// QuobyteVolume checks a Quobyte volume.
func QuobyteVolume(_ *Rules, at field.Cursor) {
	const text = "must be a host:port pair or multiple pairs separated by commas"
	registry := at.Child("registry").Required(text)
	switch {
	case !registry.Has():
	case len(at.String("tenant")) >= 65:
		at.Child("tenant").Missing("must be a UUID and may not exceed a length of 64 characters")
	default:
		for pair := range strings.SplitSeq(registry.String(), ",") {
			_, _, err := net.SplitHostPort(pair)
			registry.InvalidIf(err != nil, text)
		}
	}
	at.Require("volume")
}

// FibreChannelVolume checks a Fibre Channel volume.
func FibreChannelVolume(_ *Rules, at field.Cursor) {
	names, lun := at.Child("targetWWNs"), at.Child("lun")
	names.RequireIf(names.Len() == 0 && at.Len("wwids") == 0, "must specify either targetWWNs or wwids, but not both")
	names.InvalidIf(names.Len() > 0 && at.Len("wwids") > 0, "targetWWNs and wwids can not be specified simultaneously")
	if names.Len() > 0 {
		lun.RequireIf(!lun.Has(), "lun is required if targetWWNs is specified").Range(0, 255)
	}
}

// FlexVolume checks a FlexVolume driver and its options.
func FlexVolume(_ *Rules, at field.Cursor) {
	at.Require("driver")
	for key, option := range at.EachKey("options") {
		domain, _, _ := strings.Cut(key, "/")
		domain = "." + strings.ToLower(domain)
		option.With(key).InvalidIf(strings.HasSuffix(domain, ".kubernetes.io") || strings.HasSuffix(domain, ".k8s.io"),
			"kubernetes.io and k8s.io namespaces are reserved")
	}
}

// AzureDiskVolume checks an Azure disk.
func AzureDiskVolume(_ *Rules, at field.Cursor) {
	uri, kind := at.Child("diskURI").OrEmpty(), at.Child("kind")
	at.Require("diskName", "diskURI")
	at.Child("cachingMode").OneOf("None", "ReadOnly", "ReadWrite")
	kind.OneOf("Dedicated", "Managed", "Shared")
	switch {
	case !kind.Has():
	case kind.String() == "Managed" && !strings.HasPrefix(uri.String(), "/subscriptions/"):
		uri.NotSupported(uri.Value(), "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}")
	case kind.String() != "Managed" && !strings.HasPrefix(uri.String(), "https://"):
		uri.NotSupported(uri.Value(), "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
	}
}

// StorageOSVolume checks a StorageOS volume.
func StorageOSVolume(_ *Rules, at field.Cursor) {
	at.Child("volumeName").Required().Check(field.DNS1123Label)
	at.Child("volumeNamespace").IfGiven().Check(field.DNS1123Label)
	NamedSecretRef(at)
}

// DriverNameMax is the maximum length of a driver name.
const DriverNameMax = 63

// DriverName checks the name of a volume or device driver: a subdomain of at most 63 bytes, in which upper-case letters
// are allowed.
func DriverName(at field.Cursor) field.Cursor {
	return at.Required().MaxBytes(DriverNameMax).Check(smallSubdomain)
}

// DeclaredDriverName checks the name of a driver on servers since 1.37, which declare the rules as tags
// (validate.LongNameCaseless and validate.MaxLength). A name that satisfies the tags is also checked by the older,
// handwritten rule (core validation.ValidateCSIDriverName), which counts bytes and converts the name to lower case.
func DeclaredDriverName(at field.Cursor) {
	at.Declared(true, func(at field.Cursor) field.Cursor {
		return at.Required().Check(field.DNS1123SubdomainAnyCase).MaxLength(DriverNameMax)
	})
	name := at.String()
	if utf8.RuneCountInString(name) <= DriverNameMax {
		at.MaxBytes(DriverNameMax)
	}
	if len(field.DNS1123SubdomainAnyCase(name)) == 0 {
		at.Check(smallSubdomain)
	}
}

// smallSubdomain checks that a name is a subdomain after conversion to lower case.
func smallSubdomain(name string) []string { return field.DNS1123Subdomain(strings.ToLower(name)) }

// ephemeralVolume checks the claim template of an ephemeral volume.
func ephemeralVolume(_ *Rules, at field.Cursor) {
	template := at.Child("volumeClaimTemplate")
	if !template.Has() {
		template.Missing("")
		return
	}
	meta := template.Child("metadata")
	CheckAnnotations(meta.Child("annotations"))
	meta.Child("labels").Labels()
	meta.Report(gotext.OnlyLabelsAndAnnotations(meta.Path(), meta.Object()))
	CheckClaim(template.Child("spec"))
}

// accessModes are the access modes of a volume, sorted.
var accessModes = []string{"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"}
