package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
)

// CheckClaim checks what a claim asks for.
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

// checkDataSources checks what the volume is filled with.
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
	shown := field.Raw("{}") // the real server prints the path of the field, which has no exported parts
	switch {
	case ref.String("namespace") != "":
		at.Invalid(shown, "may not be specified when dataSourceRef.namespace is specified")
	case !object.Equal(source.Child("apiGroup").Value(), ref.Child("apiGroup").Value()) ||
		source.String("kind") != ref.String("kind") || source.String("name") != ref.String("name"):
		at.Invalid(shown, "must match dataSourceRef")
	}
}

// AccessModes checks how many nodes may use a volume.
func AccessModes(at field.Cursor) {
	pod, others := false, false
	for mode := range at.Each() {
		mode.ReportAt(at).OneOf(accessModes...)
		pod = pod || mode.String() == "ReadWriteOncePod"
		others = others || mode.String() != "ReadWriteOncePod" && slices.Contains(accessModes, mode.String())
	}
	at.ForbidIf(pod && others, "may not use ReadWriteOncePod with other access modes")
}
