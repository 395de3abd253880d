package apps

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
)

const workloadJSON = `{"metadata":{"name":"w","namespace":"n","generation":1},"spec":{"selector":{"matchLabels":{"a":"b"}},
	"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`

const percentText = `a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`

func TestDeploymentRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "deployments.apps", Base: workloadJSON}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "no selector", Patch: `{"spec":{"selector":null}}`, Want: "spec.selector: Required value\n" +
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{Name: "empty selector", Patch: `{"spec":{"selector":{}}}`, Want: "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{Name: "bad operator", Patch: `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}}`,
			Want: `spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator` + "\n" +
				`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Like"}]}: invalid label selector`},
		{Name: "negative", Patch: `{"spec":{"replicas":-1,"minReadySeconds":-2,"revisionHistoryLimit":-3,"progressDeadlineSeconds":-4}}`,
			Want: "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0\n" +
				"spec.revisionHistoryLimit: Invalid value: -3: must be greater than or equal to 0\n" +
				"spec.progressDeadlineSeconds: Invalid value: -4: must be greater than or equal to 0\n" +
				"spec.progressDeadlineSeconds: Invalid value: -4: must be greater than minReadySeconds"},
		{Name: "never", Patch: `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`,
			Want: `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"` + "\n" +
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"},
		{Name: "recreate", Patch: `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}}}}`,
			Want: "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"},
		{Name: "unknown strategy", Patch: `{"spec":{"strategy":{"type":"Blue"}}}`,
			Want: `spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"`},
		{Name: "percent", Patch: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"x","maxUnavailable":"101%"}}}}`,
			Want: `spec.strategy.rollingUpdate.maxSurge: Invalid value: "x": ` + percentText + "\n" +
				`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`},
		{Name: "both zero", Patch: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":0}}}}`,
			Want: "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"},
		{Name: "immutable selector", Old: `{}`, Patch: `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			Want: `spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`},
		{Name: "status", Sub: "status", Old: `{"status":{"collisionCount":2}}`, Patch: `{"status":{"replicas":1,"updatedReplicas":2,"availableReplicas":1,"collisionCount":1}}`,
			Want: "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas\n" +
				"status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas\n" +
				"status.collisionCount: Invalid value: 1: cannot be decremented"},
	})
}

func TestDeploymentGeneration(t *testing.T) {
	is := is.New(t)
	rt := kindtest.Rules{Kinds: served, Storage: "deployments.apps", Base: workloadJSON}
	changed := served()[rt.Storage].Strategy.SpecChanged
	is.True(!changed(rt.Make(t, `{"metadata":{"labels":{"x":"y"}}}`), rt.Make(t, "")))     // labels do not count
	is.True(changed(rt.Make(t, `{"metadata":{"annotations":{"x":"y"}}}`), rt.Make(t, ""))) // annotations do
	is.True(changed(rt.Make(t, `{"spec":{"paused":true}}`), rt.Make(t, "")))               // the spec does
	obj, _, _ := rt.Result(t, kindtest.Case{Sub: "status", Old: `{"metadata":{"labels":{"x":"old"}}}`, Patch: `{"metadata":{"labels":{"x":"new"}}}`})
	is.Equal(obj.Labels()["x"], "old") // an update of the status keeps the labels
}

func TestWorkloadDefaults(t *testing.T) {
	tests := []struct{ storage, want string }{
		{"deployments.apps", `{"progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,"strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"}}`},
		{"replicasets.apps", `{"replicas":1}`},
		{"daemonsets.apps", `{"revisionHistoryLimit":10,"updateStrategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}}`},
		{"statefulsets.apps", `{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"},"podManagementPolicy":"OrderedReady","replicas":1,"revisionHistoryLimit":10,"updateStrategy":{"rollingUpdate":{"partition":0},"type":"RollingUpdate"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.storage, func(t *testing.T) {
			is := is.New(t)
			obj := kindtest.Rules{Kinds: served, Storage: tt.storage, Base: workloadJSON}.Make(t, "")
			again := obj.Copy()
			served()[tt.storage].Defaults[""](again)
			is.Equal(string(object.JSON(again)), string(object.JSON(obj)))              // defaults are idempotent
			is.Equal(obj.String("spec", "template", "spec", "restartPolicy"), "Always") // the template has its own defaults
			obj.Remove("spec", "template")
			obj.Remove("spec", "selector")
			is.Equal(string(object.JSON(obj["spec"])), tt.want) // same defaults as the real server
		})
	}
}

func TestReplicaSetRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "replicasets.apps", Base: workloadJSON}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "negative", Patch: `{"spec":{"replicas":-1,"minReadySeconds":-1}}`,
			Want: "spec.replicas: Invalid value: -1: must be greater than or equal to 0\nspec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{Name: "empty selector", Patch: `{"spec":{"selector":{}}}`, Want: "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{Name: "immutable selector", Old: `{}`, Patch: `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			Want: `spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"replicas":0,"fullyLabeledReplicas":1}}`,
			Want: "status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than status.replicas"},
	})
}

func TestStatefulSetRules(t *testing.T) {
	const claim = `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`
	kindtest.Rules{Kinds: served, Storage: "statefulsets.apps", Base: workloadJSON}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "claim is a volume", Patch: `{"spec":{` + claim + `,"template":{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}}`},
		{Name: "bad claim", Patch: `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`,
			Want: "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required\n" +
				"spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"},
		{Name: "enums", Patch: `{"spec":{"podManagementPolicy":"Any","updateStrategy":{"type":"Some"},"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Keep"}}}`,
			Want: "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'\n" +
				`spec.updateStrategy: Invalid value: {"Type":"Some","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'` + "\n" +
				`spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"`},
		{Name: "on delete", Patch: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":2}}}}`,
			Want: `spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`},
		{Name: "numbers", Patch: `{"spec":{"replicas":-1,"ordinals":{"start":-1},"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`,
			Want: "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.replicas: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"},
		{Name: "service name", Patch: `{"spec":{"serviceName":"a.b"}}`, Want: `spec.serviceName: Invalid value: "a.b": must not contain dots`},
		{Name: "never", Patch: `{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}`,
			Want: `spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`},
		{Name: "allowed change", Old: `{}`, Patch: `{"spec":{"replicas":3,"minReadySeconds":4,"revisionHistoryLimit":2,"ordinals":{"start":3}}}`},
		{Name: "forbidden change", Old: `{}`, Patch: `{"spec":{"serviceName":"x"}}`, Want: "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"},
		{Name: "status", Sub: "status", Old: `{}`, Patch: `{"status":{"replicas":1,"readyReplicas":1,"availableReplicas":2}}`,
			Want: "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas\n" +
				"status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas"},
	})
}

func TestDaemonSetRules(t *testing.T) {
	rt := kindtest.Rules{Kinds: served, Storage: "daemonsets.apps", Base: workloadJSON}
	rt.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "no selector", Patch: `{"spec":{"selector":null}}`,
			Want: "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{Name: "empty selector", Patch: `{"spec":{"selector":{}}}`, Want: "spec.selector: Invalid value: {}: empty selector is invalid for daemonset"},
		{Name: "deadline", Patch: `{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}`,
			Want: "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"},
		{Name: "both", Patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1}}}}`,
			Want: "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"},
		{Name: "neither", Patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}}}}`,
			Want: "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"},
		{Name: "unknown strategy", Patch: `{"spec":{"updateStrategy":{"type":"X"}}}`,
			Want: `spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`},
		{Name: "immutable selector", Old: `{}`, Patch: `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			Want: `spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable`},
	})
	is := is.New(t)
	const stored = `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`
	obj, _, _ := rt.Result(t, kindtest.Case{})
	is.Equal(generationOfTemplate(obj), int64(1)) // a new one begins at 1
	obj, _, _ = rt.Result(t, kindtest.Case{Old: stored, Patch: `{"spec":{"minReadySeconds":3}}`})
	is.Equal(generationOfTemplate(obj), int64(4)) // other changes do not increment it
	obj, _, _ = rt.Result(t, kindtest.Case{Old: stored, Patch: `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`})
	is.Equal(generationOfTemplate(obj), int64(5)) // changes of the template do
}

func TestControllerRevisionRules(t *testing.T) {
	kindtest.Rules{Kinds: served, Storage: "controllerrevisions.apps", Base: `{"metadata":{"name":"r"},"revision":1,"data":{"a":1}}`}.Run(t, []kindtest.Case{
		{Name: "minimal"},
		{Name: "no data", Patch: `{"data":null,"revision":-1}`, Want: "revision: Invalid value: -1: must be greater than or equal to 0\ndata: Required value: data is mandatory"},
		{Name: "list", Patch: `{"data":[1]}`, Want: "data: Required value: data must be a valid JSON object"},
		{Name: "immutable", Old: `{}`, Patch: `{"data":{"a":2}}`, Want: `data: Invalid value: {"a":2}: field is immutable`},
	})
}

func TestWorkloadWarnings(t *testing.T) {
	const dns = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
	for _, storage := range []string{"deployments.apps", "replicasets.apps"} {
		kindtest.Rules{Kinds: served, Storage: storage, Base: workloadJSON}.Warns(t, []kindtest.Case{
			{Name: "none"},
			{Name: "name", Patch: `{"metadata":{"name":"a.b"}}`, Want: dns},
			{Name: "update", Old: `{"metadata":{"name":"a.b"}}`, Patch: `{"metadata":{"name":"a.b"}}`},
		})
	}
	kindtest.Rules{Kinds: served, Storage: "statefulsets.apps", Base: workloadJSON}.Warns(t, []kindtest.Case{
		{Name: "history", Patch: `{"spec":{"revisionHistoryLimit":-1}}`,
			Want: "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		{Name: "bytes", Patch: `{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"1500m"}}}}]}}`,
			Want: `spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`},
	})
}

func TestWorkloadCells(t *testing.T) {
	tests := []struct{ storage, patch, want string }{
		{"deployments.apps", `{"status":{"readyReplicas":2,"updatedReplicas":3,"availableReplicas":1},"spec":{"replicas":4}}`,
			`["w","2/4",3,1,"60s","c","i:1","a=b"]`},
		{"replicasets.apps", `{"status":{"replicas":3}}`, `["w",1,3,0,"60s","c","i:1","a=b"]`},
		{"statefulsets.apps", `{}`, `["w","0/1","60s","c","i:1"]`},
		{"daemonsets.apps", `{"spec":{"template":{"spec":{"nodeSelector":{"x":"y"}}}},"status":{"numberReady":2}}`,
			`["w",0,0,2,0,0,"x=y","60s","c","i:1","a=b"]`},
		{"controllerrevisions.apps", `{"revision":7,"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"web","controller":true}]}}`,
			`["w","statefulset.apps/web",7,"60s"]`},
	}
	for _, tt := range tests {
		t.Run(tt.storage, func(t *testing.T) {
			is := is.New(t)
			is.Equal(kindtest.Rules{Kinds: served, Storage: tt.storage, Base: workloadJSON}.Cells(t, tt.patch), tt.want) // one cell per column
		})
	}
}

// TestShapesOfApps runs every rule on objects with missing values.
func TestShapesOfApps(t *testing.T) {
	for _, rt := range []kindtest.Rules{
		{Kinds: served, Storage: "deployments.apps", Base: workloadJSON},
		{Kinds: served, Storage: "replicasets.apps", Base: workloadJSON},
		{Kinds: served, Storage: "statefulsets.apps", Base: workloadJSON},
		{Kinds: served, Storage: "daemonsets.apps", Base: workloadJSON},
		{Kinds: served, Storage: "controllerrevisions.apps", Base: `{"metadata":{"name":"r","ownerReferences":[{"controller":true}]},"data":{}}`},
	} {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
