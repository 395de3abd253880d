// Package apps has the workload kinds of apps: Deployment, ReplicaSet, StatefulSet, DaemonSet and ControllerRevision. Their pod
// templates are checked by package podspec.
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

// docApps is the definition name in front of the types of apps/v1.
const docApps = "io.k8s.api.apps.v1."

// Kinds returns the kinds of apps.
func Kinds() []kind.Kind {
	return []kind.Kind{deploymentKind(), replicaSetKind(), statefulSetKind(), daemonSetKind(), controllerRevisionKind()}
}

func deploymentKind() kind.Kind {
	return kind.Kind{
		Storage: "deployments.apps",
		Gates: append(podspec.Gates("spec.template.spec."), []kind.Gate{
			{Name: "DeploymentReplicaSetTerminatingReplicas", Fields: []string{"status.terminatingReplicas"}},
		}...),
		Strategy: resource.Strategy{
			Resets:    map[string]resource.Reset{"status": {Fields: []string{"spec", "metadata.labels"}}},
			HasStatus: true, SpecOnly: true, InnerAnnotation: rollbackTo, Blank: noReplicas,
			SpecChanged: func(obj, old object.Object) bool { // annotations are copied to the replica sets
				return gotext.SpecChanged("DeploymentSpec")(obj, old) ||
					!object.SemanticEqual(obj.Map("metadata", "annotations"), old.Map("metadata", "annotations"))
			},
			PrepareForUpdate: prepareDeploymentUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateDeployment(ctx, obj, nil)
			},
			ValidateUpdate: validateDeploymentUpdate,
			Warn:           warnReplicated,
		},
		Defaults: kind.EveryVersion(defaultDeployment),
		Convert:  map[string]kind.Conversion{"apps/v1": {ToHub: readRollbackTo}},
		Connect:  map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Columns: append([]table.Column{
			table.Name(), table.Text("Ready", "Number of the pod with ready state"),
			table.Doc("Up-to-date", docApps+"DeploymentStatus", "updatedReplicas"),
			table.Doc("Available", docApps+"DeploymentStatus", "availableReplicas"), table.Age(),
		}, podspec.TemplateColumns(docApps+"DeploymentSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellReady(obj), obj.Int64("status", "updatedReplicas"), obj.Int64("status", "availableReplicas"),
				table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				cellSelector(obj))
		},
	}
}

func replicaSetKind() kind.Kind {
	return kind.Kind{
		Storage: "replicasets.apps",
		Gates: append(podspec.Gates("spec.template.spec."), []kind.Gate{
			{Name: "DeploymentReplicaSetTerminatingReplicas", Fields: []string{"status.terminatingReplicas"}},
		}...),
		Strategy: resource.Strategy{
			HasStatus: true, SpecOnly: true, SpecChanged: gotext.SpecChanged("ReplicaSetSpec"), Blank: noReplicas,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateReplicaSet(ctx, obj, nil)
			},
			ValidateUpdate: validateReplicaSetUpdate,
			Warn:           warnReplicated,
		},
		Connect: map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault(int64(1), "spec", "replicas")
			podspec.DefaultTemplateOf(obj)
		}),
		Columns: append([]table.Column{
			table.Name(), table.Doc("Desired", docApps+"ReplicaSetSpec", "replicas").Of("integer"),
			table.Doc("Current", docApps+"ReplicaSetStatus", "replicas").Of("integer"),
			table.Doc("Ready", docApps+"ReplicaSetStatus", "readyReplicas").Of("integer"), table.Age(),
		}, podspec.TemplateColumns(docApps+"ReplicaSetSpec")...),
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), obj.Int64("spec", "replicas"), obj.Int64("status", "replicas"), obj.Int64("status", "readyReplicas"),
				table.AgeCell(now, obj), podspec.ContainersCell(obj, "name", "spec", "template"), podspec.ContainersCell(obj, "image", "spec", "template"),
				selector.FormatLabelSelector(obj.Map("spec", "selector")))
		},
	}
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

func controllerRevisionKind() kind.Kind {
	return kind.Kind{
		Storage: "controllerrevisions.apps",
		Strategy: resource.Strategy{
			Checks: resource.Checks{Update: []resource.Check{resource.CheckMetaUpdate, resource.CheckMeta, resource.CheckKind}},
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return append(field.NonNegative(obj.Int64("revision"), field.Root("revision")), validateRevisionData(obj)...)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := field.NonNegative(obj.Int64("revision"), field.Root("revision"))
				return append(errs, kind.ImmutableRaw(field.Root("data"), obj["data"], old["data"])...)
			},
		},
		Columns: []table.Column{
			table.Name(), table.Text("Controller", "Controller of the object"), table.Doc("Revision", docApps+"ControllerRevision", "revision"),
			table.Age(),
		},
		Row: func(now time.Time, obj object.Object) resource.Row {
			return table.Row(obj.Name(), cellController(obj), obj.Int64("revision"), table.AgeCell(now, obj))
		},
	}
}

// validateRevisionData checks the data of a new ControllerRevision: any JSON object.
func validateRevisionData(obj object.Object) field.ErrorList {
	if kind.IsObject(obj["data"]) {
		return nil
	}
	detail := "data is mandatory"
	if obj.Has("data") {
		detail = "data must be a valid JSON object"
	}
	return field.ErrorList{field.Required(field.Root("data"), detail)}
}

// cellReady is how many pods are ready of how many wanted.
func cellReady(obj object.Object) string {
	return strconv.FormatInt(obj.Int64("status", "readyReplicas"), 10) + "/" + strconv.FormatInt(obj.Int64("spec", "replicas"), 10)
}

// cellSelector prints spec.selector; unlike other kinds, a Deployment shows nothing for an empty one.
func cellSelector(obj object.Object) string {
	s, err := selector.FromLabelSelector(obj.Map("spec", "selector"))
	if err != nil {
		return "<invalid>"
	}
	return s.String()
}
