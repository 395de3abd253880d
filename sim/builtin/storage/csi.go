package storage

import (
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
				return validateCSIDriver(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateCSIDriver(obj, old)
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

func validateCSIDriver(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old, "spec")
	at.Child("fsGroupPolicy").OneOf("File", "None", "ReadWriteOnceWithFSType")
	audiences := field.Seen{}
	for token := range at.Each("tokenRequests") {
		if audiences[token.String("audience")] {
			token.Child("audience").OrEmpty().Unique(audiences)
			continue
		}
		audiences[token.String("audience")] = true
		token.Child("expirationSeconds").Min(600, "may not specify a duration less than 10 minutes").
			Max(1<<32, "may not specify a duration larger than 2^32 seconds")
	}
	for mode := range at.Each("volumeLifecycleModes") {
		mode.ReportAt(at.Path("volumeLifecycleModes")).OneOf("Persistent", "Ephemeral")
	}
	at.Child("nodeAllocatableUpdatePeriodSeconds").Min(10, "must be greater than or equal to 10 seconds")
	at.Child("serviceAccountTokenInSecrets").InvalidIf(at.Has("serviceAccountTokenInSecrets") && at.Len("tokenRequests") == 0,
		"serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	at.Child("attachRequired").ReportAt(at.Path("attachedRequired")).Immutable()
	at.Child("volumeLifecycleModes").Immutable()
	return at.Errors()
}

func csiNodeKind() kind.Kind {
	return kind.Kind{
		Storage: "csinodes.storage.k8s.io",
		Strategy: resource.Strategy{
			Checks:         resource.Checks{Update: []resource.Check{resource.CheckMeta, resource.CheckKind}},
			ReturnsDeleted: true, NeedsResourceVersion: true,
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return validateNodeDrivers(obj)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return append(validateNodeDrivers(obj), sameNodeDrivers(obj, old)...)
			},
		},
		Columns: []table.Column{table.Name(), table.Text("Drivers", "Drivers indicates the number of CSI drivers registered on the node").Of("integer"), table.Age()},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), int64(len(obj.List("spec", "drivers"))), table.AgeCell(now, obj))
		},
	}
}

func validateNodeDrivers(obj object.Object) field.ErrorList {
	at := field.CursorAt(obj, nil, "spec")
	names := field.Seen{}
	for driver := range at.Each("drivers") {
		name, node := driver.Child("name"), driver.Child("nodeID")
		driver.Report(podspec.DriverName(name.Path(), name.String()))
		node.Required().InvalidIf(len(node.String()) > 256, "must be 256 characters or less")
		driver.Child("allocatable", "count").NonNegative()
		name.Unique(names)
		keys := field.Seen{}
		for key := range driver.Each("topologyKeys") {
			key = key.ReportAt(driver.Path())
			key.Required()
			key.Unique(keys).Check(field.QualifiedName)
		}
	}
	return at.Errors()
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
				return validateStorageCapacity(obj, nil)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				return validateStorageCapacity(obj, old)
			},
		},
	}
}

func validateStorageCapacity(obj, old object.Object) field.ErrorList {
	at := field.CursorAt(obj, old)
	topology, was := obj.Map("nodeTopology"), old.Map("nodeTopology")
	bad := len(selector.ValidateLabelSelector(field.Path{}, was, selector.ValidateOptions{})) > 0
	at.Report(selector.ValidateLabelSelector(at.Path("nodeTopology"), topology, selector.ValidateOptions{AllowInvalidValues: bad}))
	class := at.Child("storageClassName").OrEmpty().Check(field.DNS1123Subdomain)
	if q := quantity.Of(obj["capacity"]); q.Sign() < 0 {
		at.Child("capacity").Invalid(q.String(), field.TextNonNegative)
	}
	if old != nil {
		at.Report(kind.ImmutableSelector(at.Path("nodeTopology"), topology, was))
		class.InvalidIf(class.String() != old.String("storageClassName"), field.TextImmutable)
	}
	return at.Errors()
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
				if spec := obj.At("spec"); !gotext.Same("VolumeAttachmentSpec", spec, old.At("spec")) {
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
	at := field.CursorAt(obj, nil)
	attacher, source := at.Child("spec", "attacher"), at.Child("spec", "source")
	inline, volume := source.Child("inlineVolumeSpec"), source.Child("persistentVolumeName")
	at.Report(podspec.DriverName(attacher.Path(), attacher.String()))
	switch {
	case !inline.Has() && !volume.Has():
		source.Missing("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.Has() && volume.Has():
		source.Forbidden("must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	case inline.Has():
		validateInlineVolume(inline)
	case volume.String() == "":
		volume.Missing("must specify non empty persistentVolumeName")
	}
	at.Child("spec", "nodeName").OrEmpty().Check(field.DNS1123Subdomain)
	size := 0
	for key, value := range object.StringMap(obj.Map("status", "attachmentMetadata")) { // order does not matter
		size += len(key) + len(value)
	}
	if size > largest {
		at.Child("status", "attachmentMetadata").TooLong(largest)
	}
	for _, name := range []string{"attachError", "detachError"} {
		failure := at.Child("status", name)
		if len(failure.String("message")) > longest { // the text has another limit, in the server too
			failure.Child("message").TooLong(largest)
		}
		failure.Child("errorCode").Min(0, field.RangeText(0, 1<<31-1))
	}
	volume.Check(field.DNS1123Subdomain)
	return at.Errors()
}
