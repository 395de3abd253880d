package podspec

import (
	"slices"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/selector"
)

// ValidateClaim checks what a claim asks for; was is nil on create.
func ValidateClaim(spec, was object.Object) field.ErrorList {
	p := field.Root("spec")
	var errs field.ErrorList
	modes := spec.Strings("accessModes")
	if len(modes) == 0 {
		errs = append(errs, field.Required(p.Child("accessModes"), "at least 1 access mode is required"))
	}
	if spec.Has("selector") {
		old := len(selector.ValidateLabelSelector(field.Path{}, was.Map("selector"), selector.ValidateOptions{})) > 0
		errs = append(errs, selector.ValidateLabelSelector(p.Child("selector"), spec.Map("selector"),
			selector.ValidateOptions{AllowInvalidValues: old})...)
	}
	errs = append(errs, KnownAccessModes(p.Child("accessModes"), modes)...)
	at := p.Child("resources").Key("storage")
	if size, ok := spec.Map("resources", "requests")["storage"]; !ok {
		errs = append(errs, field.Required(at, ""))
	} else if q := quantity.Of(size); q.Sign() <= 0 {
		errs = append(errs, field.Invalid(at, q.String(), field.TextPositive))
	}
	if class := spec.String("storageClassName"); class != "" {
		errs = append(errs, field.Check(p.Child("storageClassName"), class, field.DNS1123Subdomain)...)
	}
	if spec.Has("volumeMode") {
		errs = append(errs, field.MustBeOneOf(p.Child("volumeMode"), spec.String("volumeMode"), "Block", "Filesystem")...)
	}
	errs = append(errs, ValidateDataSources(spec, was)...)
	if class := spec.String("volumeAttributesClassName"); class != "" {
		errs = append(errs, field.Check(p.Child("volumeAttributesClassName"), class, field.DNS1123Subdomain)...)
	}
	return errs
}

// ValidateDataSources checks what the volume is filled with.
func ValidateDataSources(spec, was object.Object) field.ErrorList {
	var errs field.ErrorList
	p := field.Root("spec")
	source, ref := spec.At("dataSource"), spec.At("dataSourceRef")
	anyGroup := was.Has("dataSource", "apiGroup") || was.Has("dataSourceRef", "apiGroup")
	for _, name := range []string{"dataSource", "dataSourceRef"} {
		if o := spec.At(name); o != nil {
			errs = append(errs, validateDataSource(p.Child(name), o, anyGroup)...)
		}
	}
	if ref == nil || source == nil {
		return errs
	}
	shown := field.Raw("{}") // the real server prints the path of the field, which has no exported parts
	switch {
	case ref.String("namespace") != "":
		errs = append(errs, field.Invalid(p, shown, "may not be specified when dataSourceRef.namespace is specified"))
	case !object.Equal(source["apiGroup"], ref["apiGroup"]) || source.String("kind") != ref.String("kind") || source.String("name") != ref.String("name"):
		errs = append(errs, field.Invalid(p, shown, "must match dataSourceRef"))
	}
	return errs
}

func validateDataSource(p field.Path, source object.Object, anyGroup bool) field.ErrorList {
	kind, group := source.String("kind"), source.String("apiGroup")
	errs := field.MustBeSet(p.Child("name"), source.String("name"))
	errs = append(errs, field.MustBeSet(p.Child("kind"), kind)...)
	if group == "" && kind != "PersistentVolumeClaim" {
		errs = append(errs, field.Invalid(p, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
	}
	if group != "" && !anyGroup {
		errs = append(errs, field.Check(p.Child("apiGroup"), group, field.DNS1123Subdomain)...)
	}
	if namespace := source.String("namespace"); namespace != "" {
		errs = append(errs, field.Check(p.Child("namespace"), namespace, field.DNS1123Label)...)
	}
	return errs
}

// KnownAccessModes checks how many nodes may use a volume.
func KnownAccessModes(p field.Path, modes []string) field.ErrorList {
	var errs field.ErrorList
	pod, others := false, false
	for _, mode := range modes {
		errs = append(errs, field.MustBeOneOf(p, mode, accessModes...)...)
		pod = pod || mode == "ReadWriteOncePod"
		others = others || mode != "ReadWriteOncePod" && slices.Contains(accessModes, mode)
	}
	if pod && others {
		errs = append(errs, field.Forbidden(p, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}
