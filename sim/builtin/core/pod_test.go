package core

import (
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/builtin/kindtest"
	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/schema"
)

// podContext returns the context of a request to the subresource, and the list to which its warnings are appended.
func podContext(subresource string) (*resource.Context, *[]string) {
	var warnings []string
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return &resource.Context{Now: now, Subresource: subresource, Warn: func(text string) { warnings = append(warnings, text) }}, &warnings
}

func TestPrepareNewPod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, path, want string }{
		{"status is made", `{"status":{"phase":"Running"},"spec":{}}`, "status", `{"phase":"Pending","qosClass":"BestEffort"}`},
		{"gated", `{"spec":{"schedulingGates":[{"name":"a"}]}}`, "status", `{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-01-02T03:04:05Z",` +
			`"message":"Scheduling is blocked due to non-empty scheduling gates","reason":"SchedulingGated","status":"False","type":"PodScheduled"}],"phase":"Pending","qosClass":"BestEffort"}`},
		{"matchLabelKeys", `{"metadata":{"labels":{"a":"b"}},"spec":{"topologySpreadConstraints":[{"matchLabelKeys":["a","z"],"labelSelector":{}},{"matchLabelKeys":["a"]}]}}`,
			"spec.topologySpreadConstraints", `[{"labelSelector":{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]},"matchLabelKeys":["a","z"]},{"matchLabelKeys":["a"]}]`},
		{"mismatchLabelKeys", `{"metadata":{"labels":{"a":"b"}},"spec":{"affinity":{"podAntiAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"podAffinityTerm":{"mismatchLabelKeys":["a"],"labelSelector":{}}}]}}}}`,
			"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution", `[{"podAffinityTerm":{"labelSelector":{"matchExpressions":[{"key":"a","operator":"NotIn","values":["b"]}]},"mismatchLabelKeys":["a"]}}]`},
		{"fields behind gates", `{"spec":{"schedulingGroup":{},"containers":[{"lifecycle":{"stopSignal":"SIGTERM"}}],"volumes":[{"projected":{"sources":[{"podCertificate":{}}]}}]}}`,
			"spec", `{"containers":[{}],"volumes":[{"projected":{"sources":[{}]}}]}`},
		{"AppArmor annotation", `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/p"}},"spec":{"containers":[{"name":"c"}]}}`,
			"spec.containers", `[{"name":"c","securityContext":{"appArmorProfile":{"localhostProfile":"p","type":"Localhost"}}}]`},
	} {
		is := is.New(t)
		obj := kindtest.Parse(t, c.in)
		ctx, _ := podContext("")
		served()["pods"].Strategy.PrepareForCreate(ctx, obj)
		got, _ := obj.Get(object.Path(c.path)...)
		is.Equal(string(object.JSON(got)), c.want) // same new pod as the real server
	}
}

func TestAppArmorAnnotationWarns(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ctx, warnings := podContext("")
	prepareNewPod(ctx, kindtest.Parse(t, `{"metadata":{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"unconfined"}},"spec":{"containers":[{"name":"c"}]}}`))
	is.Equal(*warnings, []string{`metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`}) // KEP-24
}

func TestPreparePod(t *testing.T) {
	t.Parallel()
	const old = `{"metadata":{"labels":{"a":"b"},"ownerReferences":[{"uid":"1"}]},"spec":{"containers":[{"name":"c","image":"i:1","resources":{"limits":{"cpu":"1"}}}],"ephemeralContainers":[{"name":"e"}]},` +
		`"status":{"phase":"Running","qosClass":"Burstable","observedGeneration":3,"conditions":[{"type":"Ready","observedGeneration":2}]}}`
	for _, c := range []struct{ sub, in, want string }{
		{"ephemeralcontainers", `{"metadata":{"labels":{"a":"z"}},"spec":{"hostname":"h","containers":[],"ephemeralContainers":[{"name":"f"}]},"status":{}}`,
			`{"metadata":{"labels":{"a":"b"},"ownerReferences":[{"uid":"1"}]},"spec":{"containers":[{"image":"i:1","name":"c","resources":{"limits":{"cpu":"1"}}}],"ephemeralContainers":[{"name":"f"}]},` +
				`"status":{"conditions":[{"observedGeneration":2,"type":"Ready"}],"observedGeneration":3,"phase":"Running","qosClass":"Burstable"}}`},
		{"resize", `{"metadata":{"annotations":{"a":"z"}},"spec":{"hostname":"h","containers":[{"name":"c","image":"i:2","resources":{"limits":{"cpu":"2"}}}]},"status":{}}`,
			`{"metadata":{"labels":{"a":"b"},"ownerReferences":[{"uid":"1"}]},"spec":{"containers":[{"image":"i:1","name":"c","resources":{"limits":{"cpu":"2"}}}],"ephemeralContainers":[{"name":"e"}]},` +
				`"status":{"conditions":[{"observedGeneration":2,"type":"Ready"}],"observedGeneration":3,"phase":"Running","qosClass":"Burstable"}}`},
		{"status", `{"metadata":{"labels":{"a":"z"},"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Failed","conditions":[{"type":"Ready"},{"type":"Ready"}]}}`,
			`{"metadata":{"labels":{"a":"z"},"ownerReferences":[{"uid":"1"}]},"status":{"conditions":[{"observedGeneration":2,"type":"Ready"},{"type":"Ready"}],"observedGeneration":3,"phase":"Failed","qosClass":"Burstable"}}`},
	} {
		is := is.New(t)
		obj := kindtest.Parse(t, c.in)
		ctx, _ := podContext(c.sub)
		preparePod(ctx, obj, kindtest.Parse(t, old))
		is.Equal(string(object.JSON(obj)), c.want) // only fields that the subresource may change
	}
}

func TestPodIPIsMirrored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{`{"podIP":"1.1.1.1"}`, `{"podIP":"1.1.1.1","podIPs":[{"ip":"1.1.1.1"}]}`},
		{`{"podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}`, `{"podIP":"1.1.1.1","podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}`},
		{`{"podIP":"2.2.2.2","podIPs":[{"ip":"1.1.1.1"},{"ip":"::1"}]}`, `{"podIP":"2.2.2.2","podIPs":[{"ip":"2.2.2.2"}]}`},
		{`{}`, `{}`},
	} {
		is := is.New(t)
		obj := object.Object{"status": map[string]any(kindtest.Parse(t, c.in))}
		mirrorPodIP(obj)
		is.Equal(string(object.JSON(obj["status"])), c.want) // podIP takes precedence
	}
}

func TestPodGracePeriod(t *testing.T) {
	t.Parallel()
	seconds := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		in        string
		requested *int64
		want      int64
	}{
		{`{"spec":{"terminationGracePeriodSeconds":30}}`, seconds(5), 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, nil, 30},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, seconds(5), 5},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30}}`, seconds(-5), 1},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Succeeded"}}`, nil, 0},
		{`{"spec":{"nodeName":"n","terminationGracePeriodSeconds":30},"status":{"phase":"Failed"}}`, seconds(9), 0},
	} {
		is := is.New(t)
		is.Equal(podGracePeriod(kindtest.Parse(t, c.in), c.requested), c.want) // a pod that no kubelet runs is deleted immediately
	}
}

func TestPodSpecChanged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		obj, old string
		want     bool
	}{
		{`{"containers":[{"name":"c","args":[]}]}`, `{"containers":[{"name":"c"}]}`, false},
		{`{"hostNetwork":false}`, `{}`, false},
		{`{"volumes":[{"name":"v","emptyDir":{}}]}`, `{"volumes":[{"name":"v"}]}`, true},
		{`{"hostUsers":true}`, `{}`, true},
	} {
		is := is.New(t)
		spec := func(text string) object.Object { return object.Object{"spec": map[string]any(kindtest.Parse(t, text))} }
		is.Equal(podSpecChanged(spec(c.obj), spec(c.old)), c.want) // same comparison as in memory
	}
}

func TestPodRow(t *testing.T) {
	t.Parallel()
	const containers = `"spec":{"containers":[{"name":"a"},{"name":"b"}],"initContainers":[{"name":"i"},{"name":"s","restartPolicy":"Always"}]}`
	for _, c := range []struct{ name, in, ready, status, restarts string }{
		{"new", `{"status":{"phase":"Pending"},` + containers + `}`, "0/3", "Pending", "0"},
		{"reason", `{"status":{"phase":"Failed","reason":"Evicted"},` + containers + `}`, "0/3", "Evicted", "0"},
		{"gated", `{"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","reason":"SchedulingGated"}]},` + containers + `}`, "0/3", "SchedulingGated", "0"},
		{"first init container", `{"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":2}]},` + containers + `}`, "0/3", "Init:0/2", "2"},
		{"init waits", `{"status":{"initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"ErrImagePull"}}}]},` + containers + `}`, "0/3", "Init:ErrImagePull", "0"},
		{"init failed", `{"status":{"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":3}}}]},` + containers + `}`, "0/3", "Init:ExitCode:3", "0"},
		{"init killed", `{"status":{"initContainerStatuses":[{"name":"i","state":{"terminated":{"exitCode":3,"signal":9}}}]},` + containers + `}`, "0/3", "Init:Signal:9", "0"},
		{"running", `{"status":{"phase":"Running","initContainerStatuses":[{"name":"i","restartCount":7,"state":{"terminated":{"exitCode":0}}},{"name":"s","started":true,"ready":true,"restartCount":1}],` +
			`"containerStatuses":[{"name":"a","ready":true,"state":{"running":{}},"restartCount":1,"lastState":{"terminated":{"finishedAt":"2026-01-02T03:03:05Z"}}},{"name":"b","state":{"running":{}}}]},` + containers + `}`,
			"2/3", "Running", "2 (60s ago)"},
		{"crash loop", `{"status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"waiting":{"reason":"CrashLoopBackOff"}}},{"name":"b","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]},` + containers + `}`, "0/3", "CrashLoopBackOff", "0"},
		{"signal", `{"status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":1,"signal":9}}}]},` + containers + `}`, "0/3", "Signal:9", "0"},
		{"one completed", `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"a","state":{"terminated":{"reason":"Completed"}}},{"name":"b","ready":true,"state":{"running":{}}}]},` + containers + `}`, "1/3", "Running", "0"},
		{"one completed, not ready", `{"status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"terminated":{"reason":"Completed"}}},{"name":"b","ready":true,"state":{"running":{}}}]},` + containers + `}`, "1/3", "NotReady", "0"},
		{"completed, other failed", `{"status":{"phase":"Running","containerStatuses":[{"name":"a","state":{"terminated":{"reason":"Completed"}}},{"name":"b","state":{"terminated":{"exitCode":1,"reason":"Error"}}}]},` + containers + `}`, "0/3", "Error", "0"},
		{"deleted", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running"},` + containers + `}`, "0/3", "Terminating", "0"},
		{"deleted on a lost node", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Running","reason":"NodeLost"},` + containers + `}`, "0/3", "Unknown", "0"},
		{"deleted when done", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status":{"phase":"Succeeded"},` + containers + `}`, "0/3", "Succeeded", "0"},
	} {
		ctx, _ := podContext("")
		row := podRow(ctx.Now, kindtest.Parse(t, c.in))
		if got := row.Cells[1:4]; got[0] != c.ready || got[1] != c.status || got[2] != c.restarts {
			t.Errorf("%s: got %v, want %v %v %v", c.name, got, c.ready, c.status, c.restarts)
		}
	}
}

func TestPodRowRest(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ctx, _ := podContext("")
	row := podRow(ctx.Now, kindtest.Parse(t, `{"metadata":{"name":"p","creationTimestamp":"2026-01-02T02:04:05Z"},
		"spec":{"nodeName":"n","readinessGates":[{"conditionType":"a"},{"conditionType":"b"}]},
		"status":{"phase":"Succeeded","podIPs":[{"ip":"1.1.1.1"}],"conditions":[{"type":"a","status":"True"}]}}`))
	is.Equal(row.Cells, []any{"p", "0/0", "Succeeded", "0", "60m", "1.1.1.1", "n", "<none>", "1/2"}) // all columns
	is.Equal(string(object.JSON(row.Conditions)), `[{"message":"The pod has completed successfully.","reason":"Succeeded","status":"True","type":"Completed"}]`)
	is.Equal(len(podRow(ctx.Now, kindtest.Parse(t, `{}`)).Conditions), 0) // a pod that has not finished
}

func TestPodFields(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	obj := kindtest.Parse(t, `{"spec":{"nodeName":"n","hostNetwork":true},"status":{"phase":"Running","podIPs":[{"ip":"1.1.1.1"}]}}`)
	fields := podFields()
	is.Equal(fields.Text("spec.nodeName", obj), "n")
	is.Equal(fields.Text("spec.hostNetwork", obj), "true")
	is.Equal(fields.Text("status.podIP", obj), "1.1.1.1")
	is.Equal(fields.Text("status.podIPs", obj), "") // supported, but without a value
	kind := podKind()
	is.Equal(kind.Labels[""]["spec.host"], "spec.nodeName") // the old name in v1
	is.Equal(kind.Unknown(schema.GVK{}, "x"), "field label not supported: x")
}

func TestPodWarnings(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	ctx, warnings := podContext("")
	warnPod(ctx, kindtest.Parse(t, `{"metadata":{"name":"a.b"},"spec":{}}`), nil)
	is.Equal(*warnings, []string{"metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]"}) // hostnames must be labels
	ctx, warnings = podContext("status")
	old := kindtest.Parse(t, `{}`)
	warnPod(ctx, kindtest.Parse(t, `{"status":{"podIPs":[{"ip":"2001:DB8::1"}]}}`), old)
	is.Equal(*warnings, []string{`status.podIPs[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`}) // for a status update
	ctx, warnings = podContext("")
	warnPod(ctx, kindtest.Parse(t, `{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"x"}}}`), old)
	is.Equal(len(*warnings), 0) // not for other updates
}

func TestReplicationController(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k := kindtest.New(t, served, "replicationcontrollers").Kind
	obj := kindtest.Parse(t, `{"metadata":{"name":"r.c"},"spec":{"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}}}}`)
	defaultReplication(obj)
	is.Equal(obj.Labels(), map[string]string{"a": "b"})                                                      // labels of the template
	is.Equal(object.StringMap(obj.Map("spec", "selector")), map[string]string{"a": "b"})                     // selector too
	is.Equal(obj.Int64("spec", "replicas"), int64(1))                                                        // one pod
	is.Equal(k.Strategy.Validate(&resource.Context{}, obj).Text(), "[]")                                     // nothing wrong
	is.Equal(k.Strategy.Fields.Text("status.replicas", kindtest.Parse(t, `{"status":{"replicas":3}}`)), "3") // the only field
	ctx, warnings := podContext("")
	k.Strategy.Warn(ctx, obj, nil)
	is.Equal(len(*warnings), 1) // about the dot in the name
	row := k.Row(ctx.Now, obj)
	is.Equal(row.Cells, []any{"r.c", int64(1), int64(0), int64(0), "<unknown>", "c", "i:1", "a=b"}) // a row

	for _, c := range []struct{ in, want string }{
		{`{"spec":{"replicas":-1,"minReadySeconds":-1}}`, "[spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0, spec.selector: Required value, " +
			"spec.replicas: Invalid value: -1: must be greater than or equal to 0, spec.template: Required value]"},
		{`{"spec":{"selector":{"x":"y"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5,"containers":[{"name":"c","image":"i"}]}}}}`,
			"[spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not match template `labels`, " +
				`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always", ` +
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported]"},
	} {
		obj := kindtest.Parse(t, c.in)
		defaultReplication(obj)
		is.Equal(k.Strategy.Validate(&resource.Context{}, obj).Text(), c.want) // same wording as the real server
	}
	ctx.Subresource = "status"
	none := kindtest.Parse(t, `{"status":{"replicas":-1}}`)
	is.Equal(k.Strategy.ValidateUpdate(ctx, none, obj).Text(), "[status.replicas: Invalid value: -1: must be greater than or equal to 0, "+
		"status.fullyLabeledReplicas: Invalid value: 0: cannot be greater than status.replicas, status.readyReplicas: Invalid value: 0: cannot be greater than status.replicas, "+
		"status.availableReplicas: Invalid value: 0: cannot be greater than status.replicas]") // a missing field is 0
	status := kindtest.Parse(t, `{"status":{"replicas":1,"readyReplicas":2,"availableReplicas":3}}`)
	is.Equal(k.Strategy.ValidateUpdate(ctx, status, obj).Text(), "[status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas, "+
		"status.availableReplicas: Invalid value: 3: cannot be greater than status.replicas, status.availableReplicas: Invalid value: 3: cannot be greater than readyReplicas]") // counters
}

func TestPodTemplateKind(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	k := kindtest.New(t, served, "podtemplates").Kind
	obj := kindtest.Parse(t, `{"metadata":{"name":"t"},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}`)
	k.Defaults[""](obj)
	is.Equal(obj.String("template", "spec", "dnsPolicy"), "ClusterFirst") // defaults of a template
	is.True(!obj.Has("template", "spec", "enableServiceLinks"))           // but not those of a pod
	is.Equal(len(k.Strategy.Validate(&resource.Context{}, obj)), 0)       // nothing wrong
	is.Equal(k.Row(time.Time{}, obj).Cells, []any{"t", "c", "i", "a=b"})  // a row
	empty := object.Object{}
	k.Defaults[""](empty)
	is.Equal(k.Strategy.Validate(&resource.Context{}, empty).Text(), "template.spec.containers: Required value") // a template is never missing
}
