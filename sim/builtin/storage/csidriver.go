package storage

import (
	"slices"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
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
