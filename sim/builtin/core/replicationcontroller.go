package core

import (
	"slices"
	"strconv"
	"strings"

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
			HasStatus: true, OrphansByDefault: true, SpecChanged: gotext.SpecChanged(gotext.ReplicationControllerSpec), NameRule: kind.SubdomainName,
			Warn: warnReplication, DefaultsLate: podspec.Unlabelled,
			Fields: resource.Fields{{Name: "status.replicas", Text: func(obj object.Object) string {
				return strconv.FormatInt(obj.Int64("status", "replicas"), 10)
			}}},
		},
		Validate: validateReplication, ValidateStatus: kind.ReplicaStatus,
		Defaults: kind.EveryVersion(defaultReplication),
		Connect:  map[string]resource.Connector{"scale": kind.ScaleReplication},
		Columns: slices.Concat([]table.Column{
			table.Name(),
			table.Doc("Desired", table.DocCore+"ReplicationControllerSpec", "replicas").Int("spec", "replicas"),
			table.Doc("Current", table.DocCore+"ReplicationControllerStatus", "replicas").Int("status", "replicas"),
			table.Doc("Ready", table.DocCore+"ReplicationControllerStatus", "readyReplicas").Int("status", "readyReplicas"),
			table.Age(),
		}, podspec.ContainerColumns("spec", "template"), []table.Column{
			table.Doc("Selector", table.DocCore+"ReplicationControllerSpec", "selector").Wide().Labels("spec", "selector"),
		}),
	}
}

// defaultReplication sets the selector and the labels of a controller to the labels of its template if they are missing.
func defaultReplication(obj object.Object) {
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

func validateReplication(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	template, selector := spec.Child("template"), spec.Child("selector")
	spec.Child("minReadySeconds").Declared(ctx.Since(37), field.Cursor.NonNegative)
	selector.Required()
	spec.Child("replicas").Declared(ctx.Since(37), field.Cursor.NonNegative)
	if template.Has() {
		validateReplicationTemplate(ctx, template, selector.Object())
	} else {
		template.Missing("")
	}
	if at.Updates() {
		nonConvertible(at)
	}
}

func validateReplicationTemplate(ctx *resource.Context, at field.Cursor, selector object.Object) {
	labels := at.Object().Labels()
	for name, value := range selector { // order does not matter
		if own, ok := labels[name]; !ok || own != value {
			at.Child("metadata", "labels").Invalid(labels, "`selector` does not match template `labels`")
			break
		}
	}
	podspec.CheckTemplate(ctx, at)
	kind.CheckAlwaysRestarts(at, "ReplicationController")
}

// nonConvertible rejects changes to fields that, according to old annotations, cannot be converted to extensions/v1beta1.
func nonConvertible(at field.Cursor) {
	annotations, selector := at.Old().Annotations(), at.Child("spec", "selector")
	for _, key := range object.SortedKeys(annotations) {
		name, ok := strings.CutPrefix(key, "non-convertible.kubernetes.io/")
		switch {
		case !ok || strings.Contains(name, "/"):
		case !strings.Contains(name, "selector"):
			at.Child(name).NotFound(annotations[key], "unknown non-convertible field")
		case selector.Changed():
			selector.Invalid(object.StringMap(selector.Object()), "cannot update non-convertible selector")
		}
	}
}

// warnReplication warns about a new controller. On update it checks the old template, as the real server does.
func warnReplication(ctx *resource.Context, obj, old object.Object) {
	path := field.Root("spec").Child("template")
	switch {
	case old == nil:
		podspec.WarnNames(ctx, obj)
		podspec.WarnTemplate(ctx, obj.Map("spec", "template"), path)
	case ctx.Subresource == "" && obj.Generation() != old.Generation():
		podspec.WarnTemplate(ctx, old.Map("spec", "template"), path)
	}
}
