package core

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubesim/kubesim/sim/builtin/gotext"
	"github.com/kubesim/kubesim/sim/builtin/kind"
	"github.com/kubesim/kubesim/sim/builtin/podspec"
	"github.com/kubesim/kubesim/sim/builtin/table"
	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

func replicationControllerKind() kind.Kind {
	return kind.Kind{
		Storage:   "replicationcontrollers",
		Gates:     podspec.Gates("spec.template.spec."),
		KeyPrefix: "controllers",
		Strategy: resource.Strategy{
			Quota:     resource.Quota{Each: []string{"replicationcontrollers"}},
			HasStatus: true, OrphansByDefault: true, SpecChanged: gotext.SpecChanged("ReplicationControllerSpec"), NameRule: kind.SubdomainName,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateReplication(ctx, obj, nil)
			},
			ValidateUpdate: func(ctx *resource.Context, obj, old object.Object) field.ErrorList {
				if ctx.Subresource == "status" {
					return replicationStatus(obj.At("status"), field.Root("status"))
				}
				return append(validateReplication(ctx, obj, old), nonConvertible(obj, old)...)
			},
			Warn: warnReplication,
			Fields: func(obj object.Object) map[string]string {
				return map[string]string{"status.replicas": strconv.FormatInt(obj.Int64("status", "replicas"), 10)}
			},
		},
		Defaults: kind.EveryVersion(defaultReplication),
		Connect:  map[string]resource.Connector{"scale": kind.ScaleReplication},
		Labels:   kind.SameLabels("status.replicas"),
		Unknown:  kind.UnsupportedLabel,
		Columns: append([]table.Column{
			table.Name(),
			table.Doc("Desired", table.DocCore+"ReplicationControllerSpec", "replicas").Of("integer"),
			table.Doc("Current", table.DocCore+"ReplicationControllerStatus", "replicas").Of("integer"),
			table.Doc("Ready", table.DocCore+"ReplicationControllerStatus", "readyReplicas").Of("integer"),
			table.Age(),
		}, podspec.TemplateColumns(table.DocCore+"ReplicationControllerSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.Int64("spec", "replicas"), obj.Int64("status", "replicas"), obj.Int64("status", "readyReplicas"),
				table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				table.LabelsCell(object.StringMap(obj.Map("spec", "selector"))))
		},
	}
}

// defaultReplication takes selector and labels from the template's labels where there are none.
func defaultReplication(obj object.Object) {
	obj.SetDefault(map[string]any{}, "spec")
	obj.SetDefault(int64(1), "spec", "replicas")
	template := obj.Map("spec", "template")
	if template == nil {
		return
	}
	podspec.DefaultTemplate(template)
	labels := object.Object(template).Map("metadata", "labels")
	if len(labels) == 0 {
		return
	}
	for _, path := range [][]string{{"spec", "selector"}, {"metadata", "labels"}} {
		if len(obj.Map(path...)) == 0 {
			obj.Set(object.Copy(labels), path...)
		}
	}
}

// declaredIn makes errors those of tags, on servers that have them.
func declaredIn(ctx *resource.Context, errs field.ErrorList) field.ErrorList {
	for _, err := range errs {
		err.Declare(ctx.Since(37))
	}
	return errs
}

func validateReplication(ctx *resource.Context, obj, old object.Object) field.ErrorList {
	spec, p := obj.At("spec"), field.Root("spec")
	labels := object.StringMap(spec.Map("selector"))
	errs := declaredIn(ctx, field.NonNegative(spec.Int64("minReadySeconds"), p.Child("minReadySeconds")))
	if len(labels) == 0 {
		errs = append(errs, field.Required(p.Child("selector"), ""))
	}
	errs = append(errs, declaredIn(ctx, field.NonNegative(spec.Int64("replicas"), p.Child("replicas")))...)
	template, at := spec.At("template"), p.Child("template")
	if template == nil {
		return append(errs, field.Required(at, ""))
	}
	for name, value := range labels { // order does not matter
		if own, ok := template.Labels()[name]; !ok || own != value {
			errs = append(errs, field.Invalid(at.Child("metadata", "labels"), template.Labels(), "`selector` does not match template `labels`"))
			break
		}
	}
	errs = append(errs, podspec.ValidateTemplateUpdate(ctx, template, old.Map("spec", "template"), at)...)
	errs = append(errs, field.MustBeOneOf(at.Child("spec", "restartPolicy"), template.String("spec", "restartPolicy"), "Always")...)
	if template.Has("spec", "activeDeadlineSeconds") {
		errs = append(errs, field.Forbidden(at.Child("spec", "activeDeadlineSeconds"), "activeDeadlineSeconds in ReplicationController is not Supported"))
	}
	return errs
}

// nonConvertible refuses changes of fields that an extensions/v1beta1 client could not have written, which old
// annotations name.
func nonConvertible(obj, old object.Object) field.ErrorList {
	var errs field.ErrorList
	annotations := old.Annotations()
	for _, key := range object.SortedKeys(annotations) {
		name, ok := strings.CutPrefix(key, "non-convertible.kubernetes.io/")
		switch {
		case !ok || strings.Contains(name, "/"):
		case !strings.Contains(name, "selector"):
			e := field.NotFound(field.Root(name), annotations[key])
			e.Detail = "unknown non-convertible field"
			errs = append(errs, e)
		case !object.SemanticEqual(obj.Map("spec", "selector"), old.Map("spec", "selector")):
			errs = append(errs, field.Invalid(field.Root("spec").Child("selector"), object.StringMap(obj.Map("spec", "selector")), "cannot update non-convertible selector"))
		}
	}
	return errs
}

func replicationStatus(status object.Object, p field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range []string{"replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"} {
		errs = append(errs, field.NonNegative(status.Int64(name), p.Child(name))...)
	}
	all := status.Int64("replicas")
	for _, name := range []string{"fullyLabeledReplicas", "readyReplicas", "availableReplicas"} {
		if n := status.Int64(name); n > all {
			errs = append(errs, field.Invalid(p.Child(name), n, "cannot be greater than status.replicas"))
		}
	}
	if n := status.Int64("availableReplicas"); n > status.Int64("readyReplicas") {
		errs = append(errs, field.Invalid(p.Child("availableReplicas"), n, "cannot be greater than readyReplicas"))
	}
	return errs
}

// warnReplication warns about a new controller, or about the template that an update replaces: the server looks at that
// one.
func warnReplication(ctx *resource.Context, obj, old object.Object) {
	path := field.Root("spec").Child("template")
	switch {
	case old == nil:
		if msgs := field.DNS1123Label(obj.Name()); len(msgs) > 0 {
			ctx.Warn(fmt.Sprintf("metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: %v", msgs))
		}
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, obj.Map("spec", "template"), path))
	case ctx.Subresource == "" && obj.Generation() != old.Generation():
		kind.WarnAll(ctx, podspec.TemplateWarnings(ctx, old.Map("spec", "template"), path))
	}
}
