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

// validateReplicated checks the selector and the template of a ReplicaSet or a Deployment, which have the same rules.
func validateReplicated(ctx *resource.Context, spec field.Cursor) {
	labels, template := spec.Child("selector"), spec.Child("template")
	validateSelector(labels, "deployment")
	s, err := selector.FromLabelSelector(labels.Object())
	if err != nil {
		kind.InvalidSelector(labels, "invalid label selector")
		return
	}
	podspec.CheckSelected(template, s)
	podspec.CheckTemplate(ctx, template)
	kind.CheckAlwaysRestarts(template, "ReplicaSet")
}

func validateReplicaSet(ctx *resource.Context, at field.Cursor) {
	spec := at.Child("spec")
	kind.NonNegative(spec, "replicas", "minReadySeconds")
	validateReplicated(ctx, spec)
	kind.CheckSelectorKept(spec.Child("selector"))
}

func replicaSetKind() kind.Kind {
	return kind.Kind{
		Storage: "replicasets.apps",
		Gates:   append(podspec.Gates("spec.template.spec."), terminatingGate),
		Strategy: resource.Strategy{
			HasStatus: true, SpecChanged: gotext.SpecChanged(gotext.ReplicaSetSpec), Blank: noReplicas,
			Warn: warnReplicated,
		},
		Validate: validateReplicaSet, ValidateStatus: kind.ReplicaStatus,
		Connect: map[string]resource.Connector{"scale": kind.ScaleWorkload},
		Defaults: kind.EveryVersion(func(obj object.Object) {
			obj.SetDefault(int64(1), "spec", "replicas")
			podspec.DefaultTemplateOf(obj)
		}),
		Columns: append([]table.Column{
			table.Name(), table.Doc("Desired", docApps+"ReplicaSetSpec", "replicas").Int("spec", "replicas"),
			table.Doc("Current", docApps+"ReplicaSetStatus", "replicas").Int("status", "replicas"),
			table.Doc("Ready", docApps+"ReplicaSetStatus", "readyReplicas").Int("status", "readyReplicas"), table.Age(),
		}, podspec.TemplateColumns(docApps+"ReplicaSetSpec", "spec")...),
	}
}
