package apps

import (
	"strconv"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// templateGeneration is the annotation in which apps/v1 stores a spec field of older versions of DaemonSet.
const templateGeneration = "deprecated.daemonset.template.generation"

func defaultDaemonSet(obj object.Object) {
	spec := kind.ObjectAt(obj, "spec")
	kind.SetEmpty(spec, "RollingUpdate", "updateStrategy", "type")
	if spec.String("updateStrategy", "type") == "RollingUpdate" {
		spec.SetDefault(int64(1), "updateStrategy", "rollingUpdate", "maxUnavailable")
	}
	if rolling := spec.At("updateStrategy", "rollingUpdate"); rolling != nil { // these fields are not pointers in memory
		rolling.SetDefault(int64(0), "maxUnavailable")
		rolling.SetDefault(int64(0), "maxSurge")
	}
	spec.SetDefault(int64(10), "revisionHistoryLimit")
	podspec.DefaultTemplateOf(obj)
	obj.SetDefault("0", "metadata", "annotations", templateGeneration)
}

// readTemplateGeneration rewrites the annotation templateGeneration in canonical form. It returns an error if its value is not a
// number.
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

// prepareDaemonSetUpdate increments templateGeneration when the template changes. Clients cannot set it.
func prepareDaemonSetUpdate(ctx *resource.Context, obj, old object.Object) {
	n := generationOfTemplate(old)
	if ctx.Subresource != "status" && !gotext.Same(gotext.PodTemplateSpec, obj.Map("spec", "template"), old.Map("spec", "template")) {
		n++
	}
	setGenerationOfTemplate(obj, n)
}

func daemonSetKind() kind.Kind {
	status := func(name, field string) table.Column {
		return table.Doc(name, docApps+"DaemonSetStatus", field).Int("status", field)
	}
	return kind.Kind{
		Storage: "daemonsets.apps",
		Gates:   podspec.Gates("spec.template.spec."),
		Strategy: resource.Strategy{
			HasStatus: true, SpecChanged: gotext.SpecChanged(gotext.DaemonSetSpec), InnerAnnotation: templateGeneration,
			Blank: func(obj object.Object) { setGenerationOfTemplate(obj, 0) },
			PrepareForCreate: func(_ *resource.Context, obj object.Object) {
				setGenerationOfTemplate(obj, max(generationOfTemplate(obj), 1))
			},
			PrepareForUpdate: prepareDaemonSetUpdate,
			Warn:             warnDaemonSet,
		},
		Validate: validateDaemonSet, ValidateStatus: validateDaemonSetStatus,
		Defaults: kind.EveryVersion(defaultDaemonSet),
		Convert:  map[string]kind.Conversion{"apps/v1": {ToHub: readTemplateGeneration}},
		Columns: append([]table.Column{
			table.Name(), status("Desired", "desiredNumberScheduled"), status("Current", "currentNumberScheduled"),
			status("Ready", "numberReady"), status("Up-to-date", "updatedNumberScheduled"), status("Available", "numberAvailable"),
			table.Doc("Node Selector", table.DocCore+"PodSpec", "nodeSelector").Labels("spec", "template", "spec", "nodeSelector"), table.Age(),
		}, podspec.TemplateColumns(docApps+"DaemonSetSpec", "spec")...),
	}
}

func validateDaemonSet(ctx *resource.Context, all field.Cursor) {
	at := all.Child("spec")
	labels, template := at.Child("selector"), at.Child("template")
	kind.CheckSelectorKept(labels)
	kind.CheckSelector(labels, selector.ValidateOptions{AllowInvalidValues: selector.HasInvalidValue(labels.Old())})
	if s, err := selector.FromLabelSelector(labels.Object()); err == nil {
		podspec.CheckSelected(template, s)
	}
	if labels.Has() {
		validateNotEmpty(labels, "daemonset")
	}
	podspec.CheckTemplate(ctx, template)
	kind.CheckAlwaysRestarts(template, "DaemonSet")
	kind.NonNegative(at, "minReadySeconds")
	at.Child("templateGeneration").With(generationOfTemplate(all.Object())).NonNegative()
	validateDaemonStrategy(at.Child("updateStrategy"))
	kind.NonNegative(at, "revisionHistoryLimit")
}

func validateDaemonStrategy(at field.Cursor) {
	switch at.String("type") {
	case "OnDelete":
	case "RollingUpdate":
		validateRollingDaemonSet(at.Child("rollingUpdate", "maxUnavailable"), at.Child("rollingUpdate", "maxSurge"))
	default:
		at.NotSupported(gotext.Value(gotext.DaemonSetUpdateStrategy, at.Object()), "RollingUpdate", "OnDelete")
	}
}

func validateRollingDaemonSet(unavailable, surge field.Cursor) {
	kind.CheckAmountOrPercent(unavailable)
	kind.CheckAmountOrPercent(surge)
	kind.CheckAtMost100Percent(unavailable)
	kind.CheckAtMost100Percent(surge)
	hasUnavailable, hasSurge := kind.AmountOf(unavailable) != 0, kind.AmountOf(surge) != 0
	if hasUnavailable && hasSurge {
		kind.InvalidAmount(surge, "may not be set when maxUnavailable is non-zero")
	}
	unavailable.RequireIf(!hasUnavailable && !hasSurge, "cannot be 0 when maxSurge is 0")
}

func validateDaemonSetStatus(_ *resource.Context, all field.Cursor) {
	at := all.Child("status")
	kind.NonNegative(at, "currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration",
		"updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount")
	validateCollisions(at)
}

// warnDaemonSet warns about the template of a new object, or about a changed template.
func warnDaemonSet(ctx *resource.Context, obj, old object.Object) {
	if old == nil || generationOfTemplate(obj) != generationOfTemplate(old) {
		podspec.WarnTemplate(ctx, obj.Map("spec", "template"), field.Root("spec").Child("template"))
	}
}
