package apps

import (
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// templateGeneration is the annotation in which apps/v1 keeps a field that older versions of DaemonSet had in the spec.
const templateGeneration = "deprecated.daemonset.template.generation"

func defaultDaemonSet(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	spec := obj.At("spec")
	if spec.String("updateStrategy", "type") == "" {
		spec.Set("RollingUpdate", "updateStrategy", "type")
	}
	if spec.String("updateStrategy", "type") == "RollingUpdate" {
		spec.SetDefault(int64(1), "updateStrategy", "rollingUpdate", "maxUnavailable")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil { // which has numbers in memory
		rolling.SetDefault(int64(0), "maxUnavailable")
		rolling.SetDefault(int64(0), "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	podspec.DefaultTemplateOf(obj)
	obj.SetDefault("0", "metadata", "annotations", templateGeneration)
}

// readTemplateGeneration reads templateGeneration, which is a number in memory.
func readTemplateGeneration(obj object.Object) (object.Object, error) {
	return obj, readNumber(obj, templateGeneration)
}

// generationOfTemplate returns the templateGeneration of a DaemonSet.
func generationOfTemplate(obj object.Object) int64 {
	n, _ := strconv.ParseInt(obj.String("metadata", "annotations", templateGeneration), 10, 64)
	return n
}

func setGenerationOfTemplate(obj object.Object, n int64) {
	obj.Set(strconv.FormatInt(n, 10), "metadata", "annotations", templateGeneration)
}

func prepareDaemonSet(ctx *resource.Context, obj object.Object) {
	setGenerationOfTemplate(obj, max(generationOfTemplate(obj), 1))
}

// prepareDaemonSetUpdate counts changes of the template; clients cannot set the count.
func prepareDaemonSetUpdate(ctx *resource.Context, obj, old object.Object) {
	n := generationOfTemplate(old)
	if ctx.Subresource != "status" && !gotext.Same("PodTemplateSpec", obj.Map("spec", "template"), old.Map("spec", "template")) {
		n++
	}
	setGenerationOfTemplate(obj, n)
}

func daemonSetKind() kind.Kind {
	status := func(name, field string) table.Column {
		return table.Doc(name, docApps+"DaemonSetStatus", field).Of("integer")
	}
	return kind.Kind{
		Storage: "daemonsets.apps",
		Gates:   podspec.Gates("spec.template.spec."),
		Strategy: resource.Strategy{
			HasStatus: true, SpecChanged: gotext.SpecChanged("DaemonSetSpec"), InnerAnnotation: templateGeneration,
			Blank:            func(obj object.Object) { setGenerationOfTemplate(obj, 0) },
			PrepareForCreate: prepareDaemonSet,
			PrepareForUpdate: prepareDaemonSetUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateDaemonSet(ctx, obj, nil)
			},
			ValidateUpdate: validateDaemonSetUpdate,
			Warn:           warnDaemonSet,
		},
		Defaults: kind.EveryVersion(defaultDaemonSet),
		Convert:  map[string]kind.Conversion{"apps/v1": {ToHub: readTemplateGeneration}},
		Columns: append([]table.Column{
			table.Name(), status("Desired", "desiredNumberScheduled"), status("Current", "currentNumberScheduled"),
			status("Ready", "numberReady"), status("Up-to-date", "updatedNumberScheduled"), status("Available", "numberAvailable"),
			table.Doc("Node Selector", table.DocCore+"PodSpec", "nodeSelector"), table.Age(),
		}, podspec.TemplateColumns(docApps+"DaemonSetSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			s := obj.At("status")
			return table.Row(obj.Name(), s.Int64("desiredNumberScheduled"), s.Int64("currentNumberScheduled"), s.Int64("numberReady"),
				s.Int64("updatedNumberScheduled"), s.Int64("numberAvailable"),
				table.LabelsCell(object.StringMap(obj.Map("spec", "template", "spec", "nodeSelector"))), table.AgeCell(now, obj),
				podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				selector.FormatLabelSelector(obj.Map("spec", "selector")))
		},
	}
}

func validateDaemonSet(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	raw := spec.Map("selector")
	options := selector.ValidateOptions{AllowInvalidValues: selector.HasInvalidValue(old.Map("spec", "selector"))}
	errs := selector.ValidateLabelSelector(p.Child("selector"), raw, options)
	template := spec.At("template")
	if s, err := selector.FromLabelSelector(raw); err == nil {
		errs = append(errs, podspec.ValidateSelected(p.Child("template"), s, template)...)
	}
	if raw != nil {
		errs = append(errs, validateNotEmpty(p.Child("selector"), raw, "daemonset")...)
	}
	errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("spec", "template"), p.Child("template"))...)
	errs = append(errs, validateAlwaysRestarts(p.Child("template"), template, "DaemonSet")...)
	errs = append(errs, kind.NonNegatives(p, spec, "minReadySeconds")...)
	errs = append(errs, field.NonNegative(generationOfTemplate(obj), p.Child("templateGeneration"))...)
	errs = append(errs, validateDaemonStrategy(p.Child("updateStrategy"), spec.At("updateStrategy"))...)
	return append(errs, kind.NonNegatives(p, spec, "revisionHistoryLimit")...)
}

func validateDaemonStrategy(p field.Path, s object.Object) field.ErrorList {
	rolling := s.At("rollingUpdate")
	switch s.String("type") {
	case "OnDelete":
		return nil
	case "RollingUpdate":
		return validateRollingDaemonSet(p.Child("rollingUpdate"), rolling)
	}
	return field.ErrorList{field.NotSupported(p, gotext.Value("DaemonSetUpdateStrategy", s), "RollingUpdate", "OnDelete")}
}

func validateRollingDaemonSet(p field.Path, rolling object.Object) field.ErrorList {
	unavailable, surge := rolling["maxUnavailable"], rolling["maxSurge"]
	errs := kind.ValidateAmountOrPercent(p.Child("maxUnavailable"), unavailable)
	errs = append(errs, kind.ValidateAmountOrPercent(p.Child("maxSurge"), surge)...)
	errs = append(errs, kind.ValidateAtMost100Percent(p.Child("maxUnavailable"), unavailable)...)
	errs = append(errs, kind.ValidateAtMost100Percent(p.Child("maxSurge"), surge)...)
	hasUnavailable, hasSurge := amountOrPercent(unavailable) != 0, amountOrPercent(surge) != 0
	switch {
	case hasUnavailable && hasSurge:
		errs = append(errs, field.Invalid(p.Child("maxSurge"), kind.IntOrString(surge), "may not be set when maxUnavailable is non-zero"))
	case !hasUnavailable && !hasSurge:
		errs = append(errs, field.Required(p.Child("maxUnavailable"), "cannot be 0 when maxSurge is 0"))
	}
	return errs
}

func validateDaemonSetUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		errs := kind.NonNegatives(field.Root("status"), obj.At("status"), "currentNumberScheduled", "numberMisscheduled",
			"desiredNumberScheduled", "numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable",
			"numberUnavailable", "collisionCount")
		return append(errs, validateCollisions(obj, old)...)
	}
	errs := kind.ImmutableSelector(field.Root("spec").Child("selector"), obj.Map("spec", "selector"), old.Map("spec", "selector"))
	return append(errs, validateDaemonSet(ctx, obj, old)...)
}

// warnDaemonSet warns about the template of a new object, or about one that changed.
func warnDaemonSet(ctx *resource.Context, obj, old object.Object) {
	if old == nil || generationOfTemplate(obj) != generationOfTemplate(old) {
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template")))
	}
}
