package apps

import (
	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// validateStatefulSet checks a StatefulSet. If the old object is invalid, an update does not report errors in the
// template.
func validateStatefulSet(ctx *resource.Context, at field.Cursor) {
	spec, old := at.Child("spec"), at.Old()
	if old == nil {
		validateStatefulSpec(ctx, spec, false)
		return
	}
	before := field.CursorAt(old, old)
	validateStatefulSpec(ctx, before.Child("spec"), false)
	validateStatefulSpec(ctx, spec, len(before.Errors()) > 0)
	if ctx.Since(37) {
		immutableStatefulSpec(ctx, spec)
		return
	}
	rest := spec.Object().Copy()
	kind.KeepOld(rest, old.At("spec"), "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "revisionHistoryLimit",
		"persistentVolumeClaimRetentionPolicy")
	spec.ForbidIf(!gotext.Same(gotext.StatefulSetSpec, rest, old.At("spec")), "updates to statefulset spec for fields other than 'replicas', "+
		"'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden")
}

// immutableStatefulSpec checks that the immutable fields are unchanged (apps/validation.ValidateStatefulSetUpdate).
func immutableStatefulSpec(ctx *resource.Context, at field.Cursor) {
	kind.CheckSelectorKept(at.Child("selector"))
	if claims := at.Child("volumeClaimTemplates"); claims.Changed() {
		claims.Invalid(gotext.Values(gotext.PersistentVolumeClaim.In(ctx.Server.Minor), at.Object().List("volumeClaimTemplates")), field.TextImmutable)
	}
	name := at.Child("serviceName").OrEmpty()
	name.InvalidIf(name.Changed(), field.TextImmutable)
	at.Child("podManagementPolicy").Immutable()
}

// validateStatefulSpec checks the spec, except for immutable fields. If badTemplate is true, it accepts an invalid
// template.
func validateStatefulSpec(ctx *resource.Context, at field.Cursor, badTemplate bool) {
	policy, labels := at.Child("podManagementPolicy").Required(), at.Child("selector")
	if text := policy.String(); policy.Has() && text != "OrderedReady" && text != "Parallel" {
		policy.Invalid(field.Enum(text), "must be 'OrderedReady' or 'Parallel'")
	}
	validateStatefulStrategy(at.Child("updateStrategy"))
	if retention := at.Child("persistentVolumeClaimRetentionPolicy"); retention.Has() {
		retention.Child("whenDeleted").OrEmpty().OneOf("Retain", "Delete")
		retention.Child("whenScaled").OrEmpty().OneOf("Retain", "Delete")
	}
	if !at.Updates() {
		for claim := range at.Each("volumeClaimTemplates") {
			podspec.CheckClaim(claim.Child("spec"))
		}
	}
	kind.NonNegative(at, "replicas", "minReadySeconds")
	at.Child("ordinals", "start").NonNegative()
	if !at.Updates() {
		at.Child("serviceName").IfGiven().Check(field.DNS1123Label)
	}
	validateSelector(labels, "statefulset")
	if s, err := selector.FromLabelSelector(labels.Object()); err != nil {
		kind.InvalidSelector(labels, "")
	} else {
		validateStatefulTemplate(ctx, at, s, badTemplate)
	}
	kind.CheckAlwaysRestarts(at.Child("template"), "StatefulSet")
}

func validateStatefulStrategy(at field.Cursor) {
	rolling := at.Child("rollingUpdate")
	switch at.String("type") {
	case "":
		at.Missing("")
	case "OnDelete":
		kind.InvalidStructIf(rolling, rolling.Has(), gotext.RollingUpdateStatefulSetStrategy,
			"only allowed for updateStrategy 'RollingUpdate'")
	case "RollingUpdate":
		kind.NonNegative(rolling, "partition")
		unavailable := rolling.Child("maxUnavailable")
		kind.CheckAmountOrPercent(unavailable)
		if unavailable.Has() && kind.AmountOf(unavailable) == 0 {
			kind.InvalidAmount(unavailable, "cannot be 0")
		}
		kind.CheckAtMost100Percent(unavailable)
	default:
		at.Invalid(gotext.Value(gotext.StatefulSetUpdateStrategy, at.Object()), "must be 'RollingUpdate' or 'OnDelete'")
	}
}

// validateStatefulTemplate checks the pods that the controller would create from the template: the controller sets the hostname
// and the subdomain, and adds a volume for each claim.
func validateStatefulTemplate(ctx *resource.Context, at field.Cursor, s selector.Labels, bad bool) {
	spec, template := at.Object(), at.Child("template")
	podspec.CheckSelected(template, s)
	template = template.With(object.Copy(spec.Map("template"))).Was(template.Old())
	if pod := template.Object().At("spec"); pod != nil {
		delete(pod, "subdomain")
		delete(pod, "hostname")
		if claims := spec.Objects("volumeClaimTemplates"); len(claims) > 0 {
			pod["volumes"] = volumesOfClaims(claims, pod.Objects("volumes"))
		}
	}
	if !bad {
		podspec.CheckTemplate(ctx, template)
	}
	podspec.CheckTemplateMeta(template)
}

// volumesOfClaims returns the volumes of a StatefulSet's pod. Claims replace volumes of the same name.
func volumesOfClaims(claims, volumes []object.Object) []any {
	var out []any
	claimed := field.Seen{}
	for _, claim := range claims {
		if name := claim.Name(); !claimed.Again(name) {
			out = append(out, map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": name}})
		}
	}
	for _, v := range volumes {
		if !claimed[v.String("name")] {
			out = append(out, map[string]any(v))
		}
	}
	return out
}

func validateStatefulStatus(_ *resource.Context, all field.Cursor) {
	at := all.Child("status")
	kind.NonNegative(at, "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "observedGeneration", "collisionCount")
	kind.NotAbove(at, "replicas", kind.AboveReplicas, "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
	kind.NotAbove(at, "readyReplicas", "cannot be greater than status.readyReplicas", "availableReplicas")
	validateCollisions(at)
}

func warnStatefulSet(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	warnWorkload(ctx, obj, old)
	for i, claim := range obj.Objects("spec", "volumeClaimTemplates") {
		at := field.Root("spec").Child("volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // the real server's path on update
		}
		kind.WarnClaimSize(ctx, at, claim)
	}
	if obj.Int64("spec", "revisionHistoryLimit") < 0 {
		ctx.Warn("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

func defaultStatefulSet(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	kind.SetEmpty(spec, "OrderedReady", "podManagementPolicy")
	if spec.String("updateStrategy", "type") == "" {
		spec.Set("RollingUpdate", "updateStrategy", "type")
		spec.SetDefault(map[string]any{}, "updateStrategy", "rollingUpdate")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil && spec.String("updateStrategy", "type") == "RollingUpdate" {
		rolling.SetDefault(int64(0), "partition")
	}
	for _, when := range []string{"whenDeleted", "whenScaled"} {
		kind.SetEmpty(spec, "Retain", "persistentVolumeClaimRetentionPolicy", when)
	}
	spec.SetDefault(int64(1), "replicas")
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	for _, claim := range spec.Objects("volumeClaimTemplates") {
		claim["apiVersion"], claim["kind"] = "v1", "PersistentVolumeClaim"
		claim.SetDefault("Filesystem", "spec", "volumeMode")
		claim.SetDefault("Pending", "status", "phase")
		podspec.RoundResources(claim.At("spec", "resources"))
		podspec.RoundLists(claim.At("status"), "capacity", "allocatedResources")
	}
	podspec.DefaultTemplateOf(obj)
}

// defaultMaxUnavailable sets the default of KEP-961.
func defaultMaxUnavailable(obj object.Object) {
	spec := obj.At("spec", "updateStrategy")
	if rolling := spec.At("rollingUpdate"); rolling != nil && spec.String("type") == "RollingUpdate" {
		rolling.SetDefault(int64(1), "maxUnavailable")
	}
}

func statefulSetKind() kind.Kind {
	return kind.Kind{
		Storage: "statefulsets.apps",
		Gates: append(podspec.Gates("spec.template.spec."), kind.Gate{
			Name:     "MaxUnavailableStatefulSet",
			Fields:   []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"},
			Defaults: defaultMaxUnavailable,
		}),
		Strategy: resource.Strategy{
			HasStatus: true, SpecChanged: gotext.SpecChanged(gotext.StatefulSetSpec), NameRule: field.NameDNSLabel,
			Blank: noReplicas,
			Warn:  warnStatefulSet,
		},
		Validate: validateStatefulSet, ValidateStatus: validateStatefulStatus,
		Defaults: kind.EveryVersion(defaultStatefulSet),
		Connect:  map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Columns: append([]table.Column{table.Name(), table.Text("Ready", "Number of the pod with ready state").Cell(cellReady), table.Age()},
			podspec.ContainerColumns("spec", "template")...),
	}
}
