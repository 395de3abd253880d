package builtin

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

func csiDriverKind() kind {
	const spec = docStorage + "CSIDriverSpec"
	return kind{
		storage: "csidrivers.storage.k8s.io",
		strategy: resource.Strategy{
			ReturnsDeleted: true, NeedsResourceVersion: true,
			PrepareForUpdate: prepareCSIDriver,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateCSIDriver(objectAt(obj, "spec"))
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				spec, was := objectAt(obj, "spec"), objectAt(old, "spec")
				errs := validateCSIDriver(spec)
				errs = append(errs, immutable(field.Root("spec.attachedRequired"), spec["attachRequired"], was["attachRequired"])...)
				return append(errs, immutable(field.Root("spec.volumeLifecycleModes"), spec["volumeLifecycleModes"], was["volumeLifecycleModes"])...)
			},
			Warn: func(ctx *resource.Context, obj, old object.Object) {
				tokens := obj.List("spec", "tokenRequests")
				if len(tokens) > 0 && !present(obj, "spec", "serviceAccountTokenInSecrets") &&
					(old == nil || !object.SemanticEqual(tokens, old.List("spec", "tokenRequests"))) {
					ctx.Warn("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent " +
						"possible logging of tokens in volume attributes")
				}
			},
		},
		defaults: everyVersion(func(obj object.Object) {
			obj.SetDefault(true, "spec", "attachRequired")
			for _, name := range []string{"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"} {
				obj.SetDefault(false, "spec", name)
			}
			obj.SetDefault("ReadWriteOnceWithFSType", "spec", "fsGroupPolicy")
			if len(obj.List("spec", "volumeLifecycleModes")) == 0 {
				obj.Set([]any{"Persistent"}, "spec", "volumeLifecycleModes")
			}
		}),
		columns: []column{colName(), colDoc("AttachRequired", spec, "attachRequired").of("boolean"),
			colDoc("PodInfoOnMount", spec, "podInfoOnMount").of("boolean"), colDoc("StorageCapacity", spec, "storageCapacity").of("boolean"),
			colDoc("TokenRequests", spec, "tokenRequests"), colDoc("RequiresRepublish", spec, "requiresRepublish").of("boolean"),
			colDoc("Modes", spec, "volumeLifecycleModes"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			spec := objectAt(obj, "spec")
			attach, ok := spec.Bool("attachRequired")
			tokens := cellUnset
			if present(spec, "tokenRequests") {
				var audiences []string
				for _, t := range objectsAt(spec, "tokenRequests") {
					audiences = append(audiences, t.String("audience"))
				}
				tokens = strings.Join(audiences, ",")
			}
			return cells(obj.Name(), attach || !ok, boolAt(spec, "podInfoOnMount"), boolAt(spec, "storageCapacity"), tokens,
				boolAt(spec, "requiresRepublish"), orNone(strings.Join(stringsAt(spec, "volumeLifecycleModes"), ","), cellNone), cellAge(now, obj))
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
	if present(spec, "fsGroupPolicy") {
		errs = append(errs, mustBeOneOf(p.Child("fsGroupPolicy"), spec.String("fsGroupPolicy"), "File", "None", "ReadWriteOnceWithFSType")...)
	}
	var audiences []string
	for i, token := range objectsAt(spec, "tokenRequests") {
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
	for _, mode := range stringsAt(spec, "volumeLifecycleModes") {
		errs = append(errs, mustBeOneOf(p.Child("volumeLifecycleModes"), mode, "Persistent", "Ephemeral")...)
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

func csiNodeKind() kind {
	return kind{
		storage: "csinodes.storage.k8s.io",
		strategy: resource.Strategy{
			ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateNodeDrivers(objectsAt(obj, "spec", "drivers"))
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateNodeDrivers(objectsAt(obj, "spec", "drivers"))
				return append(errs, sameNodeDrivers(obj, old)...)
			},
		},
		columns: []column{colName(), colText("Drivers", "Drivers indicates the number of CSI drivers registered on the node").of("integer"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), int64(len(obj.List("spec", "drivers"))), cellAge(now, obj))
		},
	}
}

func validateNodeDrivers(drivers []object.Object) field.ErrorList {
	const longest = 256
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, driver := range drivers {
		p, name, node := field.Root("spec.drivers").Index(i), driver.String("name"), driver.String("nodeID")
		errs = append(errs, driverName(p.Child("name"), name)...)
		errs = append(errs, mustBeSet(p.Child("nodeID"), node)...)
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
		keys := stringsAt(driver, "topologyKeys")
		for j, key := range keys {
			errs = append(errs, mustBeSet(p, key)...)
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
	for _, was := range objectsAt(old, "spec", "drivers") {
		for _, driver := range objectsAt(obj, "spec", "drivers") {
			if driver.String("name") != was.String("name") {
				continue
			}
			a, b := driver.Copy(), was.Copy()
			delete(a, "allocatable")
			delete(b, "allocatable")
			if !object.SemanticEqual(map[string]any(a), map[string]any(b)) {
				errs = append(errs, field.Invalid(field.Root("spec.drivers"), goValue("CSINodeDriver", a), field.TextImmutable))
			}
		}
	}
	return errs
}

func storageCapacityKind() kind {
	return kind{
		storage: "csistoragecapacities.storage.k8s.io",
		strategy: resource.Strategy{
			NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateStorageCapacity(obj, selector.ValidateOptions{})
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				bad := len(selector.ValidateLabelSelector(field.Path{}, old.Map("nodeTopology"), selector.ValidateOptions{})) > 0
				errs := validateStorageCapacity(obj, selector.ValidateOptions{AllowInvalidValues: bad})
				if present(obj, "nodeTopology") != present(old, "nodeTopology") || !object.SemanticEqual(obj["nodeTopology"], old["nodeTopology"]) {
					errs = append(errs, field.Invalid(field.Root("nodeTopology"), selectorValue(obj.Map("nodeTopology")), field.TextImmutable))
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
	if q := quantityOf(obj["capacity"]); q.Sign() < 0 {
		errs = append(errs, field.Invalid(field.Root("capacity"), q.String(), field.TextNonNegative))
	}
	return errs
}

func volumeAttachmentKind() kind {
	const spec = docStorage + "VolumeAttachmentSpec"
	attacher := colDoc("Attacher", spec, "attacher")
	attacher.format = "name"
	return kind{
		storage: "volumeattachments.storage.k8s.io",
		strategy: resource.Strategy{
			HasStatus: true, CustomStatus: true, ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateAttachment(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := validateAttachment(obj)
				spec, was := objectAt(obj, "spec"), objectAt(old, "spec")
				if !sameGo("VolumeAttachmentSpec", spec, was) {
					errs = append(errs, field.Invalid(field.Root("spec"), goValue("VolumeAttachmentSpec", spec), field.TextImmutable))
				}
				return errs
			},
		},
		defaults: everyVersion(func(obj object.Object) {
			if inline := objectAt(obj, "spec", "source", "inlineVolumeSpec"); inline != nil {
				defaultPersistentSource(inline)
			}
		}),
		columns: []column{colName(), attacher, colDoc("PV", docStorage+"VolumeAttachmentSource", "persistentVolumeName"),
			colDoc("Node", spec, "nodeName"), colDoc("Attached", docStorage+"VolumeAttachmentStatus", "attached").of("boolean"), colAge()},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), obj.String("spec", "attacher"), obj.String("spec", "source", "persistentVolumeName"),
				obj.String("spec", "nodeName"), boolAt(obj, "status", "attached"), cellAge(now, obj))
		},
	}
}

func validateAttachment(obj object.Object) field.ErrorList {
	const largest, longest = 256 << 10, 1024
	p := field.Root("spec")
	errs := driverName(p.Child("attacher"), obj.String("spec", "attacher"))
	name, named := obj.String("spec", "source", "persistentVolumeName"), present(obj, "spec", "source", "persistentVolumeName")
	switch inline := present(obj, "spec", "source", "inlineVolumeSpec"); {
	case !inline && !named:
		errs = append(errs, field.Required(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline && named:
		errs = append(errs, field.Forbidden(p.Child("source"), "must specify exactly one of inlineVolumeSpec and persistentVolumeName"))
	case inline:
		errs = append(errs, validateInlineVolume(p.Child("source", "inlineVolumeSpec"), objectAt(obj, "spec", "source", "inlineVolumeSpec"))...)
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
		e, at := objectAt(obj, "status", failure), status.Child(failure)
		if len(e.String("message")) > longest { // the text has another limit, in the server too
			errs = append(errs, field.TooLong(at.Child("message"), largest))
		}
		if code := intAt(e, "errorCode"); code < 0 {
			errs = append(errs, field.Invalid(at.Child("errorCode"), code, field.RangeText(0, 1<<31-1)))
		}
	}
	if named {
		errs = append(errs, field.Check(p.Child("source", "persistentVolumeName"), name, field.DNS1123Subdomain)...)
	}
	return errs
}
