package apps

import (
	"fmt"
	"time"

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

// statefulRules says what an update of a StatefulSet lets pass because it cannot be changed any more.
type statefulRules struct {
	update      bool // serviceName and volumeClaimTemplates are immutable
	badTemplate bool // the old object had errors of its own
}

func validateStatefulSet(ctx *resource.Context, obj, old object.Object, rules statefulRules) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	var errs field.ErrorList
	switch policy := spec.String("podManagementPolicy"); policy {
	case "":
		errs = append(errs, field.Required(p.Child("podManagementPolicy"), ""))
	case "OrderedReady", "Parallel":
	default:
		errs = append(errs, field.Invalid(p.Child("podManagementPolicy"), field.Enum(policy), "must be 'OrderedReady' or 'Parallel'"))
	}
	errs = append(errs, validateStatefulStrategy(p.Child("updateStrategy"), spec.At("updateStrategy"))...)
	if retention := spec.At("persistentVolumeClaimRetentionPolicy"); retention != nil {
		for _, when := range []string{"whenDeleted", "whenScaled"} {
			errs = append(errs, field.MustBeOneOf(p.Child("persistentVolumeClaimRetentionPolicy", when), retention.String(when), "Retain", "Delete")...)
		}
	}
	if !rules.update {
		for i, claim := range spec.Objects("volumeClaimTemplates") {
			at := field.CursorOn(p.Child("volumeClaimTemplates").Index(i).Child("spec"), claim.Map("spec"))
			errs = append(errs, podspec.CheckClaim(at).Errors()...)
		}
	}
	errs = append(errs, kind.NonNegatives(p, spec, "replicas", "minReadySeconds")...)
	errs = append(errs, field.NonNegative(spec.Int64("ordinals", "start"), p.Child("ordinals.start"))...)
	if name := spec.String("serviceName"); name != "" && !rules.update {
		errs = append(errs, field.Check(p.Child("serviceName"), name, field.DNS1123Label)...)
	}
	errs = append(errs, validateSelector(p.Child("selector"), spec.Map("selector"), "statefulset")...)
	s, err := selector.FromLabelSelector(spec.Map("selector"))
	if err != nil {
		errs = append(errs, field.Invalid(p.Child("selector"), kind.SelectorValue(spec.Map("selector")), ""))
	} else {
		errs = append(errs, validateStatefulTemplate(ctx, p.Child("template"), s, spec, old.At("spec"), rules)...)
	}
	return append(errs, validateAlwaysRestarts(p.Child("template"), spec.At("template"), "StatefulSet")...)
}

func validateStatefulStrategy(p field.Path, s object.Object) field.ErrorList {
	rolling := s.At("rollingUpdate")
	switch s.String("type") {
	case "":
		return field.ErrorList{field.Required(p, "")}
	case "OnDelete":
		if rolling == nil {
			return nil
		}
		return field.ErrorList{field.Invalid(p.Child("rollingUpdate"), gotext.Value("RollingUpdateStatefulSetStrategy", rolling),
			"only allowed for updateStrategy 'RollingUpdate'")}
	case "RollingUpdate":
		return validateRollingStatefulSet(p.Child("rollingUpdate"), rolling)
	}
	return field.ErrorList{field.Invalid(p, gotext.Value("StatefulSetUpdateStrategy", s), "must be 'RollingUpdate' or 'OnDelete'")}
}

func validateRollingStatefulSet(p field.Path, rolling object.Object) field.ErrorList {
	errs := kind.NonNegatives(p, rolling, "partition")
	if !rolling.Has("maxUnavailable") {
		return errs
	}
	v, p := rolling["maxUnavailable"], p.Child("maxUnavailable")
	errs = append(errs, kind.ValidateAmountOrPercent(p, v)...)
	if amountOrPercent(v) == 0 {
		errs = append(errs, field.Invalid(p, kind.IntOrString(v), "cannot be 0"))
	}
	return append(errs, kind.ValidateAtMost100Percent(p, v)...)
}

// validateStatefulTemplate checks the template of a StatefulSet as its pods will be: the controller sets the names they
// have on the network and adds a volume for each claim.
func validateStatefulTemplate(ctx *resource.Context, p field.Path, s selector.Labels, spec, old object.Object, rules statefulRules) field.ErrorList {
	template := object.Object(object.Copy(spec.Map("template")).(map[string]any))
	errs := podspec.ValidateSelected(p, s, template)
	if pod := template.At("spec"); pod != nil {
		delete(pod, "subdomain")
		delete(pod, "hostname")
		if claims := spec.Objects("volumeClaimTemplates"); len(claims) > 0 {
			pod["volumes"] = volumesOfClaims(claims, pod.Objects("volumes"))
		}
	}
	if !rules.badTemplate {
		errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("template"), p)...)
	}
	errs = append(errs, field.CheckLabels(p.Child("labels"), template.Labels())...)
	return append(errs, podspec.CheckAnnotations(field.CursorOn(p.Child("annotations"), template.Map("metadata", "annotations"))).Errors()...)
}

// volumesOfClaims returns the volumes of a pod of a StatefulSet: claims win over volumes of the same name.
func volumesOfClaims(claims, volumes []object.Object) []any {
	var out []any
	claimed := map[string]bool{}
	for _, claim := range claims {
		if name := claim.Name(); !claimed[name] {
			claimed[name] = true
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

func validateStatefulSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return append(validateStatefulStatus(obj.At("status")), validateCollisions(obj, old)...)
	}
	rules := statefulRules{update: true}
	rules.badTemplate = len(validateStatefulSet(ctx, old, old, rules)) > 0
	errs := validateStatefulSet(ctx, obj, old, rules)
	rest := obj.Copy()
	kind.KeepOld(rest.At("spec"), old.At("spec"), "replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
		"revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy")
	if !gotext.Same("StatefulSetSpec", rest.At("spec"), old.At("spec")) {
		errs = append(errs, field.Forbidden(field.Root("spec"), statefulSetChanges))
	}
	return errs
}

func validateStatefulStatus(s object.Object) field.ErrorList {
	p := field.Root("status")
	errs := kind.NonNegatives(p, s, "replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas",
		"observedGeneration", "collisionCount")
	errs = append(errs, notAbove(p, s, "replicas", aboveReplicas, "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")...)
	return append(errs, notAbove(p, s, "readyReplicas", "cannot be greater than status.readyReplicas", "availableReplicas")...)
}

// warnClaimTemplate warns about sizes that are no whole number of bytes.
func warnClaimTemplate(ctx *resource.Context, p field.Path, claim object.Object) {
	for _, list := range []string{"requests", "limits"} {
		size, ok := claim.Map("spec", "resources", list)["storage"]
		if q := quantity.Of(size); ok && q.MilliValue()%1000 != 0 {
			ctx.Warn(fmt.Sprintf("%s: fractional byte value %q is invalid, must be an integer", p.Child("resources", list).Key("storage"), q))
		}
	}
}

func warnStatefulSet(ctx *resource.Context, obj, old object.Object) {
	if ctx.Subresource == "status" {
		return
	}
	warnWorkload(ctx, obj, old)
	for i, claim := range obj.Objects("spec", "volumeClaimTemplates") {
		at := field.Root("spec").Child("volumeClaimTemplates").Index(i)
		if old != nil {
			at = at.Child("Spec") // as the real server says it on updates
		}
		warnClaimTemplate(ctx, at, claim)
	}
	if obj.Int64("spec", "revisionHistoryLimit") < 0 {
		ctx.Warn("spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended")
	}
}

func defaultStatefulSet(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	kind.SetEmpty(spec, "podManagementPolicy", "OrderedReady")
	if spec.String("updateStrategy", "type") == "" {
		spec.Set("RollingUpdate", "updateStrategy", "type")
		spec.SetDefault(map[string]any{}, "updateStrategy", "rollingUpdate")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil && spec.String("updateStrategy", "type") == "RollingUpdate" {
		rolling.SetDefault(int64(0), "partition")
	}
	for _, when := range []string{"whenDeleted", "whenScaled"} {
		if spec.String("persistentVolumeClaimRetentionPolicy", when) == "" {
			spec.Set("Retain", "persistentVolumeClaimRetentionPolicy", when)
		}
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

func statefulSetKind() kind.Kind {
	return kind.Kind{
		Storage: "statefulsets.apps",
		Gates: append(podspec.Gates("spec.template.spec."), []kind.Gate{
			{Name: "MaxUnavailableStatefulSet", Fields: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"}},
		}...),
		Strategy: resource.Strategy{
			HasStatus: true, SpecOnly: true, SpecChanged: gotext.SpecChanged("StatefulSetSpec"), NameRule: field.NameDNSLabel,
			Blank: noReplicas,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateStatefulSet(ctx, obj, nil, statefulRules{})
			},
			ValidateUpdate: validateStatefulSetUpdate,
			Warn:           warnStatefulSet,
		},
		Defaults: kind.EveryVersion(defaultStatefulSet),
		Connect:  map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Columns: []table.Column{
			table.Name(), table.Text("Ready", "Number of the pod with ready state"), table.Age(), podspec.ColContainers(), podspec.ColImages(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellReady(obj), table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"),
				podspec.ContainersCell(obj, "image", "spec", "template"))
		},
	}
}
