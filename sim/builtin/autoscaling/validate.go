package autoscaling

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/quantity"
	"github.com/kubesim/kubesim/sim/resource"
)

// Limits for the behavior of an autoscaler, in seconds (KEP-853).
const (
	maxScalingPeriod = 1800
	maxStabilization = 3600
)

// refRules determines which parts of a reference to another object are optional.
type refRules struct{ anyVersion, coreGroup bool }

func validateAutoscaler(ctx *resource.Context, at field.Cursor) {
	before := at.Old()
	lowest := int64(1)
	if n, ok := before.Int("minReplicas"); ctx.Enabled("HPAScaleToZero") || ok && n == 0 {
		lowest = 0
	}
	minimum, maximum, metrics := at.Child("minReplicas"), at.Child("maxReplicas").OrZero(), at.Child("metrics")
	minimum.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor {
		return c.Min(lowest, "must be greater than or equal to "+strconv.FormatInt(lowest, 10))
	})
	maximum.Declared(ctx.Since(37), func(c field.Cursor) field.Cursor {
		return c.Required("must be set and greater than 0").Min(1, "must be greater than or equal to 1")
	})
	maximum.InvalidIf(minimum.Has() && maximum.Int64() < minimum.Int64(), "must be greater than or equal to `minReplicas`")
	ref, was := at.Child("scaleTargetRef"), before.At("scaleTargetRef")
	validateTargetRef(ref, refRules{
		anyVersion: at.Updates() && was.String("apiVersion") == ref.String("apiVersion") && was.String("kind") == ref.String("kind"),
		coreGroup:  ref.String("kind") == "ReplicationController",
	})
	validateMetrics(metrics, before.Objects("metrics"))
	metrics.ForbidIf(minimum.Has() && minimum.Int64() == 0 && !scalesToZero(at.Object().Objects("metrics")),
		"must specify at least one Object or External metric to support scaling to zero replicas")
	for _, direction := range []string{"scaleUp", "scaleDown"} {
		if rules := at.Child("behavior", direction); rules.Has() {
			validateScaling(rules)
		}
	}
}

func scalesToZero(metrics []object.Object) bool {
	return slices.ContainsFunc(metrics, func(m object.Object) bool {
		return m.String("type") == "Object" || m.String("type") == "External"
	})
}

// validateTargetRef checks a reference to an object of any kind and version.
func validateTargetRef(at field.Cursor, rules refRules) {
	at.Child("kind").Required().Check(field.PathSegment)
	at.Child("name").Required().Check(field.PathSegment)
	version := at.Child("apiVersion").OrEmpty()
	version.CheckError(checkRefVersion(version.String(), rules))
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

// validateScaling checks the behavior of an autoscaler in one direction.
func validateScaling(at field.Cursor) {
	at.Child("stabilizationWindowSeconds").Min(0, "must be greater than or equal to zero").
		Max(maxStabilization, "must be less than or equal to 3600")
	at.Child("selectPolicy").OneOf("Disabled", "Max", "Min")
	at.Child("policies").Required("must specify at least one Policy")
	for policy := range at.Each("policies") {
		policy.Child("type").OrEmpty().OneOf("Percent", "Pods")
		policy.Child("value").OrZero().Positive()
		policy.Child("periodSeconds").OrZero().Positive().Max(maxScalingPeriod, "must be less than or equal to 1800")
	}
	tolerance := at.Child("tolerance")
	tolerance.InvalidIf(tolerance.Has() && quantity.Of(tolerance.Value()).Sign() < 0, field.TextNonNegative)
}

var metricTypes = []string{"ContainerResource", "External", "Object", "Pods", "Resource"}

// metricSources are the fields of a metric that contain its source, in the order in which they are checked.
var metricSources = []string{"object", "external", "pods", "resource", "containerResource"}

func validateMetrics(at field.Cursor, old []object.Object) {
	rules := refRules{coreGroup: true}
	for _, m := range old {
		if ref := m.At("object", "describedObject"); m.String("type") == "Object" && ref != nil {
			rules.anyVersion = rules.anyVersion || checkRefVersion(ref.String("apiVersion"), rules) != nil
		}
	}
	for metric := range at.Each() {
		validateMetric(metric, rules)
	}
}

func validateMetric(at field.Cursor, rules refRules) {
	kind := at.Child("type").OrEmpty()
	own, known := metricFields[kind.String()]
	kind.Required("must specify a metric source type")
	if !known {
		kind.NotSupported(kind.String(), metricTypes...)
	}
	var set []string
	for _, name := range metricSources {
		if !at.Has(name) {
			continue
		}
		set = append(set, name)
		if len(set) == 1 {
			validateMetricSource(at.Child(name), name, rules)
		}
	}
	if !known {
		kind.NotSupported(kind.String(), metricTypes...)
	} else {
		at.Child(own).RequireIf(!at.Has(own), "must populate information for the given metric source")
	}
	for _, name := range set {
		at.Child(name).ForbidIf(len(set) != 1 && name != own, "must populate the given metric source only")
	}
}

func validateMetricSource(at field.Cursor, name string, rules refRules) {
	switch name {
	case "resource", "containerResource":
		validateMeasured(at, name)
	default:
		if name == "object" {
			validateTargetRef(at.Child("describedObject"), rules)
		}
		at.Child("metric", "name").Required("must specify a metric name").Check(field.PathSegment)
	}
	target := at.Child("target")
	validateMetricTarget(target)
	validateTargetValues(target, name)
}

// validateMeasured checks the resource that a metric measures.
func validateMeasured(at field.Cursor, name string) {
	resource := at.Child("name").Required("must specify a resource name")
	if name == "resource" {
		return
	}
	if resource.Has() {
		podspec.ContainerResourceName(resource, resource.String())
	}
	at.Child("container").Required("must specify a container").Check(field.DNS1123Label)
}

func validateMetricTarget(at field.Cursor) {
	kind := at.Child("type")
	kind.Required("must specify a metric target type")
	if text := kind.String(); text != "Utilization" && text != "Value" && text != "AverageValue" {
		kind.Invalid(field.Enum(text), "must be either Utilization, Value, or AverageValue")
	}
	for _, name := range []string{"value", "averageValue"} {
		v := at.Child(name)
		v.InvalidIf(v.Has() && quantity.Of(v.Value()).Sign() <= 0, "must be positive")
	}
	at.Child("averageUtilization").Min(1, "must be greater than 0")
}

// validateTargetValues checks that a metric's target has the values that its source requires, and no values that exclude each
// other.
func validateTargetValues(at field.Cursor, name string) {
	value, average, utilization := at.Child("value"), at.Child("averageValue"), at.Child("averageUtilization")
	switch name {
	case "object":
		average.RequireIf(!value.Has() && !average.Has(), "must set either a target value or averageValue")
	case "external":
		average.RequireIf(!value.Has() && !average.Has(), "must set either a target value for metric or a per-pod target")
		value.ForbidIf(value.Has() && average.Has(), "may not set both a target value for metric and a per-pod target")
	case "pods":
		average.RequireIf(!average.Has(), "must specify a positive target averageValue")
	default:
		utilization.RequireIf(!utilization.Has() && !average.Has(), "must set either a target raw value or a target utilization")
		average.ForbidIf(utilization.Has() && average.Has(), "may not set both a target raw value and a target utilization")
	}
}
