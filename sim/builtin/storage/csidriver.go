package storage

import (
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func csiDriverKind() kind.Kind {
	const spec = table.DocStorage + "CSIDriverSpec"
	flag := func(name, field string) table.Column { return table.Doc(name, spec, field).Bool("spec", field) }
	return kind.Kind{
		Storage: "csidrivers.storage.k8s.io",
		Gates: []kind.Gate{
			{Name: "CSIServiceAccountTokenSecrets", Fields: []string{"spec.serviceAccountTokenInSecrets"}},
			{Name: "MutableCSINodeAllocatableCount", Fields: []string{"spec.nodeAllocatableUpdatePeriodSeconds"}},
			{Name: "VolumeLimitScaling", Fields: []string{"spec.preventPodSchedulingIfMissing"},
				Defaults: func(obj object.Object) { obj.SetDefault(false, "spec", "preventPodSchedulingIfMissing") }}, // KEP-5030
		},
		Strategy: resource.Strategy{
			ReturnDeletedObject: true, DenyUnconditionalUpdate: true,
			PrepareForUpdate: prepareCSIDriver,
			Warn: func(ctx *resource.Context, obj, old object.Object) {
				tokens := obj.List("spec", "tokenRequests")
				if len(tokens) > 0 && !obj.Has("spec", "serviceAccountTokenInSecrets") &&
					(old == nil || !object.SemanticEqual(tokens, old.List("spec", "tokenRequests"))) {
					ctx.Warn("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent " +
						"possible logging of tokens in volume attributes")
				}
			},
		},
		Validate: func(_ *resource.Context, at field.Cursor) { validateCSIDriver(at.Child("spec")) },
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
		Columns: []table.Column{table.Name(), table.Doc("AttachRequired", spec, "attachRequired").Of("boolean").Cell(cellAttach),
			flag("PodInfoOnMount", "podInfoOnMount"), flag("StorageCapacity", "storageCapacity"),
			table.Doc("TokenRequests", spec, "tokenRequests").Cell(cellAudiences), flag("RequiresRepublish", "requiresRepublish"),
			table.Doc("Modes", spec, "volumeLifecycleModes").Join(table.None, "spec", "volumeLifecycleModes"), table.Age()},
	}
}

func cellAttach(obj object.Object) any {
	attach, ok := obj.Bool("spec", "attachRequired")
	return attach || !ok
}

func cellAudiences(obj object.Object) any {
	if !obj.Has("spec", "tokenRequests") {
		return table.Unset
	}
	return strings.Join(kind.Texts(obj.Objects("spec", "tokenRequests"), "audience"), ",")
}

// prepareCSIDriver sets the generation. A new driver has no generation; the first change sets it to 1.
func prepareCSIDriver(_ *resource.Context, obj, old object.Object) {
	if !object.SemanticEqual(obj["spec"], old["spec"]) {
		obj.Set(old.Generation()+1, "metadata", "generation")
	}
}

func validateCSIDriver(at field.Cursor) {
	at.Child("fsGroupPolicy").OneOf("File", "None", "ReadWriteOnceWithFSType")
	audiences := field.Seen{}
	for token := range at.Each("tokenRequests") {
		if audience := token.String("audience"); audiences.Again(audience) {
			token.Child("audience").Duplicate(audience)
			continue
		}
		token.Child("expirationSeconds").Min(600, "may not specify a duration less than 10 minutes").
			Max(1<<32, "may not specify a duration larger than 2^32 seconds")
	}
	for mode := range at.Each("volumeLifecycleModes") {
		mode.ReportAt(at.Child("volumeLifecycleModes")).OneOf("Persistent", "Ephemeral")
	}
	at.Child("nodeAllocatableUpdatePeriodSeconds").Min(10, "must be greater than or equal to 10 seconds")
	at.Child("serviceAccountTokenInSecrets").InvalidIf(at.Has("serviceAccountTokenInSecrets") && at.Len("tokenRequests") == 0,
		"serviceAccountTokenInSecrets is set but no tokenRequests are specified")
	at.Child("attachRequired").ReportAt(at.Child("attachedRequired")).Immutable()
	at.Child("volumeLifecycleModes").Immutable()
}
