package autoscaling

import (
	"errors"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits of the behavior of an autoscaler (KEP-853), in seconds.
const (
	maxScalingPeriod = 1800
	maxStabilization = 3600
)

// refRules says what the reference to another object may lack.
type refRules struct{ anyVersion, coreGroup bool }

func validateNewAutoscaler(_ *resource.Context, obj object.Object) field.ErrorList {
	return validateAutoscaler(obj, nil)
}

func validateAutoscalerUpdate(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	if ctx.Subresource == "status" {
		return kind.NonNegatives(field.Root("status"), obj.At("status"), "currentReplicas", "desiredReplicas")
	}
	return validateAutoscaler(obj, old)
}

func validateAutoscaler(obj, old object.Object) field.ErrorList {
	spec, before, p := obj.At("spec"), old.At("spec"), field.Root("spec")
	lowest := int64(1)
	if n, ok := before.Int("minReplicas"); ok && n == 0 {
		lowest = 0
	}
	minimum, hasMinimum := spec.Int("minReplicas")
	maximum := spec.Int64("maxReplicas")
	var errs field.ErrorList
	if hasMinimum && minimum < lowest {
		errs = append(errs, field.Invalid(p.Child("minReplicas"), minimum, "must be greater than or equal to "+strconv.FormatInt(lowest, 10)))
	}
	if maximum == 0 {
		errs = append(errs, field.Required(p.Child("maxReplicas"), "must be set and greater than 0"))
	} else if maximum < 0 {
		errs = append(errs, field.Invalid(p.Child("maxReplicas"), maximum, "must be greater than or equal to 1"))
	}
	if hasMinimum && maximum < minimum {
		errs = append(errs, field.Invalid(p.Child("maxReplicas"), maximum, "must be greater than or equal to `minReplicas`"))
	}
	ref, was := spec.At("scaleTargetRef"), before.At("scaleTargetRef")
	errs = append(errs, validateTargetRef(p.Child("scaleTargetRef"), ref, refRules{
		anyVersion: old != nil && was.String("apiVersion") == ref.String("apiVersion") && was.String("kind") == ref.String("kind"),
		coreGroup:  ref.String("kind") == "ReplicationController",
	})...)
	errs = append(errs, validateMetrics(p.Child("metrics"), spec.Objects("metrics"), before.Objects("metrics"))...)
	if hasMinimum && minimum == 0 && !scalesToZero(spec.Objects("metrics")) {
		errs = append(errs, field.Forbidden(p.Child("metrics"), "must specify at least one Object or External metric to support scaling to zero replicas"))
	}
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		if rules := spec.At("behavior", direction); rules != nil {
			errs = append(errs, validateScaling(p.Child("behavior", direction), rules)...)
		}
	}
	return errs
}

func scalesToZero(metrics []object.Object) bool {
	for _, m := range metrics {
		if kind := m.String("type"); kind == "Object" || kind == "External" {
			return true
		}
	}
	return false
}

// validateTargetRef checks a reference to an object of any kind and version.
func validateTargetRef(p field.Path, ref object.Object, rules refRules) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"kind", "name"} {
		if value := ref.String(name); value == "" {
			errs = append(errs, field.Required(p.Child(name), ""))
		} else {
			errs = append(errs, field.Check(p.Child(name), value, field.PathSegment)...)
		}
	}
	version := ref.String("apiVersion")
	if err := checkRefVersion(version, rules); err != nil {
		errs = append(errs, field.Invalid(p.Child("apiVersion"), version, err.Error()))
	}
	return errs
}

func checkRefVersion(version string, rules refRules) error {
	if rules.anyVersion {
		return nil
	}
	group, _, ok := strings.Cut(version, "/")
	switch {
	case strings.Count(version, "/") > 1:
		return errors.New("unexpected GroupVersion string: " + version)
	case (!ok || group == "") && !rules.coreGroup:
		return errors.New("apiVersion must specify API group")
	}
	return nil
}

// validateScaling checks how an autoscaler may scale in one direction.
func validateScaling(p field.Path, rules object.Object) field.ErrorList {
	var errs field.ErrorList
	window := rules.Int64("stabilizationWindowSeconds")
	if window < 0 {
		errs = append(errs, field.Invalid(p.Child("stabilizationWindowSeconds"), window, "must be greater than or equal to zero"))
	}
	if window > maxStabilization {
		errs = append(errs, field.Invalid(p.Child("stabilizationWindowSeconds"), window, "must be less than or equal to 3600"))
	}
	if rules.Has("selectPolicy") {
		errs = append(errs, field.MustBeOneOf(p.Child("selectPolicy"), rules.String("selectPolicy"), "Disabled", "Max", "Min")...)
	}
	policies := rules.Objects("policies")
	if len(policies) == 0 {
		errs = append(errs, field.Required(p.Child("policies"), "must specify at least one Policy"))
	}
	for i, policy := range policies {
		errs = append(errs, validateScalingPolicy(p.Child("policies").Index(i), policy)...)
	}
	if v, ok := rules.Get("tolerance"); ok && v != nil && quantity.Of(v).Sign() < 0 {
		errs = append(errs, field.Invalid(p.Child("tolerance"), v, field.TextNonNegative))
	}
	return errs
}

func validateScalingPolicy(p field.Path, policy object.Object) field.ErrorList {
	errs := field.MustBeOneOf(p.Child("type"), policy.String("type"), "Percent", "Pods")
	errs = append(errs, field.Positive(policy.Int64("value"), p.Child("value"))...)
	period := policy.Int64("periodSeconds")
	errs = append(errs, field.Positive(period, p.Child("periodSeconds"))...)
	if period > maxScalingPeriod {
		errs = append(errs, field.Invalid(p.Child("periodSeconds"), period, "must be less than or equal to 1800"))
	}
	return errs
}

var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

// metricSources are the fields of a metric that say where it comes from, in the order in which they are checked.
var metricSources = []string{"object", "external", "pods", "resource", "containerResource"}

func validateMetrics(p field.Path, metrics, old []object.Object) field.ErrorList {
	rules := refRules{coreGroup: true}
	for _, m := range old {
		if ref := m.At("object", "describedObject"); m.String("type") == "Object" && ref != nil {
			rules.anyVersion = rules.anyVersion || checkRefVersion(ref.String("apiVersion"), rules) != nil
		}
	}
	var errs field.ErrorList
	for i, m := range metrics {
		errs = append(errs, validateMetric(p.Index(i), m, rules)...)
	}
	return errs
}

func validateMetric(p field.Path, metric object.Object, rules refRules) field.ErrorList {
	kind := metric.String("type")
	own, known := metricFields[kind]
	var errs field.ErrorList
	if kind == "" {
		errs = append(errs, field.Required(p.Child("type"), "must specify a metric source type"))
	}
	if !known {
		errs = append(errs, field.NotSupported(p.Child("type"), kind, metricTypes...))
	}
	var set []string
	for _, name := range metricSources {
		if !metric.Has(name) {
			continue
		}
		set = append(set, name)
		if len(set) == 1 {
			errs = append(errs, validateMetricSource(p.Child(name), name, metric.At(name), rules)...)
		}
	}
	if !known {
		errs = append(errs, field.NotSupported(p.Child("type"), kind, metricTypes...))
	} else if !metric.Has(own) {
		errs = append(errs, field.Required(p.Child(own), "must populate information for the given metric source"))
	}
	for _, name := range set {
		if len(set) != 1 && name != own {
			errs = append(errs, field.Forbidden(p.Child(name), "must populate the given metric source only"))
		}
	}
	return errs
}

func validateMetricSource(p field.Path, name string, source object.Object, rules refRules) field.ErrorList {
	var errs field.ErrorList
	switch name {
	case "resource", "containerResource":
		errs = validateMeasured(p, name, source)
	default:
		if name == "object" {
			errs = validateTargetRef(p.Child("describedObject"), source.At("describedObject"), rules)
		}
		if metric := source.String("metric", "name"); metric == "" {
			errs = append(errs, field.Required(p.Child("metric", "name"), "must specify a metric name"))
		} else {
			errs = append(errs, field.Check(p.Child("metric", "name"), metric, field.PathSegment)...)
		}
	}
	target := source.At("target")
	errs = append(errs, validateMetricTarget(p.Child("target"), target)...)
	return append(errs, validateTargetValues(p.Child("target"), name, target)...)
}

// validateMeasured checks which resource of the pods a metric measures.
func validateMeasured(p field.Path, name string, source object.Object) field.ErrorList {
	var errs field.ErrorList
	if resource := source.String("name"); resource == "" {
		errs = append(errs, field.Required(p.Child("name"), "must specify a resource name"))
	} else if name == "containerResource" {
		errs = append(errs, podspec.ContainerResourceName(resource, p.Child("name"))...)
	}
	if name == "resource" {
		return errs
	}
	if container := source.String("container"); container == "" {
		errs = append(errs, field.Required(p.Child("container"), "must specify a container"))
	} else {
		errs = append(errs, field.Check(p.Child("container"), container, field.DNS1123Label)...)
	}
	return errs
}

func validateMetricTarget(p field.Path, target object.Object) field.ErrorList {
	var errs field.ErrorList
	kind := target.String("type")
	if kind == "" {
		errs = append(errs, field.Required(p.Child("type"), "must specify a metric target type"))
	}
	if kind != "Utilization" && kind != "Value" && kind != "AverageValue" {
		errs = append(errs, field.Invalid(p.Child("type"), field.Enum(kind), "must be either Utilization, Value, or AverageValue"))
	}
	for _, name := range []string{"value", "averageValue"} {
		if v, ok := target.Get(name); ok && v != nil && quantity.Of(v).Sign() <= 0 {
			errs = append(errs, field.Invalid(p.Child(name), v, "must be positive"))
		}
	}
	if n, ok := target.Int("averageUtilization"); ok && n < 1 {
		errs = append(errs, field.Invalid(p.Child("averageUtilization"), n, "must be greater than 0"))
	}
	return errs
}

// validateTargetValues checks which values the target of a source needs and which exclude each other.
func validateTargetValues(p field.Path, name string, target object.Object) field.ErrorList {
	value, average, utilization := target.Has("value"), target.Has("averageValue"), target.Has("averageUtilization")
	switch name {
	case "object":
		if !value && !average {
			return field.ErrorList{field.Required(p.Child("averageValue"), "must set either a target value or averageValue")}
		}
	case "external":
		if !value && !average {
			return field.ErrorList{field.Required(p.Child("averageValue"), "must set either a target value for metric or a per-pod target")}
		}
		if value && average {
			return field.ErrorList{field.Forbidden(p.Child("value"), "may not set both a target value for metric and a per-pod target")}
		}
	case "pods":
		if !average {
			return field.ErrorList{field.Required(p.Child("averageValue"), "must specify a positive target averageValue")}
		}
	default:
		if !utilization && !average {
			return field.ErrorList{field.Required(p.Child("averageUtilization"), "must set either a target raw value or a target utilization")}
		}
		if utilization && average {
			return field.ErrorList{field.Forbidden(p.Child("averageValue"), "may not set both a target raw value and a target utilization")}
		}
	}
	return nil
}
