package builtin

import (
	"strconv"
	"time"

	"github.com/kubesim/kubesim/sim/field"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/selector"
)

// docApps is the definition name in front of the types of apps/v1.
const docApps = "io.k8s.api.apps.v1."

func workloadKinds() []kind {
	return []kind{deploymentKind(), replicaSetKind(), statefulSetKind(), daemonSetKind(), controllerRevisionKind()}
}

func deploymentKind() kind {
	return kind{
		storage: "deployments.apps",
		strategy: resource.Strategy{
			HasStatus: true, SpecOnly: true, InnerAnnotation: rollbackTo, Blank: noReplicas,
			SpecChanged: func(obj, old object.Object) bool { // annotations are copied to the replica sets
				return specChanged("DeploymentSpec")(obj, old) ||
					!object.SemanticEqual(obj.Map("metadata", "annotations"), old.Map("metadata", "annotations"))
			},
			PrepareForUpdate: prepareDeploymentUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateDeployment(ctx, obj, nil)
			},
			ValidateUpdate: validateDeploymentUpdate,
			Warn:           warnReplicated,
		},
		defaults: everyVersion(defaultDeployment),
		convert:  map[string]conversion{"apps/v1": {toHub: readRollbackTo}},
		connect:  map[string]resource.Connector{"scale": scaleWorkload},
		columns: append([]column{
			colName(), colText("Ready", "Number of the pod with ready state"),
			colDoc("Up-to-date", docApps+"DeploymentStatus", "updatedReplicas"),
			colDoc("Available", docApps+"DeploymentStatus", "availableReplicas"), colAge(),
		}, colsTemplate(docApps+"DeploymentSpec")...),
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellReady(obj), intAt(obj, "status", "updatedReplicas"), intAt(obj, "status", "availableReplicas"),
				cellAge(now, obj), cellContainers(obj, "name", "spec", "template"), cellContainers(obj, "image", "spec", "template"),
				cellSelector(obj))
		},
	}
}

func replicaSetKind() kind {
	return kind{
		storage: "replicasets.apps",
		strategy: resource.Strategy{
			HasStatus: true, SpecOnly: true, SpecChanged: specChanged("ReplicaSetSpec"), Blank: noReplicas,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateReplicaSet(ctx, obj, nil)
			},
			ValidateUpdate: validateReplicaSetUpdate,
			Warn:           warnReplicated,
		},
		connect: map[string]resource.Connector{"scale": scaleWorkload},
		defaults: everyVersion(func(obj object.Object) {
			obj.SetDefault(int64(1), "spec", "replicas")
			defaultTemplateOf(obj)
		}),
		columns: append([]column{
			colName(), colDoc("Desired", docApps+"ReplicaSetSpec", "replicas").of("integer"),
			colDoc("Current", docApps+"ReplicaSetStatus", "replicas").of("integer"),
			colDoc("Ready", docApps+"ReplicaSetStatus", "readyReplicas").of("integer"), colAge(),
		}, colsTemplate(docApps+"ReplicaSetSpec")...),
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), intAt(obj, "spec", "replicas"), intAt(obj, "status", "replicas"), intAt(obj, "status", "readyReplicas"),
				cellAge(now, obj), cellContainers(obj, "name", "spec", "template"), cellContainers(obj, "image", "spec", "template"),
				selector.FormatLabelSelector(obj.Map("spec", "selector")))
		},
	}
}

func statefulSetKind() kind {
	return kind{
		storage: "statefulsets.apps",
		strategy: resource.Strategy{
			HasStatus: true, SpecOnly: true, SpecChanged: specChanged("StatefulSetSpec"), NameRule: field.NameDNSLabel,
			Blank: noReplicas,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateStatefulSet(ctx, obj, nil, statefulRules{})
			},
			ValidateUpdate: validateStatefulSetUpdate,
			Warn:           warnStatefulSet,
		},
		defaults: everyVersion(defaultStatefulSet),
		connect:  map[string]resource.Connector{"scale": scaleWorkload},
		columns: []column{
			colName(), colText("Ready", "Number of the pod with ready state"), colAge(), colContainers(), colImages(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellReady(obj), cellAge(now, obj), cellContainers(obj, "name", "spec", "template"),
				cellContainers(obj, "image", "spec", "template"))
		},
	}
}

func daemonSetKind() kind {
	status := func(name, field string) column { return colDoc(name, docApps+"DaemonSetStatus", field).of("integer") }
	return kind{
		storage: "daemonsets.apps",
		strategy: resource.Strategy{
			HasStatus: true, SpecChanged: specChanged("DaemonSetSpec"), InnerAnnotation: templateGeneration,
			Blank:            func(obj object.Object) { setGenerationOfTemplate(obj, 0) },
			PrepareForCreate: prepareDaemonSet,
			PrepareForUpdate: prepareDaemonSetUpdate,
			Validate: func(ctx *resource.Context, obj object.Object) field.ErrorList {
				return validateDaemonSet(ctx, obj, nil)
			},
			ValidateUpdate: validateDaemonSetUpdate,
			Warn:           warnDaemonSet,
		},
		defaults: everyVersion(defaultDaemonSet),
		convert:  map[string]conversion{"apps/v1": {toHub: readTemplateGeneration}},
		columns: append([]column{
			colName(), status("Desired", "desiredNumberScheduled"), status("Current", "currentNumberScheduled"),
			status("Ready", "numberReady"), status("Up-to-date", "updatedNumberScheduled"), status("Available", "numberAvailable"),
			colDoc("Node Selector", docCore+"PodSpec", "nodeSelector"), colAge(),
		}, colsTemplate(docApps+"DaemonSetSpec")...),
		row: func(now time.Time, obj object.Object) resource.Row {
			s := objectAt(obj, "status")
			return cells(obj.Name(), intAt(s, "desiredNumberScheduled"), intAt(s, "currentNumberScheduled"), intAt(s, "numberReady"),
				intAt(s, "updatedNumberScheduled"), intAt(s, "numberAvailable"),
				cellLabels(object.StringMap(obj.Map("spec", "template", "spec", "nodeSelector"))), cellAge(now, obj),
				cellContainers(obj, "name", "spec", "template"), cellContainers(obj, "image", "spec", "template"),
				selector.FormatLabelSelector(obj.Map("spec", "selector")))
		},
	}
}

func controllerRevisionKind() kind {
	return kind{
		storage: "controllerrevisions.apps",
		strategy: resource.Strategy{
			Validate: func(_ *resource.Context, obj object.Object) field.ErrorList {
				return append(field.NonNegative(intAt(obj, "revision"), field.Root("revision")), validateRevisionData(obj)...)
			},
			ValidateUpdate: func(_ *resource.Context, obj, old object.Object) field.ErrorList {
				errs := field.NonNegative(intAt(obj, "revision"), field.Root("revision"))
				return append(errs, immutableRaw(field.Root("data"), obj["data"], old["data"])...)
			},
		},
		columns: []column{
			colName(), colText("Controller", "Controller of the object"), colDoc("Revision", docApps+"ControllerRevision", "revision"),
			colAge(),
		},
		row: func(now time.Time, obj object.Object) resource.Row {
			return cells(obj.Name(), cellController(obj), intAt(obj, "revision"), cellAge(now, obj))
		},
	}
}

// validateRevisionData checks the data of a new ControllerRevision: any JSON object.
func validateRevisionData(obj object.Object) field.ErrorList {
	if isObject(obj["data"]) {
		return nil
	}
	detail := "data is mandatory"
	if present(obj, "data") {
		detail = "data must be a valid JSON object"
	}
	return field.ErrorList{field.Required(field.Root("data"), detail)}
}

func colContainers() column {
	return colText("Containers", "Names of each container in the template.").wide()
}

func colImages() column {
	return colText("Images", "Images referenced by each container in the template.").wide()
}

// colsTemplate are the last columns of kinds with a pod template and a selector.
func colsTemplate(specType string) []column {
	return []column{colContainers(), colImages(), colDoc("Selector", specType, "selector").wide()}
}

// cellReady is how many pods are ready of how many wanted.
func cellReady(obj object.Object) string {
	return strconv.FormatInt(intAt(obj, "status", "readyReplicas"), 10) + "/" + strconv.FormatInt(intAt(obj, "spec", "replicas"), 10)
}

// cellContainers joins one field of the containers of the pod template at the path.
func cellContainers(obj object.Object, name string, template ...string) string {
	text := ""
	for i, c := range objectsAt(objectAt(obj, template...), "spec", "containers") {
		if i > 0 {
			text += ","
		}
		text += c.String(name)
	}
	return text
}

// cellSelector prints spec.selector; unlike other kinds, a Deployment shows nothing for an empty one.
func cellSelector(obj object.Object) string {
	s, err := selector.FromLabelSelector(obj.Map("spec", "selector"))
	if err != nil {
		return "<invalid>"
	}
	return s.String()
}
