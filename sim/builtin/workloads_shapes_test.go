package builtin

import (
	"testing"
)

// shapes are objects with most fields of the kinds in the files beside this one.
var shapes = []Rules{
	{Kinds: served, Storage: "deployments.apps", Base: workloadJSON}, {Kinds: served, Storage: "replicasets.apps", Base: workloadJSON},
	{Kinds: served, Storage: "statefulsets.apps", Base: workloadJSON}, {Kinds: served, Storage: "daemonsets.apps", Base: workloadJSON},
	{Kinds: served, Storage: "controllerrevisions.apps", Base: `{"metadata":{"name":"r","ownerReferences":[{"controller":true}]},"data":{}}`},
	{Kinds: served, Storage: "jobs.batch", Base: storedJobJSON}, {Kinds: served, Storage: "cronjobs.batch", Base: cronJSON}, scaler,
	{Kinds: served, Storage: "horizontalpodautoscalers.autoscaling", Version: "v2", Base: scalerFull},
	{Kinds: served, Storage: "poddisruptionbudgets.policy", Base: `{"metadata":{"name":"p"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"a":"b"}}},"status":{"conditions":[{"type":"A"}]}}`},
	{Kinds: served, Storage: "leases.coordination.k8s.io", Base: `{"metadata":{"name":"l"},"spec":{"leaseTransitions":1}}`},
	{Kinds: served, Storage: "priorityclasses.scheduling.k8s.io", Base: `{"metadata":{"name":"system-x"},"value":1}`},
	{Kinds: served, Storage: "certificatesigningrequests.certificates.k8s.io", Base: `{"metadata":{"name":"c"},"spec":{"usages":["any"],"signerName":"a.b/c"},"status":{"certificate":"eA==","conditions":[{"type":"Approved","status":"True"}]}}`},
	{Kinds: served, Storage: "flowschemas.flowcontrol.apiserver.k8s.io", Base: `{"metadata":{"name":"exempt"},"spec":{"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],"resourceRules":[{"verbs":["*"]}],"nonResourceRules":[{"verbs":["get"],"nonResourceURLs":["/"]}]}]}}`},
	{Kinds: served, Storage: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io", Base: `{"metadata":{"name":"exempt"},"spec":{"type":"Limited","limited":{"limitResponse":{"type":"Queue","queuing":{"queues":1}}}}}`},
	{Kinds: served, Storage: "validatingwebhookconfigurations.admissionregistration.k8s.io", Base: hooksJSON},
	{Kinds: served, Storage: "mutatingwebhookconfigurations.admissionregistration.k8s.io", Base: hooksJSON},
	{Kinds: served, Storage: "validatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON},
	{Kinds: served, Storage: "mutatingadmissionpolicies.admissionregistration.k8s.io", Base: policyJSON},
	{Kinds: served, Storage: "validatingadmissionpolicybindings.admissionregistration.k8s.io", Base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"selector":{"matchExpressions":[{"key":"a"}]}},"matchResources":{"resourceRules":[{}]}}}`},
	{Kinds: served, Storage: "mutatingadmissionpolicybindings.admissionregistration.k8s.io", Base: `{"metadata":{"name":"b"},"spec":{"paramRef":{"name":"x"}}}`},
	{Kinds: served, Storage: "resourceclaims.resource.k8s.io", Base: claimJSON},
	{Kinds: served, Storage: "resourceclaimtemplates.resource.k8s.io", Base: `{"metadata":{"name":"t"},"spec":` + claimJSON + `}`},
	{Kinds: served, Storage: "resourceslices.resource.k8s.io", Base: `{"metadata":{"name":"s"},"spec":{"pool":{"name":"p"},"devices":[{"name":"x","attributes":{"a":{"int":1}},"capacity":{"m":{"value":"1","requestPolicy":{"validRange":{"min":"1","step":"0"}}}},"taints":[{}],"consumesCounters":[{}]}],"nodeSelector":{"nodeSelectorTerms":[{}]}}}`},
	{Kinds: served, Storage: "deviceclasses.resource.k8s.io", Base: `{"metadata":{"name":"c"},"spec":{"selectors":[{}],"config":[{}]}}`},
}

// TestShapesDoNotPanic runs every rule on objects with something missing.
func TestShapesDoNotPanic(t *testing.T) {
	for _, rt := range shapes {
		t.Run(rt.Storage, func(t *testing.T) { rt.DoNotPanic(t) })
	}
}
