package storage

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/core"
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func csiDriverKind() kind.Kind {
	const spec = table.DocStorage + "CSIDriverSpec"
	return kind.Kind{
		Storage: "csidrivers.storage.k8s.io",
		Gates: []kind.Gate{
			{Name: "CSIServiceAccountTokenSecrets", Fields: []string{"spec.serviceAccountTokenInSecrets"}},
			{Name: "MutableCSINodeAllocatableCount", Fields: []string{"spec.nodeAllocatableUpdatePeriodSeconds"}},
			{Name: "VolumeLimitScaling", Fields: []string{"spec.preventPodSchedulingIfMissing"},
				Defaults: func(obj object.Object) { obj.SetDefault(false, "spec", "preventPodSchedulingIfMissing") }}, // KEP-5030
		},
		Strategy: resource.Strategy{
			ReturnsDeleted: true, NeedsResourceVersion: true,
			PrepareForUpdate: prepareCSIDriver,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateCSIDriver(obj.At("spec"))
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				spec, was := obj.At("spec"), old.At("spec")
				errs := validateCSIDriver(spec)
				errs = append(errs, kind.Immutable(field.Root("spec.attachedRequired"), spec["attachRequired"], was["attachRequired"])...)
				return append(errs, kind.Immutable(field.Root("spec.volumeLifecycleModes"), spec["volumeLifecycleModes"], was["volumeLifecycleModes"])...)
			},
			Warn: func(ctx *resource.Context, obj, old object.Object) {
				tokens := obj.List("spec", "tokenRequests")
				if len(tokens) > 0 && !obj.Has("spec", "serviceAccountTokenInSecrets") &&
					(old == nil || !object.SemanticEqual(tokens, old.List("spec", "tokenRequests"))) {
					ctx.Warn("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent " +
						"possible logging of tokens in volume attributes")
				}
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault(true, "spec", "attachRequired")
			for _, name := range []string{"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"} {
				obj.SetDefault(false, "spec", name)
			}
			obj.SetDefault("ReadWriteOnceWithFSType", "spec", "fsGroupPolicy")
			if len(obj.List("spec", "volumeLifecycleModes")) == 0 {
				obj.Set([]any{"Persistent"}, "spec", "volumeLifecycleModes")
			}
		}),
		Columns: []table.Column{table.Name(), table.Doc("AttachRequired", spec, "attachRequired").Of("boolean"),
			table.Doc("PodInfoOnMount", spec, "podInfoOnMount").Of("boolean"), table.Doc("StorageCapacity", spec, "storageCapacity").Of("boolean"),
			table.Doc("TokenRequests", spec, "tokenRequests"), table.Doc("RequiresRepublish", spec, "requiresRepublish").Of("boolean"),
			table.Doc("Modes", spec, "volumeLifecycleModes"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			spec := obj.At("spec")
			attach, ok := spec.Bool("attachRequired")
			tokens := table.Unset
			if spec.Has("tokenRequests") {
				var audiences []string
				for _, t := range spec.Objects("tokenRequests") {
					audiences = append(audiences, t.String("audience"))
				}
				tokens = strings.Join(audiences, ",")
			}
			return table.Row(obj.Name(), attach || !ok, spec.True("podInfoOnMount"), spec.True("storageCapacity"), tokens,
				spec.True("requiresRepublish"), table.OrNone(strings.Join(spec.Strings("volumeLifecycleModes"), ","), table.None), table.AgeCell(now, obj))
		},
	}
}

// prepareCSIDriver counts generations: a driver begins without one, and its first change is generation 1.
func prepareCSIDriver(_ *resource.Context, obj, old object.Object) {
	if !object.SemanticEqual(obj["spec"], old["spec"]) {
		obj.Set(old.Generation()+1, "metadata", "generation")
	}
}

func validateCSIDriver(spec object.Object) field.ErrorList {
	p := field.Root("spec")
	var errs field.ErrorList
	if spec.Has("fsGroupPolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("fsGroupPolicy"), spec.String("fsGroupPolicy"), "File", "None", "ReadWriteOnceWithFSType")...)
	}
	var audiences []string
	for i, token := range spec.Objects("tokenRequests") {
		at, audience := p.Child("tokenRequests").Index(i), token.String("audience")
		if slices.Contains(audiences, audience) {
			errs = append(errs, field.Duplicate(at.Child("audience"), audience))
			continue
		}
		audiences = append(audiences, audience)
		seconds, ok := token.Int("expirationSeconds")
		switch {
		case ok && seconds < 600:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), seconds, "may not specify a duration less than 10 minutes"))
		case ok && seconds > 1<<32:
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), seconds, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	for _, mode := range spec.Strings("volumeLifecycleModes") {
		errs = append(errs, field.MustBeOneOf(p.Child("volumeLifecycleModes"), mode, "Persistent", "Ephemeral")...)
	}
	if seconds, ok := spec.Int("nodeAllocatableUpdatePeriodSeconds"); ok && seconds < 10 {
		errs = append(errs, field.Invalid(p.Child("nodeAllocatableUpdatePeriodSeconds"), seconds, "must be greater than or equal to 10 seconds"))
	}
	if inSecrets, ok := spec.Bool("serviceAccountTokenInSecrets"); ok && len(spec.List("tokenRequests")) == 0 {
		errs = append(errs, field.Invalid(p.Child("serviceAccountTokenInSecrets"), inSecrets,
			"serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

func csiNodeKind() kind.Kind {
	return kind.Kind{
		Storage: "csinodes.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateNodeDrivers(obj.Objects("spec", "drivers"))
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateNodeDrivers(obj.Objects("spec", "drivers"))
				return append(errs, sameNodeDrivers(obj, old)...)
			},
		},
		Columns: []table.Column{table.Name(), table.Text("Drivers", "Drivers indicates the number of CSI drivers registered on the node").Of("integer"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.List("spec", "drivers"))), table.AgeCell(now, obj))
		},
	}
}

func validateNodeDrivers(drivers []object.Object) field.ErrorList {
	const longest = 256
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, driver := range drivers {
		p, name, node := field.Root("spec.drivers").Index(i), driver.String("name"), driver.String("nodeID")
		errs = append(errs, podspec.DriverName(p.Child("name"), name)...)
		errs = append(errs, field.MustBeSet(p.Child("nodeID"), node)...)
		if len(node) > longest {
			errs = append(errs, field.Invalid(p.Child("nodeID"), node, "must be 256 characters or less"))
		}
		if count, ok := driver.Int("allocatable", "count"); ok {
			errs = append(errs, field.NonNegative(count, p.Child("allocatable", "count"))...)
		}
		if seen[name] {
			errs = append(errs, field.Duplicate(p.Child("name"), name))
		}
		seen[name] = true
		keys := driver.Strings("topologyKeys")
		for j, key := range keys {
			errs = append(errs, field.MustBeSet(p, key)...)
			if slices.Contains(keys[:j], key) {
				errs = append(errs, field.Duplicate(p, key))
			}
			errs = append(errs, field.Check(p, key, field.QualifiedName)...)
		}
	}
	return errs
}

// sameNodeDrivers checks that a driver of a node keeps everything but how many volumes it can attach.
func sameNodeDrivers(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	for _, was := range old.Objects("spec", "drivers") {
		for _, driver := range obj.Objects("spec", "drivers") {
			if driver.String("name") != was.String("name") {
				continue
			}
			a, b := driver.Copy(), was.Copy()
			delete(a, "allocatable")
			delete(b, "allocatable")
			if !object.SemanticEqual(map[string]any(a), map[string]any(b)) {
				errs = append(errs, field.Invalid(field.Root("spec.drivers"), gotext.Value("CSINodeDriver", a), field.TextImmutable))
			}
		}
	}
	return errs
}

func storageCapacityKind() kind.Kind {
	return kind.Kind{
		Storage: "csistoragecapacities.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:               resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckMetaUpdate, resource.CheckKind}},
			NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateStorageCapacity(obj, selector.ValidateOptions{})
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				bad := len(selector.ValidateLabelSelector(field.Path{}, old.Map("nodeTopology"), selector.ValidateOptions{})) > 0
				errs := validateStorageCapacity(obj, selector.ValidateOptions{AllowInvalidValues: bad})
				if obj.Has("nodeTopology") != old.Has("nodeTopology") || !object.SemanticEqual(obj["nodeTopology"], old["nodeTopology"]) {
					errs = append(errs, field.Invalid(field.Root("nodeTopology"), kind.SelectorValue(obj.Map("nodeTopology")), field.TextImmutable))
				}
				if class := obj.String("storageClassName"); class != old.String("storageClassName") {
					errs = append(errs, field.Invalid(field.Root("storageClassName"), class, field.TextImmutable))
				}
				return errs
			},
		},
	}
}

func validateStorageCapacity(obj object.Object, options selector.ValidateOptions) field.ErrorList {
	errs := selector.ValidateLabelSelector(field.Root("nodeTopology"), obj.Map("nodeTopology"), options)
	errs = append(errs, field.Check(field.Root("storageClassName"), obj.String("storageClassName"), field.DNS1123Subdomain)...)
	if q := quantity.Of(obj["capacity"]); q.Sign() < 0 {
		errs = append(errs, field.Invalid(field.Root("capacity"), q.String(), field.TextNonNegative))
	}
	return errs
}

func volumeAttachmentKind() kind.Kind {
	const spec = table.DocStorage + "VolumeAttachmentSpec"
	attacher := table.Doc("Attacher", spec, "attacher")
	attacher.Format = "name"
	return kind.Kind{
		Storage: "volumeattachments.storage.k8s.io",
		Gates: []kind.Gate{
			{Name: "MutableCSINodeAllocatableCount", Fields: []string{"status.attachError.errorCode", "status.detachError.errorCode"}},
		},
		Strategy: resource.Strategy{
			Checks: resource.Checks{
				Update:       []resource.Check{resource.CheckMeta, resource.CheckKind},
				Subresources: map[string][]resource.Check{"status": {resource.CheckMeta, resource.CheckKind}},
			},
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"metadata", "spec"}}},
			HasStatus: true, CustomStatus: true, ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateAttachment(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateAttachment(obj)
				spec, was := obj.At("spec"), old.At("spec")
				if !gotext.Same("VolumeAttachmentSpec", spec, was) {
					errs = append(errs, field.Invalid(field.Root("spec"), gotext.Value("VolumeAttachmentSpec", spec), field.TextImmutable))
				}
				return errs
			},
		},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			if inline := obj.At("spec", "source", "inlineVolumeSpec"); inline != nil {
				core.DefaultPersistentSource(inline)
			}
		}),
		Columns: []table.Column{table.Name(), attacher, table.Doc("PV", table.DocStorage+"VolumeAttachmentSource", "persistentVolumeName"),
			table.Doc("Node", spec, "nodeName"), table.Doc("Attached", table.DocStorage+"VolumeAttachmentStatus", "attached").Of("boolean"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.String("spec", "attacher"), obj.String("spec", "source", "persistentVolumeName"),
				obj.String("spec", "nodeName"), obj.True("status", "attached"), table.AgeCell(now, obj))
		},
	}
}

func validateAttachment(obj object.Object) field.ErrorList {
	const largest, longest = 256 << 10, 1024
	p := field.Root("spec")
	errs := podspec.DriverName(p.Child("attacher"), obj.String("spec", "attacher"))
	name, named := obj.String("spec", "source", "persistentVolumeName"), obj.Has("spec", "source", "persistentVolumeName")
	switch inline := obj.Has("spec", "source", "inlineVolumeSpec"); {
	case !inline && !named:
		errs = append(errs, field.Required(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline && named:
		errs = append(errs, field.Forbidden(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline:
		errs = append(errs, validateInlineVolume(p.Child("source", "inlineVolumeSpec"), obj.At("spec", "source", "inlineVolumeSpec"))...)
	case named && name == "":
		errs = append(errs, field.Required(p.Child("source", "persistentVolumeName"), "must specify non empty persistentVolumeName"))
	}
	errs = append(errs, field.Check(p.Child("nodeName"), obj.String("spec", "nodeName"), field.DNS1123Subdomain)...)
	status, size := field.Root("status"), 0
	for key, value := range object.StringMap(obj.Map("status", "attachmentMetadata")) { // order does not matter
		size += len(key) + len(value)
	}
	if size > largest {
		errs = append(errs, field.TooLong(status.Child("attachmentMetadata"), largest))
	}
	for _, failure := range []string{"attachError", "detachError"} {
		e, at := obj.At("status", failure), status.Child(failure)
		if len(e.String("message")) > longest { // the text has another limit, in the server too
			errs = append(errs, field.TooLong(at.Child("message"), largest))
		}
		if code := e.Int64("errorCode"); code < 0 {
			errs = append(errs, field.Invalid(at.Child("errorCode"), code, field.RangeText(0, 1<<31-1)))
		}
	}
	if named {
		errs = append(errs, field.Check(p.Child("source", "persistentVolumeName"), name, field.DNS1123Subdomain)...)
	}
	return errs
}
