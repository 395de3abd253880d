package admission

import (
	"testing"

	"github.com/matryer/is"

	"github.com/kubesim/kubesim/sim/object"
	"github.com/kubesim/kubesim/sim/resource"
	"github.com/kubesim/kubesim/sim/status"
)

// inNamespace returns a write of a namespaced resource in the namespace ns.
func inNamespace(storage string, obj, old object.Object, objects stored) *Attributes {
	a := write(storage, obj, old, objects)
	a.Definition.Namespaced, a.Namespace = true, "ns"
	a.Warn, a.UID = func(string) {}, func() string { return "uid-1" }
	return a
}

const recordedLimits = `{"metadata":{"name":"lr","namespace":"ns"},"spec":{"limits":[{"type":"Container","default":{"cpu":"500m","memory":"256Mi"},
	"defaultRequest":{"cpu":"100m","memory":"256Mi"},"min":{"cpu":"50m"},"max":{"cpu":"1","memory":"1Gi"},"maxLimitRequestRatio":{"cpu":"10"}}]}}`

func TestLimitRangerFills(t *testing.T) {
	is := is.New(t)
	objects := stored{}.put(t, limitRanges, recordedLimits)
	pod := parse(t, `{"metadata":{"name":"c","namespace":"ns"},"spec":{"containers":[{"name":"c1"},{"name":"c2","resources":
		{"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1","memory":"1Gi"}}}],"initContainers":[{"name":"i"}]}}`)
	is.True(setLimits(inNamespace(pods, pod, nil, objects)) == nil)
	is.Equal(pod.Annotations()[limitAnnotation], "LimitRanger plugin set: cpu, memory request for container c1; cpu, memory limit for container c1; "+
		"cpu, memory request for init container i; cpu, memory limit for init container i") // as recorded
	c := pod.Objects("spec", "containers")[0]
	is.Equal(c.String("resources", "limits", "cpu"), "500m")
	is.Equal(c.String("resources", "requests", "memory"), "256Mi")
}

func TestLimitRangerRefuses(t *testing.T) {
	tests := []struct{ resources, want string }{
		{`{"requests":{"cpu":"500m","memory":"128Mi"},"limits":{"cpu":"2","memory":"128Mi"}}`,
			`pods "d" is forbidden: maximum cpu usage per Container is 1, but limit is 2`},
		{`{"requests":{"cpu":"10m","memory":"256Mi"},"limits":{"cpu":"500m","memory":"256Mi"}}`,
			`pods "d" is forbidden: [minimum cpu usage per Container is 50m, but request is 10m, cpu max limit to request ratio per Container is 10, but provided ratio is 50.000000]`},
		{`{"requests":{"cpu":"60m","memory":"256Mi"},"limits":{"cpu":"1","memory":"256Mi"}}`,
			`pods "d" is forbidden: cpu max limit to request ratio per Container is 10, but provided ratio is 16.666667`},
		{`{}`, `pods "d" is forbidden: [minimum cpu usage per Container is 50m.  No request is specified, maximum cpu usage per Container is 1.  No limit is specified, ` +
			`maximum memory usage per Container is 1Gi.  No limit is specified, cpu max limit to request ratio per Container is 10, but no request is specified or request is 0]`},
		{`{"requests":{"cpu":"500m","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}`, ``},
	}
	objects := stored{}.put(t, limitRanges, recordedLimits)
	for _, tt := range tests {
		is := is.New(t)
		pod := parse(t, `{"metadata":{"name":"d","namespace":"ns"},"spec":{"containers":[{"name":"c","resources":`+tt.resources+`}]}}`)
		is.Equal(message(checkLimits(inNamespace(pods, pod, nil, objects))), tt.want)
	}
}

func TestLimitsOfPodsAndClaims(t *testing.T) {
	is := is.New(t)
	objects := stored{}.put(t, limitRanges, `{"metadata":{"name":"lr","namespace":"ns"},"spec":{"limits":[{"type":"Pod","max":{"cpu":"1"}},
		{"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}}]}}`)
	pod := parse(t, `{"metadata":{"name":"d"},"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"600m"}}},{"name":"b","resources":{"limits":{"cpu":"600m"}}}]}}`)
	is.Equal(message(checkLimits(inNamespace(pods, pod, nil, objects))), `pods "d" is forbidden: maximum cpu usage per Pod is 1, but limit is 1200m`) // the sum of all containers
	for size, want := range map[string]string{"512Mi": `persistentvolumeclaims "d" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 512Mi`,
		"3Gi": `persistentvolumeclaims "d" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi`, "2Gi": ""} {
		claim := parse(t, `{"metadata":{"name":"d"},"spec":{"resources":{"requests":{"storage":"`+size+`"}}}}`)
		is.Equal(message(checkLimits(inNamespace(claims, claim, nil, objects))), want)
	}
}

// quotaFixture returns a namespace with a quota, and a Write that changes the quota's status.
func quotaFixture(t *testing.T, quota string) (stored, Write) {
	objects := stored{}.put(t, resourceQuotas, quota)
	return objects, func(_ resource.Author, storage, namespace, name string, change func(object.Object) *status.Status) (object.Object, *status.Status) {
		return objects[storage][0], change(objects[storage][0])
	}
}

func TestQuotaCountsAndRefuses(t *testing.T) {
	is := is.New(t)
	objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"cpu":"2","requests.memory":"1Gi"}},
		"status":{"hard":{"cpu":"2","requests.memory":"1Gi"},"used":{"cpu":"1500m","requests.memory":"0"}}}`)
	quota := resourceQuota(writer, nil)
	try := func(name, cpu string) string {
		pod := parse(t, `{"metadata":{"name":"`+name+`","namespace":"ns"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"`+cpu+`","memory":"10Mi"}}}]}}`)
		return message(quota(inNamespace(pods, pod, nil, objects)))
	}
	is.Equal(message(quota(inNamespace(pods, parse(t, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}}`), nil, objects))),
		`pods "a" is forbidden: failed quota: q: must specify cpu for: c; requests.memory for: c`)
	is.Equal(try("c", "500m"), "")
	is.Equal(objects[resourceQuotas][0].Map("status", "used"), map[string]any{"cpu": "2", "requests.memory": "10Mi"}) // counted immediately
	is.Equal(try("d", "1m"), `pods "d" is forbidden: exceeded quota: q, requested: cpu=1m, used: cpu=2, limited: cpu=2`)
}

func TestQuotaOfObjects(t *testing.T) {
	is := is.New(t)
	objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"configmaps":"0","count/widgets.example.com":"0"}}}`)
	quota := resourceQuota(writer, nil)
	make := func(storage, name string) string {
		return message(quota(inNamespace(storage, parse(t, `{"metadata":{"name":"`+name+`","namespace":"ns"}}`), nil, objects)))
	}
	is.Equal(make("configmaps", "a"), "") // the quota has no effect, because the controller has not run yet
	is.Equal(objects[resourceQuotas][0]["status"], nil)
	objects[resourceQuotas][0]["status"] = map[string]any(parse(t, `{"hard":{"configmaps":"2","count/widgets.example.com":"1"},
		"used":{"configmaps":"1","count/widgets.example.com":"0"}}`))
	is.Equal(make("configmaps", "a"), "")
	is.Equal(objects[resourceQuotas][0].String("status", "used", "configmaps"), "2")
	is.Equal(make("configmaps", "b"), `configmaps "b" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2`)
	is.Equal(make("widgets.example.com", "w"), "") // custom resources also count
	is.Equal(make("widgets.example.com", "v"), `widgets.example.com "v" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: count/widgets.example.com=1, limited: count/widgets.example.com=1`)
	objects[resourceQuotas][0].Remove("status", "used", "configmaps")
	is.Equal(make("configmaps", "b"), `configmaps "b" is forbidden: status unknown for quota: q, resources: configmaps`)
}

func TestQuotaScopes(t *testing.T) {
	tests := []struct {
		scope, pod string
		counts     bool
	}{
		{`"scopes":["BestEffort"]`, `{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}`, true}, // the pod's status determines whether it counts
		{`"scopes":["NotBestEffort"]`, `{"containers":[{"name":"c"}]}`, false},
		{`"scopes":["NotTerminating"]`, `{"activeDeadlineSeconds":5}`, false},
		{`"scopes":["Terminating"]`, `{"activeDeadlineSeconds":5}`, true},
		{`"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["high"]}]}`, `{"priorityClassName":"high"}`, true},
		{`"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["high"]}]}`, `{"priorityClassName":"high"}`, false},
		{`"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"DoesNotExist"}]}`, `{}`, true},
		{`"scopes":["CrossNamespacePodAffinity"]`, `{"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"namespaces":["x"]}]}}}`, true},
	}
	for _, tt := range tests {
		is := is.New(t)
		objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"pods":"0"},`+tt.scope+`},
			"status":{"hard":{"pods":"0"},"used":{"pods":"0"}}}`)
		pod := parse(t, `{"metadata":{"name":"p","namespace":"ns"},"status":{"qosClass":"BestEffort"},"spec":`+tt.pod+`}`)
		refused := resourceQuota(writer, nil)(inNamespace(pods, pod, nil, objects)) != nil
		is.Equal(refused, tt.counts) // the pod is in scope and exceeds the quota
	}
}

// TestQuotaOfClaimsByClass checks that a claim counts for its current class and for the class that it is to get.
func TestQuotaOfClaimsByClass(t *testing.T) {
	for _, tt := range []struct {
		requirement, claim string
		counts             bool
	}{
		{`"operator":"In","values":["gold"]`, `{"spec":{"volumeAttributesClassName":"gold"}}`, true},
		{`"operator":"In","values":["gold"]`, `{"spec":{"volumeAttributesClassName":"silver"}}`, false},
		{`"operator":"In","values":["gold"]`, `{"spec":{"volumeAttributesClassName":"silver"},"status":{"currentVolumeAttributesClassName":"gold"}}`, true},
		{`"operator":"In","values":["gold"]`, `{"spec":{},"status":{"modifyVolumeStatus":{"targetVolumeAttributesClassName":"gold"}}}`, true},
		{`"operator":"Exists"`, `{"spec":{}}`, false},
		{`"operator":"DoesNotExist"`, `{"spec":{}}`, true},
	} {
		is := is.New(t)
		objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"persistentvolumeclaims":"0"},`+
			`"scopeSelector":{"matchExpressions":[{"scopeName":"VolumeAttributesClass",`+tt.requirement+`}]}},`+
			`"status":{"hard":{"persistentvolumeclaims":"0"},"used":{"persistentvolumeclaims":"0"}}}`)
		claim := parse(t, tt.claim)
		claim["metadata"] = map[string]any{"name": "c", "namespace": "ns"}
		is.Equal(resourceQuota(writer, nil)(inNamespace("persistentvolumeclaims", claim, nil, objects)) != nil, tt.counts) // the claim is in scope and exceeds the quota
	}
}

func TestUsageOfDevices(t *testing.T) {
	const class = "gpu.deviceclass.resource.k8s.io/devices"
	exactly := func(rest string) string {
		return `{"name":"r","exactly":{"deviceClassName":"gpu",` + rest + `}}`
	}
	tests := []struct{ name, requests, want string }{
		{"as many as are asked for", exactly(`"allocationMode":"ExactCount","count":3`), class + "=3"},
		{"of several requests the sum", exactly(`"allocationMode":"ExactCount","count":1`) + "," + exactly(`"allocationMode":"ExactCount","count":1`), class + "=2"},
		{"all of them are many", exactly(`"allocationMode":"All"`), class + "=32"},
		{"of alternatives the most", `{"name":"r","firstAvailable":[{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1},` +
			`{"deviceClassName":"gpu","allocationMode":"ExactCount","count":4}]}`, class + "=4"},
	}
	for _, tt := range tests {
		is := is.New(t)
		objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"`+class+`":"0"}},`+
			`"status":{"hard":{"`+class+`":"0"},"used":{"`+class+`":"0"}}}`)
		objects.put(t, "deviceclasses.resource.k8s.io", `{"metadata":{"name":"gpu"}}`)
		claim := parse(t, `{"metadata":{"name":"c","namespace":"ns"},"spec":{"devices":{"requests":[`+tt.requests+`]}}}`)
		is.Equal(message(resourceQuota(writer, nil)(inNamespace("resourceclaims.resource.k8s.io", claim, nil, objects))),
			`resourceclaims.resource.k8s.io "c" is forbidden: exceeded quota: q, requested: `+tt.want+`, used: `+class+`=0, limited: `+class+`=0`) // the quota that tt.name describes
	}
}

// TestUsageOfExtendedResources checks that the devices of a class with an extended resource are also limited under the
// resource's name.
func TestUsageOfExtendedResources(t *testing.T) {
	is := is.New(t)
	const limit = "requests.example.com/gpu"
	objects, writer := quotaFixture(t, `{"metadata":{"name":"q","namespace":"ns"},"spec":{"hard":{"`+limit+`":"1"}},`+
		`"status":{"hard":{"`+limit+`":"1"},"used":{"`+limit+`":"0"}}}`)
	claim := parse(t, `{"metadata":{"name":"c","namespace":"ns"},"spec":{"devices":{"requests":[{"name":"r","exactly":`+
		`{"deviceClassName":"gpu","allocationMode":"ExactCount","count":2}}]}}}`)
	is.Equal(message(resourceQuota(writer, nil)(inNamespace("resourceclaims.resource.k8s.io", claim, nil, objects))), "") // no class has the extended resource
	objects.put(t, "deviceclasses.resource.k8s.io", `{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}}`)
	is.Equal(message(resourceQuota(writer, nil)(inNamespace("resourceclaims.resource.k8s.io", claim, nil, objects))),
		`resourceclaims.resource.k8s.io "c" is forbidden: exceeded quota: q, requested: `+limit+`=2, used: `+limit+`=0, limited: `+limit+`=1`)
}

func TestUsageOfServicesAndClaims(t *testing.T) {
	is := is.New(t)
	usage := func(storage, text string) string {
		a := inNamespace(storage, nil, nil, nil)
		u := a.Definition.Meter().Amounts(a.Context, parse(t, text))
		return u.Text(u.Names())
	}
	is.Equal(usage("services", `{"spec":{"type":"NodePort","ports":[{},{}]}}`), "count/services=1,services=1,services.loadbalancers=0,services.nodeports=2")
	is.Equal(usage("services", `{"spec":{"type":"LoadBalancer","allocateLoadBalancerNodePorts":false,"ports":[{"nodePort":3},{}]}}`),
		"count/services=1,services=1,services.loadbalancers=1,services.nodeports=1")
	is.Equal(usage(claims, `{"spec":{"storageClassName":"gold","resources":{"requests":{"storage":"1Gi"}}}}`),
		"count/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/persistentvolumeclaims=1,gold.storageclass.storage.k8s.io/requests.storage=1Gi,"+
			"persistentvolumeclaims=1,requests.storage=1Gi")
	is.Equal(usage(pods, `{"spec":{"overhead":{"cpu":"10m"},"containers":[{"resources":{"requests":{"cpu":"1","nvidia.com/gpu":"1"}}}],
		"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"3"}}}]}}`),
		"count/pods=1,cpu=4010m,pods=1,requests.cpu=4010m,requests.nvidia.com/gpu=1") // a sidecar counts together with the largest init container
	is.Equal(usage(pods, `{"spec":{},"status":{"phase":"Failed"}}`), "count/pods=1") // a pod that has ended
}
