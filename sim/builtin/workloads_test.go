package builtin

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
)

// ruleCase is a change of a base object, as a JSON merge patch, and what the kind says about the result: an error per
// line. With old, another change of the base object is the stored one that is updated.
type ruleCase struct {
	name, patch, old, want string
	sub                    string // subresource of the update
}

// ruleTest runs cases on one kind.
type ruleTest struct {
	asStored
	storage, version, base string
	objects                map[string]object.Object // by storage/namespace/name
}

// kind returns the kind under test.
func (rt ruleTest) kind(t *testing.T) *kind {
	t.Helper()
	k := allKinds()[rt.storage]
	if k == nil {
		t.Fatalf("no kind %s", rt.storage)
	}
	return k
}

// allKinds are made once: making them takes longer than most cases.
var allKinds = sync.OnceValue(servedKinds)

func (rt ruleTest) Get(storage, namespace, name string) object.Object {
	return rt.objects[storage+"/"+namespace+"/"+name]
}

func (rt ruleTest) Field(storage, namespace, name, _ string) (string, bool) {
	return "", rt.Get(storage, namespace, name) != nil
}

func (rt ruleTest) Each(string, string, func(object.Object) bool) {}

// make returns the base object with a change and its defaults.
func (rt ruleTest) make(t *testing.T, patch string) object.Object {
	t.Helper()
	obj := parsed(t, rt.base)
	if patch != "" {
		mergeInto(obj, parsed(t, patch))
	}
	k := rt.kind(t)
	setDefaults := k.defaults[rt.version]
	if setDefaults == nil {
		setDefaults = k.defaults[""]
	}
	if setDefaults != nil {
		setDefaults(obj)
	}
	return obj
}

func (rt ruleTest) context(sub string, warnings *[]string) *resource.Context {
	return &resource.Context{
		Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Subresource: sub, Objects: rt,
		User: resource.User{Name: "admin", Groups: []string{"system:masters"}},
		Warn: func(text string) { *warnings = append(*warnings, text) },
	}
}

// result runs what the registry runs and returns the object, the errors and the warnings, a line each.
func (rt ruleTest) result(t *testing.T, tt ruleCase) (obj object.Object, errs, warnings string) {
	t.Helper()
	s := rt.kind(t).strategy
	var warned, lines []string
	ctx := rt.context(tt.sub, &warned)
	obj = rt.make(t, tt.patch)
	if tt.old == "" {
		if s.PrepareForCreate != nil {
			s.PrepareForCreate(ctx, obj)
		}
		if s.Validate != nil {
			for _, e := range s.Validate(ctx, obj) {
				lines = append(lines, e.Error())
			}
		}
		if s.Warn != nil {
			s.Warn(ctx, obj, nil)
		}
		return obj, strings.Join(lines, "\n"), strings.Join(warned, "\n")
	}
	old := rt.make(t, tt.old)
	if s.PrepareForUpdate != nil {
		s.PrepareForUpdate(ctx, obj, old)
	}
	if s.SpecChanged != nil && tt.sub == "" && s.SpecChanged(obj, old) {
		obj.Set(old.Generation()+1, "metadata", "generation")
	}
	if s.ValidateUpdate != nil {
		for _, e := range s.ValidateUpdate(ctx, obj, old) {
			lines = append(lines, e.Error())
		}
	}
	if s.Warn != nil {
		s.Warn(ctx, obj, old)
	}
	return obj, strings.Join(lines, "\n"), strings.Join(warned, "\n")
}

func (rt ruleTest) run(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			_, errs, _ := rt.result(t, tt)
			is.Equal(errs, tt.want) // errors to the letter, in order
		})
	}
}

// warns runs cases whose want is the warnings.
func (rt ruleTest) warns(t *testing.T, cases []ruleCase) {
	t.Helper()
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			is := is.New(t)
			_, _, warnings := rt.result(t, tt)
			is.Equal(warnings, tt.want) // warnings to the letter, in order
		})
	}
}

// cells returns the row of the base object with a change, printed a minute after it was created.
func (rt ruleTest) cells(t *testing.T, patch string) string {
	t.Helper()
	k := rt.kind(t)
	obj := rt.make(t, patch)
	obj.SetDefault("2026-01-02T03:03:05Z", "metadata", "creationTimestamp")
	row := k.row(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), obj)
	if len(row.Cells) != len(k.columns) {
		t.Errorf("%d cells for %d columns", len(row.Cells), len(k.columns))
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(object.JSON(row.Cells)))
}

func parsed(t *testing.T, text string) object.Object {
	t.Helper()
	obj, err := object.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return obj
}

// mergeInto applies a JSON merge patch (RFC 7396).
func mergeInto(obj, patch map[string]any) {
	for name, v := range patch { // order does not matter
		from, ok := v.(map[string]any)
		to, both := obj[name].(map[string]any)
		switch {
		case v == nil:
			delete(obj, name)
		case ok && both && len(from) > 0:
			mergeInto(to, from)
		default:
			obj[name] = v
		}
	}
}

const workloadJSON = `{"metadata":{"name":"w","namespace":"n","generation":1},"spec":{"selector":{"matchLabels":{"a":"b"}},
	"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`

const percentText = `a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')`

func TestDeploymentRules(t *testing.T) {
	ruleTest{storage: "deployments.apps", base: workloadJSON}.run(t, []ruleCase{
		{name: "minimal"},
		{name: "no selector", patch: `{"spec":{"selector":null}}`, want: "spec.selector: Required value\n" +
			"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{name: "empty selector", patch: `{"spec":{"selector":{}}}`, want: "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{name: "bad operator", patch: `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Like"}]}}}`,
			want: `spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator` + "\n" +
				`spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Like"}]}: invalid label selector`},
		{name: "negative", patch: `{"spec":{"replicas":-1,"minReadySeconds":-2,"revisionHistoryLimit":-3,"progressDeadlineSeconds":-4}}`,
			want: "spec.replicas: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.minReadySeconds: Invalid value: -2: must be greater than or equal to 0\n" +
				"spec.revisionHistoryLimit: Invalid value: -3: must be greater than or equal to 0\n" +
				"spec.progressDeadlineSeconds: Invalid value: -4: must be greater than or equal to 0\n" +
				"spec.progressDeadlineSeconds: Invalid value: -4: must be greater than minReadySeconds"},
		{name: "never", patch: `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`,
			want: `spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"` + "\n" +
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported"},
		{name: "recreate", patch: `{"spec":{"strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}}}}`,
			want: "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"},
		{name: "unknown strategy", patch: `{"spec":{"strategy":{"type":"Blue"}}}`,
			want: `spec.strategy: Unsupported value: {"Type":"Blue","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"`},
		{name: "percent", patch: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"x","maxUnavailable":"101%"}}}}`,
			want: `spec.strategy.rollingUpdate.maxSurge: Invalid value: "x": ` + percentText + "\n" +
				`spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%`},
		{name: "both zero", patch: `{"spec":{"strategy":{"rollingUpdate":{"maxSurge":"0%","maxUnavailable":0}}}}`,
			want: "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"},
		{name: "immutable selector", old: `{}`, patch: `{"spec":{"selector":{"matchLabels":{"a":null,"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			want: `spec.selector: Invalid value: {"matchLabels":{"c":"d"}}: field is immutable`},
		{name: "status", sub: "status", old: `{"status":{"collisionCount":2}}`, patch: `{"status":{"replicas":1,"updatedReplicas":2,"availableReplicas":1,"collisionCount":1}}`,
			want: "status.updatedReplicas: Invalid value: 2: cannot be greater than status.replicas\n" +
				"status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas\n" +
				"status.collisionCount: Invalid value: 1: cannot be decremented"},
	})
}

func TestDeploymentGeneration(t *testing.T) {
	is := is.New(t)
	rt := ruleTest{storage: "deployments.apps", base: workloadJSON}
	changed := kinds()[rt.storage].strategy.SpecChanged
	is.True(!changed(rt.make(t, `{"metadata":{"labels":{"x":"y"}}}`), rt.make(t, "")))     // labels do not count
	is.True(changed(rt.make(t, `{"metadata":{"annotations":{"x":"y"}}}`), rt.make(t, ""))) // annotations do
	is.True(changed(rt.make(t, `{"spec":{"paused":true}}`), rt.make(t, "")))               // the spec does
	obj, _, _ := rt.result(t, ruleCase{sub: "status", old: `{"metadata":{"labels":{"x":"old"}}}`, patch: `{"metadata":{"labels":{"x":"new"}}}`})
	is.Equal(obj.Labels()["x"], "old") // a write of the status keeps labels
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
			obj := ruleTest{storage: tt.storage, base: workloadJSON}.make(t, "")
			again := obj.Copy()
			kinds()[tt.storage].defaults[""](again)
			is.Equal(string(object.JSON(again)), string(object.JSON(obj)))              // defaults change nothing when there are defaults
			is.Equal(obj.String("spec", "template", "spec", "restartPolicy"), "Always") // the template has its own
			obj.Remove("spec", "template")
			obj.Remove("spec", "selector")
			is.Equal(string(object.JSON(obj["spec"])), tt.want) // as the real server fills them in
		})
	}
}

func TestReplicaSetRules(t *testing.T) {
	ruleTest{storage: "replicasets.apps", base: workloadJSON}.run(t, []ruleCase{
		{name: "minimal"},
		{name: "negative", patch: `{"spec":{"replicas":-1,"minReadySeconds":-1}}`,
			want: "spec.replicas: Invalid value: -1: must be greater than or equal to 0\nspec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"},
		{name: "empty selector", patch: `{"spec":{"selector":{}}}`, want: "spec.selector: Invalid value: {}: empty selector is invalid for deployment"},
		{name: "immutable selector", old: `{}`, patch: `{"spec":{"selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
			want: `spec.selector: Invalid value: {"matchLabels":{"a":"b"},"matchExpressions":[{"key":"a","operator":"Exists"}]}: field is immutable`},
		{name: "status", sub: "status", old: `{}`, patch: `{"status":{"replicas":0,"fullyLabeledReplicas":1}}`,
			want: "status.fullyLabeledReplicas: Invalid value: 1: cannot be greater than status.replicas"},
	})
}

func TestStatefulSetRules(t *testing.T) {
	const claim = `"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]`
	ruleTest{storage: "statefulsets.apps", base: workloadJSON}.run(t, []ruleCase{
		{name: "minimal"},
		{name: "claim is a volume", patch: `{"spec":{` + claim + `,"template":{"spec":{"containers":[{"name":"c","image":"i","volumeMounts":[{"name":"data","mountPath":"/d"}]}]}}}}`},
		{name: "bad claim", patch: `{"spec":{"volumeClaimTemplates":[{"metadata":{"name":"data"},"spec":{}}]}}`,
			want: "spec.volumeClaimTemplates[0].spec.accessModes: Required value: at least 1 access mode is required\n" +
				"spec.volumeClaimTemplates[0].spec.resources[storage]: Required value"},
		{name: "enums", patch: `{"spec":{"podManagementPolicy":"Any","updateStrategy":{"type":"Some"},"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Keep"}}}`,
			want: "spec.podManagementPolicy: Invalid value: \"Any\": must be 'OrderedReady' or 'Parallel'\n" +
				`spec.updateStrategy: Invalid value: {"Type":"Some","RollingUpdate":null}: must be 'RollingUpdate' or 'OnDelete'` + "\n" +
				`spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "Keep": supported values: "Retain", "Delete"`},
		{name: "on delete", patch: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":2}}}}`,
			want: `spec.updateStrategy.rollingUpdate: Invalid value: {"Partition":2,"MaxUnavailable":null}: only allowed for updateStrategy 'RollingUpdate'`},
		{name: "numbers", patch: `{"spec":{"replicas":-1,"ordinals":{"start":-1},"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`,
			want: "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.replicas: Invalid value: -1: must be greater than or equal to 0\n" +
				"spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0"},
		{name: "service name", patch: `{"spec":{"serviceName":"a.b"}}`, want: `spec.serviceName: Invalid value: "a.b": must not contain dots`},
		{name: "never", patch: `{"spec":{"template":{"spec":{"restartPolicy":"OnFailure"}}}}`,
			want: `spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`},
		{name: "allowed change", old: `{}`, patch: `{"spec":{"replicas":3,"minReadySeconds":4,"revisionHistoryLimit":2,"ordinals":{"start":3}}}`},
		{name: "forbidden change", old: `{}`, patch: `{"spec":{"serviceName":"x"}}`, want: "spec: Forbidden: " + statefulSetChanges},
		{name: "status", sub: "status", old: `{}`, patch: `{"status":{"replicas":1,"readyReplicas":1,"availableReplicas":2}}`,
			want: "status.availableReplicas: Invalid value: 2: cannot be greater than status.replicas\n" +
				"status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas"},
	})
}

func TestDaemonSetRules(t *testing.T) {
	rt := ruleTest{storage: "daemonsets.apps", base: workloadJSON}
	rt.run(t, []ruleCase{
		{name: "minimal"},
		{name: "no selector", patch: `{"spec":{"selector":null}}`,
			want: "spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`"},
		{name: "empty selector", patch: `{"spec":{"selector":{}}}`, want: "spec.selector: Invalid value: {}: empty selector is invalid for daemonset"},
		{name: "deadline", patch: `{"spec":{"template":{"spec":{"activeDeadlineSeconds":5}}}}`,
			want: "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"},
		{name: "both", patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1}}}}`,
			want: "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"},
		{name: "neither", patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":0}}}}`,
			want: "spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"},
		{name: "unknown strategy", patch: `{"spec":{"updateStrategy":{"type":"X"}}}`,
			want: `spec.updateStrategy: Unsupported value: {"Type":"X","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`},
		{name: "immutable selector", old: `{}`, patch: `{"spec":{"selector":{"matchLabels":{"c":"d"}},"template":{"metadata":{"labels":{"c":"d"}}}}}`,
			want: `spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable`},
	})
	is := is.New(t)
	const stored = `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"4"}}}`
	obj, _, _ := rt.result(t, ruleCase{})
	is.Equal(generationOfTemplate(obj), int64(1)) // a new one begins at 1
	obj, _, _ = rt.result(t, ruleCase{old: stored, patch: `{"spec":{"minReadySeconds":3}}`})
	is.Equal(generationOfTemplate(obj), int64(4)) // other changes do not count
	obj, _, _ = rt.result(t, ruleCase{old: stored, patch: `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`})
	is.Equal(generationOfTemplate(obj), int64(5)) // changes of the template do
}

func TestControllerRevisionRules(t *testing.T) {
	ruleTest{storage: "controllerrevisions.apps", base: `{"metadata":{"name":"r"},"revision":1,"data":{"a":1}}`}.run(t, []ruleCase{
		{name: "minimal"},
		{name: "no data", patch: `{"data":null,"revision":-1}`, want: "revision: Invalid value: -1: must be greater than or equal to 0\ndata: Required value: data is mandatory"},
		{name: "list", patch: `{"data":[1]}`, want: "data: Required value: data must be a valid JSON object"},
		{name: "immutable", old: `{}`, patch: `{"data":{"a":2}}`, want: `data: Invalid value: {"a":2}: field is immutable`},
	})
}

func TestWorkloadWarnings(t *testing.T) {
	const dns = "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"
	for _, storage := range []string{"deployments.apps", "replicasets.apps"} {
		ruleTest{storage: storage, base: workloadJSON}.warns(t, []ruleCase{
			{name: "none"},
			{name: "name", patch: `{"metadata":{"name":"a.b"}}`, want: dns},
			{name: "update", old: `{"metadata":{"name":"a.b"}}`, patch: `{"metadata":{"name":"a.b"}}`},
		})
	}
	ruleTest{storage: "statefulsets.apps", base: workloadJSON}.warns(t, []ruleCase{
		{name: "history", patch: `{"spec":{"revisionHistoryLimit":-1}}`,
			want: "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended"},
		{name: "bytes", patch: `{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"1500m"}}}}]}}`,
			want: `spec.volumeClaimTemplates[0].resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer`},
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
			is.Equal(ruleTest{storage: tt.storage, base: workloadJSON}.cells(t, tt.patch), tt.want) // a cell per column
		})
	}
}
